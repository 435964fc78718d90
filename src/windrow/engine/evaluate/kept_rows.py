"""The partials of panes and parts that are rows: the tuples that can still decide a result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.aggregate import Commutative
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.storage import ColumnStorage
from windrow.engine.evaluate.aggregation import kernel_inputs
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.engine.windows.segments import spread
from windrow.functions.columnar import Columnar, Values

OPENS = "windrow.opens"
"""Whether a row is the first of its piece. It then has the partials of functions without rows."""
_ROW = "windrow.row."
_ORDER = "windrow.order."
_NOT_OF_QUERY = pa.int64()
"""The type of control columns that order tuples: time, rank and arrival."""


class KeptRows:
    """Rows that the pieces of windows send instead of partials, for some functions together.

    A piece keeps each of its tuples that one of the functions needs, and always its first. Windows
    are computed from the rows of their pieces as they would be from all tuples. If the order
    matters to a function, rows have the columns that order the tuples of a key on every worker.
    """

    def __init__(
        self, query: WindowQuery, functions: Mapping[str, Any], order: Sequence[str]
    ) -> None:
        self.functions = functions
        used = dict.fromkeys(c for f in functions.values() for c in f.columns)
        self.storages = {c: ColumnStorage(query.arrow_type(c)) for c in used}
        are_ordered = any(map(_minds_order, functions.values()))
        self.order = tuple(order) if are_ordered else ()
        self.order_kinds = [
            ColumnStorage(query.arrow_type(c)).kind if c in query.types else _NOT_OF_QUERY
            for c in self.order
        ]

    @property
    def fields(self) -> list[pa.Field]:
        rows = [pa.field(f"{_ROW}{c}", s.kind) for c, s in self.storages.items()]
        order = [pa.field(f"{_ORDER}{i}", kind) for i, kind in enumerate(self.order_kinds)]
        return rows + order

    @property
    def are_few(self) -> bool:
        """Whether a piece keeps few rows, however many tuples it has."""
        return all(f.keeps_few for f in self.functions.values())

    @property
    def are_all(self) -> bool:
        """Whether a piece keeps all its tuples."""
        return any(type(f).kept is Columnar.kept for f in self.functions.values())

    def choose(self, columns: TupleColumns, windows: FiredWindows) -> tuple[Int64s, Int64s]:
        """The positions of the kept rows, in order of piece and position, and their pieces."""
        lo, hi = windows.lo, windows.hi
        if self.are_all:
            return spread(lo, hi - lo), np.repeat(np.arange(len(lo)), hi - lo)

        def inputs(function: Any) -> list[Values]:
            return [values for values, _ in kernel_inputs(function, columns)]

        return self.chosen(inputs, lo, hi)

    def chosen(
        self, inputs: Callable[[Any], list[Values]], lo: Int64s, hi: Int64s
    ) -> tuple[Int64s, Int64s]:
        """The same for ranges of the columns that ``inputs`` gives for a function."""
        pieces, length = np.arange(len(lo)), int(hi.max(initial=0))
        chosen = [pieces * length + lo]
        for function in self.functions.values():
            positions, counts = function.kept(inputs(function), lo, hi)
            chosen.append(np.repeat(pieces, counts) * length + positions)
        # A stable sort merges what is in order already; np.unique would hash it.
        every = np.sort(np.concatenate(chosen), kind="stable")
        found = every[np.diff(every, prepend=-1) != 0]
        return found % length, found // length

    def arrays(self, columns: TupleColumns, positions: Int64s) -> list[pa.Array]:
        """The columns of the rows at these positions."""
        return [
            columns.storages[name].to_arrow(columns.stored[name].take(positions))
            for name in (*self.storages, *self.order)
        ]

    def tuples(self, rows: TupleColumns) -> TupleColumns:
        """The rows of pieces under the names that the columns have in tuples."""
        stored = {c: rows.stored[f"{_ROW}{c}"] for c in self.storages}
        return TupleColumns(self.storages, stored)


def is_row(name: str) -> bool:
    """Whether a column of pieces belongs to rows, not to partials."""
    return name.startswith((_ROW, _ORDER)) or name == OPENS


def order_columns(names: Iterable[str]) -> list[str]:
    """The columns that order the rows of pieces, most significant first."""
    return sorted((n for n in names if n.startswith(_ORDER)), key=lambda n: int(n[len(_ORDER) :]))


def _minds_order(function: Any) -> bool:
    return function.takes_position or not isinstance(function, Commutative)
