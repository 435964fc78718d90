"""Reduction of tuples to the partials of panes in one pass, for emitters and workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import PIECE, ROWS
from windrow.engine.columns.key_table import distinct_keys
from windrow.engine.columns.storage import ColumnStorage, Stored
from windrow.engine.evaluate.partials import PartialColumns, lost_of
from windrow.engine.stages.routes import Route
from windrow.engine.window_query import WindowQuery
from windrow.functions.reducible import Reduction
from windrow.kernels.pane_reduce import PanePartials, Wanted, reduce_panes
from windrow.kernels.rank_reduce import reduce_rank_panes

Source: TypeAlias = tuple[str, bool]
"""The name of a value column, and whether it is reduced as float64."""


@dataclass(frozen=True)
class Panes:
    """The partials of panes in order of key and pane, with their numbers of tuples."""

    codes: Int64s
    panes: Int64s
    rows: Int64s
    columns: dict[str, Stored]


class PaneReduction:
    """Reduces tuples to one partial per key and pane: counts, sums and extremes of numbers.

    These do not depend on the order of tuples. Time O(tuples), one pass per value column.
    """

    def __init__(self, query: WindowQuery, pane: int, origin: int) -> None:
        self.pane, self.origin = pane, origin
        self.partials = PartialColumns(query)

    def over(self, tuples: pa.Table, codes: Int64s, n_keys: int, axis: str) -> Panes:
        """Reduce by panes of the column ``axis``, which has times or ranks."""
        positions = np.asarray(tuples[axis].to_numpy())

        def reduce(values: Any, valid: Any, wanted: set[Wanted]) -> PanePartials:
            return reduce_panes(
                codes,
                positions,
                values,
                n_keys=n_keys,
                length=self.pane,
                origin=self.origin,
                valid=valid,
                wanted=wanted,
            )

        return self._reduce(tuples, reduce)

    def over_order(self, tuples: pa.Table, codes: Int64s, before: Int64s, counts: Int64s) -> Panes:
        """Reduce by panes of ranks. Tuples are in order; each key had ``before`` earlier ones."""

        def reduce(values: Any, valid: Any, wanted: set[Wanted]) -> PanePartials:
            return reduce_rank_panes(
                codes, before, counts, values, length=self.pane, valid=valid, wanted=wanted
            )

        return self._reduce(tuples, reduce)

    def _reduce(self, tuples: pa.Table, reduce: Any) -> Panes:
        reduced: dict[Source | None, PanePartials] = {
            source: reduce(*self._kernel_values(tuples, source), operations)
            for source, operations in self._wanted().items()
        }
        some = next(iter(reduced.values()))
        columns: dict[str, Stored] = {}
        for name, function in self.partials.functions.items():
            for i, reduction in enumerate(function.reductions):  # type: ignore[attr-defined]
                source = _source(function, reduction)
                found = some if source is None else reduced[source]
                column = f"{name}#{i}"
                columns[column] = Stored(_array(found, reduction.op, source is None))
                if reduction.op == "sum" and found.lost is not None:
                    columns[lost_of(column)] = Stored(found.lost)
        return Panes(some.keys, some.panes, some.rows, columns)

    def _wanted(self) -> dict[Source | None, set[Wanted]]:
        """The operations per value column; ``{None: set()}`` if tuples are only counted."""
        wanted: dict[Source | None, set[Wanted]] = {}
        for function in self.partials.functions.values():
            for reduction in function.reductions:  # type: ignore[attr-defined]
                source = _source(function, reduction)
                if source is not None:
                    operations = wanted.setdefault(source, set())
                    if reduction.op != "count":
                        operations.add(reduction.op)
        return wanted or {None: set()}

    def _kernel_values(self, tuples: pa.Table, source: Source | None) -> tuple[Any, Any]:
        if source is None:
            return None, None
        column, as_float = source
        storage: ColumnStorage = self.partials.storages[column]
        values, _ = storage.to_kernel(storage.store(tuples[column]))
        found = values.values.astype(np.float64, copy=False) if as_float else values.values
        return found, values.valid


def _source(function: Any, reduction: Reduction) -> Source | None:
    if reduction.column is None:
        return None
    return function.columns[reduction.column], reduction.as_float


def _array(partials: PanePartials, op: str, are_rows: bool) -> Any:
    if op == "count":
        return partials.rows if are_rows else partials.counts
    return {"sum": partials.sums, "min": partials.minima, "max": partials.maxima}[op]


@dataclass(frozen=True)
class ReducedToPanes(Route):
    """Reduces tuples to partials of panes in the emitter, then routes the partials."""

    query: WindowQuery
    pane: int
    origin: int
    axis: str
    then: Route

    reduces = gives_partials = True

    @property
    def n(self) -> int:  # type: ignore[override]
        return self.then.n

    def targets(self, message: Any, instance: int) -> list[Any]:
        codes, keys = distinct_keys(message, self.query.keys)
        reduction = PaneReduction(self.query, self.pane, self.origin)
        panes = reduction.over(message, codes, max(1, len(keys)), self.axis)
        of_panes = pa.array(panes.codes)
        columns = {name: keys[name].take(of_panes) for name in self.query.keys}
        columns |= {PIECE: panes.panes, ROWS: panes.rows}
        columns |= {name: stored.values for name, stored in panes.columns.items()}
        return self.then.targets(pa.table(columns), instance)

    def describe(self) -> str:
        return f"partials of panes by {self.then.describe()}"
