"""Win_Seq over panes: both levels of the pane query in one worker, for the hot path."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from windrow.core.models import CountWindow, LandmarkWindow, TimeWindow
from windrow.engine.columns import Int64s
from windrow.engine.control import AXIS, RANK, TIME
from windrow.engine.evaluators import WindowsOfPieces
from windrow.engine.placing import Placed, Placing
from windrow.engine.spec import WindowQuery
from windrow.engine.storage import ColumnStorage, Stored
from windrow.engine.windower import IntervalWindower, Share
from windrow.engine.workers.paned import WindowLevelWorker
from windrow.engine.workers.win_seq import Geometry
from windrow.engine.workers.worker import Message
from windrow.functions.reducible import Reduction
from windrow.kernels.pane_reduce import PanePartials, Wanted, reduce_panes
from windrow.kernels.rank_reduce import count_keys, reduce_rank_panes


class PanedWinSeq(WindowLevelWorker):
    """Reduces each batch to partials of panes in one pass and keeps those in place of tuples.

    For counts, sums and extremes of numbers, which do not mind the order of tuples: in time and
    landmark windows a tuple counts at once, wherever in the batch it stands. Several partials of
    one pane, from batches that share it, stand side by side.

    Time a batch: O(its tuples + windows fired); space O(panes of open windows).
    """

    def __init__(
        self,
        query: WindowQuery,
        geometry: Geometry,
        axis: str | None,
        columns: dict[str, pa.DataType],
        share: Share,
    ) -> None:
        evaluator = WindowsOfPieces(query)
        super().__init__(query, geometry, evaluator, columns, share, share)
        self.axis, self.partials = axis, evaluator.partials
        assert isinstance(self.windower, IntervalWindower)
        self.windower.pane = geometry.pane
        is_timed = isinstance(query.model, CountWindow) and query.time is not None and axis is None
        self.placing = Placing(is_timed, query.order_by if axis is None else ())

    def take(self, placed: Placed) -> list[Message]:
        if placed.late is not None:
            self.dropped += len(placed.late)
        for part in placed.parts:
            self._take_part(part, placed.previous)
        return []

    def _take_part(self, tuples: pa.Table, previous: int) -> None:
        if isinstance(self.query.model, TimeWindow | LandmarkWindow):
            tuples = self._in_time(tuples, previous)
        codes = self.codes(tuples)
        counts = None
        if self.axis is None:
            tuples, codes = self._in_order(tuples, codes)
            counts = count_keys(codes, len(self.keys))
        keys, panes, columns = self._reduce(tuples, codes, counts)
        self._keep(keys, {AXIS: Stored(panes), **columns})
        if counts is not None:
            self.windower.count += counts
        elif self.axis == RANK:
            np.maximum.at(self.windower.count, codes, np.asarray(tuples[RANK].to_numpy()) + 1)

    def _in_time(self, tuples: pa.Table, previous: int) -> pa.Table:
        """The tuples that still find a window."""
        times = np.asarray(tuples[TIME].to_numpy())
        if len(times) == 0 or int(times.min()) >= previous:
            return tuples
        is_late = pa.array(times < previous)
        kept = self._not_too_late(tuples.filter(is_late), previous)
        return pa.concat_tables([tuples.filter(pa.array(times >= previous)), kept])

    def _in_order(self, tuples: pa.Table, codes: Int64s) -> tuple[pa.Table, Int64s]:
        """By time and ``order_by``: within a key that is the order of ranks."""
        if not self.placing.is_in_order(tuples):
            order = self.placing.order(tuples, np.zeros(len(tuples), np.int64))
            return tuples.take(order), codes[order]
        return tuples, codes

    def _reduce(
        self, tuples: pa.Table, codes: Int64s, counts: Int64s | None
    ) -> tuple[Int64s, Int64s, dict[str, Stored]]:
        """One pass for each value column; the partials of (key, pane), in order."""
        reduced = {
            source: self._reduce_column(tuples, codes, counts, source, operations)
            for source, operations in self._wanted().items()
        }
        some = next(iter(reduced.values()))
        columns: dict[str, Stored] = {}
        for name, function in self.partials.functions.items():
            for i, reduction in enumerate(function.reductions):  # type: ignore[attr-defined]
                source = _source(function, reduction)
                found = some if source is None else reduced[source]
                columns[f"{name}#{i}"] = Stored(_array(found, reduction.op, source is None))
        return some.keys, some.panes, columns

    def _wanted(self) -> dict[Source | None, set[Wanted]]:
        """What is to be reduced of each value column; of none if tuples are only counted."""
        wanted: dict[Source | None, set[Wanted]] = {}
        for function in self.partials.functions.values():
            for reduction in function.reductions:  # type: ignore[attr-defined]
                source = _source(function, reduction)
                if source is not None:
                    operations = wanted.setdefault(source, set())
                    if reduction.op != "count":
                        operations.add(reduction.op)
        return wanted or {None: set()}

    def _reduce_column(
        self,
        tuples: pa.Table,
        codes: Int64s,
        counts: Int64s | None,
        source: Source | None,
        wanted: set[Wanted],
    ) -> PanePartials:
        values, valid = self._kernel_values(tuples, source)
        length = self.geometry.pane
        if counts is not None:
            ranks = self.windower.count
            return reduce_rank_panes(
                codes, ranks, counts, values, length=length, valid=valid, wanted=wanted
            )
        assert self.axis is not None
        return reduce_panes(
            codes,
            np.asarray(tuples[self.axis].to_numpy()),
            values,
            n_keys=len(self.keys),
            length=length,
            origin=self.geometry.origin,
            valid=valid,
            wanted=wanted,
        )

    def _kernel_values(self, tuples: pa.Table, source: Source | None) -> tuple[Any, Any]:
        if source is None:
            return None, None
        column, as_float = source
        storage: ColumnStorage = self.partials.storages[column]
        values, _ = storage.to_kernel(storage.store(tuples[column]))
        found = values.values.astype(np.float64, copy=False) if as_float else values.values
        return found, values.valid


Source: TypeAlias = tuple[str, bool]
"""A value column, and whether it is reduced as float64."""


def _source(function: Any, reduction: Reduction) -> Source | None:
    if reduction.column is None:
        return None
    return function.columns[reduction.column], reduction.as_float


def _array(partials: PanePartials, op: str, are_rows: bool) -> Any:
    if op == "count":
        return partials.rows if are_rows else partials.counts
    return {"sum": partials.sums, "min": partials.minima, "max": partials.maxima}[op]
