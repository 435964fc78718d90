"""The windower of sessions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.core.models import SessionWindow
from windrow.core.watermark import BEGINNING
from windrow.engine.columns.arrays import Int64s
from windrow.engine.windows.buffer import WindowBuffer
from windrow.engine.windows.fired import FiredWindows
from windrow.engine.windows.windower import Late, Windower, register_windower
from windrow.kernels.triggered_windows import fire_sessions


@register_windower(SessionWindow)
class SessionWindower(Windower):
    """A session fires when the watermark is past its end: a tuple at the end still joins it.

    ``ended`` is the end of each key's last session that has fired, if any has.
    """

    model: SessionWindow
    remembers = ("next_id", "scanned", "ended")
    may_precede_evicted = True

    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        axis, gap, own = buffer.axis, self.model.gap, self.by_key
        found = fire_sessions(
            axis, buffer.head, buffer.tail, own["scanned"], own["next_id"], gap, watermark
        )
        keys, ids, lo, hi = found.T
        ends = axis[hi - 1] + gap
        own["ended"][keys] = ends  # in order of time, so the last end of a key stays
        return FiredWindows(keys, ids, axis[lo], ends, lo, hi)

    def merged(self, keys: Int64s) -> None:
        self.by_key["scanned"][keys] = 0

    def judge_late(
        self, positions: Int64s, codes: Int64s, reached: int, buffer: WindowBuffer
    ) -> Late:
        """A late tuple is kept if its session has not ended or has tuples in the buffer.

        A tuple up to the end of a session that has fired is of that session or of an older one. So
        it is lost, and the sessions of a key never overlap.
        """
        has_fired = self.by_key["next_id"][codes] > 0
        is_kept = ~(has_fired & (positions <= self.by_key["ended"][codes]))
        if is_kept.any():
            is_kept[is_kept] = self._is_open(positions[is_kept], codes[is_kept], reached, buffer)
        return Late(is_kept, ~is_kept)

    def _is_open(
        self, positions: Int64s, codes: Int64s, reached: int, buffer: WindowBuffer
    ) -> NDArray[np.bool_]:
        """Whether the sessions of tuples have not ended or have tuples in the buffer."""
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
        found = np.empty(len(c), np.bool_)
        found[order] = is_open[session]
        return found[len(held) :]

    def restore(self, by_key: dict[str, NDArray[Any]], scalars: dict[str, Any]) -> None:
        # Older state does not say where the sessions that have fired end.
        unknown = np.full(len(by_key["next_id"]), BEGINNING, np.int64)
        super().restore({"ended": unknown, **by_key}, scalars)
