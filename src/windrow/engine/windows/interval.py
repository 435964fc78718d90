"""The windowers of windows that are intervals of time or of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.core.models import CountWindow, IntervalWindow
from windrow.core.models.interval import last_ended
from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.columns.arrays import Int64s
from windrow.engine.windows.buffer import WindowBuffer
from windrow.engine.windows.fired import FiredWindows
from windrow.engine.windows.windower import Late, Windower, register_windower
from windrow.kernels.interval_windows import fire_intervals


@register_windower(IntervalWindow)
class IntervalWindower(Windower):
    """Intervals of time. A window fires for all keys when the watermark reaches its end."""

    model: IntervalWindow
    fired = BEGINNING
    """The id of the last window that has fired."""

    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        next_id = np.full(buffer.n_keys, self.fired + 1, np.int64)
        self.pass_by(watermark)
        return self._fire(buffer, next_id, np.full(buffer.n_keys, watermark, np.int64))

    def pass_by(self, watermark: int) -> None:
        limit = watermark
        if watermark not in (BEGINNING, END_OF_STREAM):
            limit = last_ended(watermark, self.model.length, self.model.slide, self.model.origin)
        self.fired = max(self.fired, limit)

    def judge_late(
        self, positions: Int64s, codes: Int64s, reached: int, buffer: WindowBuffer
    ) -> Late:
        """A late tuple still counts in those of its windows whose end has not been reached."""
        first, last = self.model.mapping(positions)
        own = self.share.last_hosted(self.shifts[codes], last)
        _, end = self.model.bounds(last)
        _, own_end = self.model.bounds(own)
        is_kept = (first <= own) & (own_end > reached)
        return Late(is_kept, (first <= last) & (end <= reached), last)

    def _fire(self, buffer: WindowBuffer, next_id: Int64s, reached: Int64s) -> FiredWindows:
        """Fire each key's windows from ``next_id`` on, up to those that end at ``reached``."""
        model, share = self.model, self.share
        found = fire_intervals(
            buffer.axis,
            buffer.head,
            buffer.tail,
            next_id,
            self.shifts,
            share.hosted,
            share.batch,
            model.length,
            model.slide,
            model.every,
            model.origin,
            reached,
        )
        ids = found[:, 1]
        return FiredWindows(found[:, 0], ids, *model.bounds(ids), found[:, 2], found[:, 3])

    def scalars(self) -> dict[str, Any]:
        return {"fired": self.fired}

    def restore(self, by_key: dict[str, NDArray[Any]], scalars: dict[str, Any]) -> None:
        super().restore(by_key, scalars)
        self.fired = scalars["fired"]


@register_windower(CountWindow)
class CountWindower(IntervalWindower):
    """Intervals of ranks. A window fires when its last tuple has taken its place."""

    remembers = ("next_id",)

    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        reached = self.by_key["count"] // self.pane
        if watermark == END_OF_STREAM:
            reached = np.full(buffer.n_keys, END_OF_STREAM, np.int64)
        return self._fire(buffer, self.by_key["next_id"], reached)

    def pass_by(self, watermark: int) -> None:
        return

    judge_late = Windower.judge_late
