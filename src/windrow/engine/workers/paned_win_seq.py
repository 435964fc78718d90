"""Win_Seq over panes: a faster worker that keeps partials of panes instead of tuples."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import AXIS, RANK, TIME
from windrow.engine.columns.storage import Stored
from windrow.engine.evaluate.evaluator import Evaluator
from windrow.engine.evaluate.pane_reduction import PaneReduction
from windrow.engine.windows.placing import Passed, Placing
from windrow.engine.workers.paned import WindowLevelWorker
from windrow.engine.workers.role import Role
from windrow.engine.workers.worker import Message
from windrow.kernels.rank_reduce import count_keys


class PanedWinSeq(WindowLevelWorker):
    """Reduces each batch to partials of panes in one pass and keeps them instead of tuples.

    It computes counts, sums and extremes of numbers, which do not depend on order. So in time and
    landmark windows a tuple counts at once, before the watermark has passed it. A pane that spans
    several batches has several partials.

    With another evaluator it gives partials of panes, each once its last tuple has come: in front
    of workers that see only some of the panes of a key it is a ranker.

    Time per batch: O(tuples of the batch + fired windows). Space: O(partials of open windows).
    """

    def __init__(self, role: Role, evaluator: Evaluator, axis: str | None) -> None:
        query, geometry = role.query, role.geometry
        # Tuples are placed only if they are ranked here. The order of panes does not matter.
        is_ranked_here = axis is None and query.rank is None
        placing = Placing(
            is_ranked_here and query.time is not None, query.order_by if is_ranked_here else ()
        )
        super().__init__(role, evaluator, placing)
        self.axis = axis if query.rank is None else RANK
        self.take_given_ranks(axis)
        self.reduction = PaneReduction(query, geometry.pane, geometry.origin)

    def take(self, passed: Passed) -> list[Message]:
        if passed.late is not None:
            self.dropped += len(passed.late)
        for part in passed.parts:
            self._take_part(part, passed.previous)
        return []

    def _take_part(self, tuples: pa.Table, previous: int) -> None:
        if self.axis == TIME:
            tuples = self._in_time(tuples, previous)
        codes = self.codes(tuples)
        if self.axis is None:
            tuples, codes = self._in_order(tuples, codes)
            count, new = self.windower.by_key["count"], count_keys(codes, len(self.keys))
            panes = self.reduction.over_order(tuples, codes, count, new)
            count += new
        else:
            panes = self.reduction.over(tuples, codes, len(self.keys), self.axis)
        if self.axis == RANK:
            ranks = np.asarray(tuples[RANK].to_numpy())
            np.maximum.at(self.windower.by_key["count"], codes, ranks + 1)
        self._keep(panes.codes, {AXIS: Stored(panes.panes), **panes.columns})

    def _in_time(self, tuples: pa.Table, previous: int) -> pa.Table:
        """The tuples that still belong to an open window."""
        times = np.asarray(tuples[TIME].to_numpy())
        if len(times) == 0 or int(times.min()) >= previous:
            return tuples
        is_late = pa.array(times < previous)
        kept = self._not_too_late(tuples.filter(is_late), previous)
        return pa.concat_tables([tuples.filter(pa.array(times >= previous)), kept])

    def _in_order(self, tuples: pa.Table, codes: Int64s) -> tuple[pa.Table, Int64s]:
        """Sort tuples by time and ``order_by``. Within a key, this is the order of ranks."""
        if not self.placing.is_in_order(tuples):
            order = self.placing.order(tuples, np.zeros(len(tuples), np.int64))
            return tuples.take(order), codes[order]
        return tuples, codes
