"""The windower of windows whose length is in time and whose slide is in tuples."""

from __future__ import annotations

from windrow.core.models import SlideByTupleWindow
from windrow.engine.windows.buffer import WindowBuffer
from windrow.engine.windows.fired import FiredWindows
from windrow.engine.windows.windower import Windower, register_windower
from windrow.kernels.triggered_windows import fire_slide_by_tuple


@register_windower(SlideByTupleWindow)
class SlideByTupleWindower(Windower):
    """A window fires when its trigger has taken its place."""

    model: SlideByTupleWindow
    remembers = ("next_id", "count")

    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        axis, model, own = buffer.axis, self.model, self.by_key
        found = fire_slide_by_tuple(
            axis, buffer.head, buffer.tail, own["count"], own["next_id"], model.length, model.slide
        )
        lo, hi = found[:, 2], found[:, 3]
        end = axis[hi - 1]
        return FiredWindows(found[:, 0], found[:, 1], end - model.length, end, lo, hi)
