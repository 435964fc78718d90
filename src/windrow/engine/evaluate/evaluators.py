"""Evaluators compute fired windows: results or partials from tuples, results from partials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.computation import Aggregation, Apply, Decompose, Fold, Round
from windrow.core.window import Window
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.evaluate.aggregation import (
    aggregate,
    lifting,
    lower_partials,
    suits_kernels,
)
from windrow.engine.evaluate.calling import Row, name_of
from windrow.engine.evaluate.evaluator import Evaluated, Evaluator
from windrow.engine.evaluate.folding import folding
from windrow.engine.evaluate.partial_ranges import Known
from windrow.engine.evaluate.partials import PartialColumns, order_positions, pickled
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.fired import FiredWindows, TupleColumns


class WholeWindows(Evaluator):
    """Computes results from the tuples of whole windows, except those of ``decompose``."""

    def __init__(self, query: WindowQuery) -> None:
        super().__init__(query)
        self.schema = query.result_schema()

    def evaluate(self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable) -> Evaluated:
        computation = self.query.computation
        if isinstance(computation, Aggregation):
            functions = computation.functions
            if all(suits_kernels(f, columns.storages) for f in functions.values()):
                groups = [self._of(functions, columns, g, keys) for g in windows.in_groups()]
                return [pa.concat_arrays(arrays) for arrays in zip(*groups, strict=True)], None
            return self._of(functions, columns, windows, keys), None
        if isinstance(computation, Fold):
            fold = folding(computation, columns, windows, self.folds)
            return self._call_each(fold, columns, windows, keys)
        assert isinstance(computation, Apply)
        return self._call_each(computation.function, columns, windows, keys)

    def _of(
        self,
        functions: Mapping[str, Any],
        columns: TupleColumns,
        windows: FiredWindows,
        keys: KeyTable,
    ) -> list[pa.Array]:
        results = []
        compact: tuple[TupleColumns, FiredWindows] | None = None
        for field in self.schema:
            function = functions[field.name]
            if windows.offset is not None and not suits_kernels(function, columns.storages):
                compute = partial(self._slid, function, field)
                results.append(self.naming(function, compute, columns, windows, keys))
                continue
            compact = compact or columns.compact(windows)
            at_once = partial(aggregate, function, field=field)
            results.append(self.naming(function, at_once, *compact, keys))
        return results

    def _slid(
        self, function: Any, field: pa.Field, columns: TupleColumns, windows: FiredWindows
    ) -> pa.Array:
        def lift(at: Int64s, numbers: Int64s) -> Callable[[int], Known]:
            inputs = [columns.python_at(c, at) for c in function.columns]
            return lifting(function, inputs, numbers.tolist())

        partials = self.slide(field.name, function, windows, lift, self.panes(columns))
        return lower_partials(function, partials, field)


class PiecesOfWindows(Evaluator):
    """Computes partials from the tuples of panes or of parts of windows.

    ``order`` names columns that order the tuples of a key in the same way on every worker.
    """

    gives_pieces = True

    def __init__(self, query: WindowQuery, order: Sequence[str]) -> None:
        super().__init__(query)
        self.order = order
        computation = query.computation
        if isinstance(computation, Decompose):
            self.schema = query.partial_schema()
        else:
            self.partials = PartialColumns(query, order)
            self.schema = self.partials.schema

    def evaluate(self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable) -> Evaluated:
        computation = self.query.computation
        if isinstance(computation, Decompose):
            return self._call_each(computation.last.partial, columns, windows, keys)
        compact, ranges = columns.compact(windows)
        length = int(ranges.hi.max(initial=0))
        positions: Sequence[Any] = range(length)
        if self.partials.needs_positions and windows.offset is None:
            positions = order_positions(compact, self.order, np.arange(length))
        arrays = []
        for name, function in self.partials.of_pieces.items():
            if windows.offset is not None and self.partials.form_of(function) == "pickled":
                slid = partial(self._slid, name, function)
                arrays += self.naming(function, slid, columns, windows, keys)
                continue
            lift = partial(self.partials.lift, function, positions)
            arrays += self.naming(function, lift, compact, ranges, keys)
        return self.partials.with_rows(arrays, compact, ranges)

    def _slid(
        self, name: str, function: Any, columns: TupleColumns, windows: FiredWindows
    ) -> list[pa.Array]:
        def lift(at: Int64s, numbers: Int64s) -> Callable[[int], Known]:
            inputs = [columns.python_at(c, at) for c in function.columns]
            is_ordered = function.takes_position
            order = order_positions(columns, self.order, at) if is_ordered else numbers.tolist()
            return lifting(function, inputs, order)

        return [pickled(self.slide(name, function, windows, lift, self.panes(columns)))]


class MergedPieces(Evaluator):
    """Computes partials from the partials of panes that emitters have made, in any order."""

    gives_pieces = True

    def __init__(self, query: WindowQuery) -> None:
        super().__init__(query)
        self.partials = PartialColumns(query)
        self.schema = self.partials.schema

    def evaluate(self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable) -> Evaluated:
        return self.partials.merge(*columns.compact(windows)), None


class WindowsOfPieces(Evaluator):
    """Computes results from the partials of panes or parts."""

    def __init__(self, query: WindowQuery) -> None:
        super().__init__(query)
        self.schema = query.result_schema()
        if isinstance(query.computation, Aggregation):
            self.partials = PartialColumns(query)
        else:
            self.fields = query.partial_schema().names

    def evaluate(self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable) -> Evaluated:
        computation = self.query.computation
        if isinstance(computation, Aggregation):
            compact, ranges = columns.compact(windows)
            results = []
            for name, function in self.partials.functions.items():
                if windows.offset is not None and self.partials.form_of(function) == "pickled":
                    slid = partial(self._slid, name, function)
                    results.append(self.naming(function, slid, columns, windows, keys))
                    continue
                combine = partial(self.partials.combine, name)
                results.append(self.naming(function, combine, compact, ranges, keys))
            return results, None
        assert isinstance(computation, Decompose)
        partials = partial(partial_rows, columns, self.fields)
        together = combining(computation.last, partials)
        return self._call_each(together, columns, windows, keys)

    def _slid(
        self, name: str, function: Any, columns: TupleColumns, windows: FiredWindows
    ) -> pa.Array:
        def lift(at: Int64s, numbers: Int64s) -> Callable[[int], Known]:
            return self.partials.unpickling(name, columns, at)

        partials = self.slide(name, function, windows, lift, None)
        return lower_partials(function, partials, self.schema.field(name))


def partial_rows(columns: TupleColumns, fields: list[str], lo: int, hi: int) -> list[Row]:
    """The partials ``lo:hi`` as ``combine`` gets them."""
    parts = [columns.python(name, lo, hi) for name in fields]
    return [dict(zip(fields, p, strict=True)) for p in zip(*parts, strict=True)]


def combining(r: Round, partials: Callable[[int, int], list[Row]]) -> Callable[[Window], Any]:
    """A round's ``combine`` as a function of a window of partials."""

    def combine(window: Window) -> Any:
        return r.combine(partials(window._lo, window._hi))

    combine.__name__ = name_of(r.combine)
    return combine
