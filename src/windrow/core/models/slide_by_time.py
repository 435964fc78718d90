"""Slide-by-time windows: length in tuples, slide in time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from windrow.core.durations import Duration, instant
from windrow.core.models.model import (
    Axis,
    Bounds,
    Context,
    Extents,
    WindowModel,
    has_reached_end,
    positive_count,
    positive_duration,
)


@dataclass(frozen=True, init=False)
class SlideByTimeWindow(WindowModel):
    """The last ``length`` tuples, every ``slide`` of time.

    At e = origin + m*slide, where the key had a tuple in [e - slide, e):
    E(m) = the last ``length`` tuples with time(t) < e. It starts at its oldest tuple's time.

    >>> SlideByTimeWindow(2, slide="5 us").extents(np.array([0, 1, 2, 11])).ids
    array([1, 3])
    """

    length: int
    slide: int
    origin: int

    context = Context.FCA
    bounds = Bounds.TIME
    ranks_tuples = True

    def __init__(self, length: int, slide: Duration, origin: Duration | datetime = 0) -> None:
        object.__setattr__(self, "length", positive_count(length, "SlideByTimeWindow length"))
        object.__setattr__(self, "slide", positive_duration(slide, "SlideByTimeWindow slide"))
        object.__setattr__(self, "origin", instant(origin, "SlideByTimeWindow origin"))

    def extents(self, axis: Axis) -> Extents:
        ids = np.unique((axis - self.origin) // self.slide + 1)
        end = self.origin + ids * self.slide
        hi = np.searchsorted(axis, end)
        lo = np.maximum(hi - self.length, 0)
        return Extents.of(ids, axis[lo], end, lo, hi)

    def closed_at(self, time: int) -> int:
        return self.origin + ((time - self.origin) // self.slide + 1) * self.slide

    def fired(self, windows: Extents, watermark: int | None) -> NDArray[np.bool_]:
        return has_reached_end(windows, watermark)
