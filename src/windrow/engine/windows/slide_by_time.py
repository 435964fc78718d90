"""The windower of windows whose length is in tuples and whose slide is in time."""

from __future__ import annotations

from windrow.core.models import SlideByTimeWindow
from windrow.engine.windows.buffer import WindowBuffer
from windrow.engine.windows.fired import FiredWindows
from windrow.engine.windows.windower import Windower, register_windower
from windrow.kernels.triggered_windows import fire_slide_by_time


@register_windower(SlideByTimeWindow)
class SlideByTimeWindower(Windower):
    """A window fires when the watermark reaches its end."""

    model: SlideByTimeWindow
    remembers = ("scanned",)

    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        axis, model = buffer.axis, self.model
        found = fire_slide_by_time(
            axis,
            buffer.head,
            buffer.tail,
            self.by_key["scanned"],
            model.length,
            model.slide,
            model.origin,
            watermark,
        )
        ids, lo, hi = found[:, 1], found[:, 2], found[:, 3]
        return FiredWindows(found[:, 0], ids, axis[lo], model.origin + ids * model.slide, lo, hi)
