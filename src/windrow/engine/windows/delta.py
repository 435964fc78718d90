"""The windower of windows whose length and slide are changes of an attribute."""

from __future__ import annotations

import numpy as np

from windrow.core.models import DeltaWindow
from windrow.engine.windows.buffer import WindowBuffer
from windrow.engine.windows.fired import FiredWindows
from windrow.engine.windows.windower import RefusedTuple, Windower, register_windower
from windrow.kernels.triggered_windows import fire_deltas


@register_windower(DeltaWindow)
class DeltaWindower(Windower):
    """A window fires when its trigger has taken its place."""

    model: DeltaWindow
    remembers = ("next_id", "scanned", "last_trigger")

    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        axis, model, own = buffer.axis, self.model, self.by_key
        own["last_trigger"] = own["last_trigger"].astype(axis.dtype, copy=False)
        found, triggers, fall = fire_deltas(
            axis,
            buffer.head,
            buffer.tail,
            own["scanned"],
            own["next_id"],
            own["last_trigger"],
            model.length,
            model.slide,
        )
        if fall >= 0:
            raise self._falling(buffer, fall)
        end = axis[triggers]
        bounds = end - model.length, end
        return FiredWindows(found[:, 0], found[:, 1], *bounds, found[:, 2], found[:, 3])

    def _falling(self, buffer: WindowBuffer, position: int) -> RefusedTuple:
        is_own = (buffer.head <= position) & (position < buffer.tail)
        return RefusedTuple(
            f"DeltaWindow needs an attribute that never decreases within a key: {self.model.on!r}",
            f"{buffer.axis[position]} after {buffer.axis[position - 1]}",
            "order the rows with event_time() or order_by(), or add a key.",
            key=int(np.flatnonzero(is_own)[0]),
        )
