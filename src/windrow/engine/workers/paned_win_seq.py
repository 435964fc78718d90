"""Win_Seq over panes: it keeps partials of panes in place of tuples, for the hot path."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.core.models import CountWindow, LandmarkWindow, TimeWindow
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import AXIS, PIECE, RANK, ROWS, TIME
from windrow.engine.columns.storage import Stored
from windrow.engine.evaluate.evaluators import WindowsOfPieces
from windrow.engine.evaluate.pane_reduction import PaneReduction
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.placing import Placed, Placing
from windrow.engine.windows.windower import IntervalWindower, Share
from windrow.engine.workers.paned import WindowLevelWorker
from windrow.engine.workers.win_seq import Geometry
from windrow.engine.workers.worker import Message
from windrow.kernels.rank_reduce import count_keys


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
        self.axis = axis
        self.reduction = PaneReduction(query, geometry.pane, geometry.origin)
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
            panes = self.reduction.over_order(tuples, codes, self.windower.count, counts)
        else:
            panes = self.reduction.over(tuples, codes, len(self.keys), self.axis)
        self._keep(panes.codes, {AXIS: Stored(panes.panes), **panes.columns})
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


class ReducedWinSeq(WindowLevelWorker):
    """Is sent partials of panes that an emitter has made; keeps them as they come.

    All tuples of a pane have the same windows, so that lateness can be told of panes.
    """

    def take(self, placed: Placed) -> list[Message]:
        parts = tuple(self._in_time(part, placed.previous) for part in placed.parts)
        return super().take(replace(placed, parts=parts))

    def _in_time(self, partials: pa.Table, previous: int) -> pa.Table:
        """The partials of panes that still find a window."""
        assert isinstance(self.windower, IntervalWindower)
        model = self.windower.model
        fired = self.windower.limit(self.geometry.reached(previous))
        first, last = model.mapping(np.asarray(partials[PIECE].to_numpy()))
        is_lost = (first <= last) & (last <= fired)
        if is_lost.any() and self.outer.n > 1:
            owner = self.shifts(self.codes(partials), self.outer.n) + last // self.outer.batch
            is_counted = is_lost & self.outer.hosted[owner % self.outer.n]
        else:
            is_counted = is_lost
        self.dropped += int(np.asarray(partials[ROWS].to_numpy())[is_counted].sum())
        return partials.filter(pa.array((first <= last) & ~is_lost))
