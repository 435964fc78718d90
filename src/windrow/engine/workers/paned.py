"""The two stages of Pane_Farm: partials of panes, then windows over panes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.core.models import TimeWindow
from windrow.engine.columns.control import TIME
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.engine.windows.placing import Placed
from windrow.engine.windows.windower import IntervalWindower, Share, Windower
from windrow.engine.workers.win_seq import WinSeqWorker
from windrow.engine.workers.worker import Message


class PaneLevelWorker(WinSeqWorker):
    """The pane-level query: a partial of each pane.

    A tuple late for its pane may still count in windows that have not fired: it makes a partial
    of its own, a second one of that pane.
    """

    def take(self, placed: Placed) -> list[Message]:
        if placed.late is None or not isinstance(self.geometry.model, TimeWindow):
            return super().take(placed)
        late = self._not_too_late(placed.late, placed.previous)
        panes, _ = self.geometry.model.mapping(np.asarray(late[TIME].to_numpy()))
        fired = IntervalWindower(self.geometry.model, Share()).limit(placed.previous)
        has_fired = pa.array(panes <= fired)
        given = self._give_late(late.filter(has_fired))
        open_panes = late.filter(pa.array(panes > fired))
        if placed.tuples is not None:
            open_panes = pa.concat_tables([open_panes, placed.tuples])
        return given + super().take(Placed((open_panes,), None, placed.previous))

    def _give_late(self, late: pa.Table) -> list[Message]:
        if len(late) == 0:
            return []
        codes = self.codes(late)
        order = self.placing.order(late, codes)
        codes = codes[order]
        counts = self.windower.count.copy()
        columns = self._stored(late, codes, order)
        self.windower.count = counts
        assert isinstance(self.geometry.model, TimeWindow)
        times = np.asarray(late[TIME].to_numpy())[order]
        panes, _ = self.geometry.model.mapping(times)
        is_new = (np.diff(codes, prepend=-1) != 0) | (np.diff(panes, prepend=panes[:1] - 1) != 0)
        lo = np.flatnonzero(is_new)
        assert isinstance(self.windower, IntervalWindower)
        bounds = self.windower.bounds(panes[lo])
        windows = FiredWindows(codes[lo], panes[lo], *bounds, lo, np.append(lo[1:], len(codes)))
        return self.give(self.named(columns), windows)


class WindowLevelWorker(WinSeqWorker):
    """The window-level query: windows over panes; their ids and bounds are the query's own."""

    def give(self, columns: TupleColumns, windows: FiredWindows) -> list[Message]:
        own = Windower.of(self.query.model)
        assert isinstance(own, IntervalWindower)
        start, end = own.bounds(windows.ids)
        bounded = FiredWindows(windows.keys, windows.ids, start, end, windows.lo, windows.hi)
        return super().give(columns, bounded)
