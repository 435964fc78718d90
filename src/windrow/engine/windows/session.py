"""The windower of sessions."""

from __future__ import annotations

import numpy as np

from windrow.core.models import SessionWindow
from windrow.engine.columns.arrays import Int64s
from windrow.engine.windows.buffer import WindowBuffer
from windrow.engine.windows.fired import FiredWindows
from windrow.engine.windows.windower import Late, Windower, register_windower
from windrow.kernels.triggered_windows import fire_sessions


@register_windower(SessionWindow)
class SessionWindower(Windower):
    """A session fires when the watermark is past its end: a tuple at the end still joins it."""

    model: SessionWindow
    remembers = ("next_id", "scanned")
    may_precede_evicted = True

    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        axis, gap, own = buffer.axis, self.model.gap, self.by_key
        found = fire_sessions(
            axis, buffer.head, buffer.tail, own["scanned"], own["next_id"], gap, watermark
        )
        lo, hi = found[:, 2], found[:, 3]
        return FiredWindows(found[:, 0], found[:, 1], axis[lo], axis[hi - 1] + gap, lo, hi)

    def merged(self, keys: Int64s) -> None:
        self.by_key["scanned"][keys] = 0

    def judge_late(
        self, positions: Int64s, codes: Int64s, reached: int, buffer: WindowBuffer
    ) -> Late:
        """A late tuple is kept if its session has not ended or has tuples in the buffer."""
        keys = np.unique(codes)
        held = buffer.positions_of(keys)
        held_codes = np.repeat(keys, buffer.tail[keys] - buffer.head[keys])
        all_codes = np.concatenate([held_codes, codes])
        all_times = np.concatenate([buffer.axis[held], positions])
        is_held = np.arange(len(all_codes)) < len(held)
        order = np.lexsort((all_times, all_codes))
        c, t = all_codes[order], all_times[order]
        is_new = np.ones(len(c), np.bool_)
        is_new[1:] = (c[1:] != c[:-1]) | (t[1:] - t[:-1] > self.model.gap)
        session = np.cumsum(is_new) - 1
        last = t[np.append(np.flatnonzero(is_new)[1:], len(t)) - 1]
        has_held = np.zeros(len(last), np.bool_)
        np.logical_or.at(has_held, session, is_held[order])
        is_open = has_held | (last + self.model.gap >= reached)
        is_kept = np.empty(len(c), np.bool_)
        is_kept[order] = is_open[session]
        return Late(is_kept[len(held) :], ~is_kept[len(held) :])
