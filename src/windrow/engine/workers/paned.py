"""The two stages of Pane_Farm: partials of panes, then windows over these partials."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.core.computation import Aggregation
from windrow.core.models import mapped
from windrow.engine.columns.arrays import Int64s
from windrow.engine.evaluate.evaluator import Evaluator
from windrow.engine.evaluate.partials import PartialColumns
from windrow.engine.evaluate.results import evaluated
from windrow.engine.windows.batch import pack_batches
from windrow.engine.windows.farm_panes import FarmPanes
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.engine.windows.placing import Passed, time_of
from windrow.engine.windows.windower import Share
from windrow.engine.workers.role import Role
from windrow.engine.workers.win_seq import WinSeqWorker
from windrow.engine.workers.window_worker import WindowWorker
from windrow.engine.workers.worker import Message


class PaneFormer(WindowWorker):
    """Forms the panes of windows. Subclasses implement ``give`` for panes that are complete.

    A tuple that is late for its pane may still count in windows that have not fired. Such tuples
    are given as that pane once more.

    Among the windows of ``panes.span`` panes that overlap, every ``span``-th is a pane of this
    instance. Which ones these are depends on the key.
    """

    def __init__(self, role: Role, panes: FarmPanes, instance: int) -> None:
        super().__init__(replace(role, share=Share.of(0, panes.span)), outer=role.share)
        self.panes, self.instance = panes, instance

    def take_given_ranks(self, axis: str | None) -> None:
        """Rankers have put the tuples in order: a pane tells nothing about those it lacks."""

    def own_shifts(self, codes: Int64s) -> Int64s:
        return -self.panes.first(self.shifts(codes, self.panes.n), self.instance) % self.share.n

    def take(self, passed: Passed) -> list[Message]:
        if passed.late is None:
            return super().take(passed)
        late = self._not_too_late(passed.late, passed.previous)
        codes = self.codes(late)
        judged = self.windower.judge_late(time_of(late), codes, passed.previous, self.buffer)
        given = self._give_late(late.filter(pa.array(~judged.is_kept)))
        open_panes = late.filter(pa.array(judged.is_kept))
        if passed.tuples is not None:
            open_panes = pa.concat_tables([open_panes, passed.tuples])
        return given + super().take(Passed((open_panes,), None, passed.previous))

    def _give_late(self, late: pa.Table) -> list[Message]:
        """Partials of late tuples, whose panes have already fired."""
        if len(late) == 0:
            return []
        codes = self.codes(late)
        order = self.placing.order(late, codes)
        codes, times = codes[order], time_of(late)[order]
        panes = self.panes.numbers(times, self.shifts(codes, self.panes.n), self.instance)
        is_new = (np.diff(codes, prepend=-1) != 0) | (np.diff(panes, prepend=panes[:1] - 1) != 0)
        lo = np.flatnonzero(is_new)
        bounds = mapped(self.geometry.model).bounds(panes[lo])
        windows = FiredWindows(codes[lo], panes[lo], *bounds, lo, np.append(lo[1:], len(codes)))
        return self.give(self.named(self._stored(late, order, times)), windows)


class PaneLevelWorker(PaneFormer):
    """The pane-level query: one partial per pane, and one more for tuples that were late for it."""

    def __init__(self, role: Role, evaluator: Evaluator, panes: FarmPanes, instance: int) -> None:
        super().__init__(role, panes, instance)
        self.evaluator = evaluator

    def renumber(self) -> None:
        super().renumber()
        self.evaluator.forget()

    def give(self, columns: TupleColumns, windows: FiredWindows) -> list[Message]:
        return [evaluated(self.query, self.evaluator, columns, windows, self.keys)]


class PaneWindower(PaneFormer):
    """Sends panes to workers that compute them, in ``most`` batches at most."""

    def __init__(self, role: Role, panes: FarmPanes, instance: int, most: int) -> None:
        super().__init__(role, panes, instance)
        self.most = most

    def give(self, columns: TupleColumns, windows: FiredWindows) -> list[Message]:
        batch = -(-len(windows) // self.most)
        return list(pack_batches(columns, windows, self.keys, batch, with_axis=True))


class WindowLevelWorker(WinSeqWorker):
    """The window-level query: windows over panes, with the ids and bounds of the query."""

    def give(self, columns: TupleColumns, windows: FiredWindows) -> list[Message]:
        return super().give(columns, self.bounded(windows))

    def bounded(self, windows: FiredWindows) -> FiredWindows:
        """The windows with the bounds of the query's."""
        start, end = mapped(self.query.model).bounds(windows.ids)
        return replace(windows, start=start, end=end)

    def completed(self, stored: pa.Table) -> pa.Table:
        is_aggregation = isinstance(self.query.computation, Aggregation)
        return PartialColumns(self.query).completed(stored) if is_aggregation else stored
