"""Slide-by-tuple windows: length in time, slide in tuples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windrow.core.durations import Duration
from windrow.core.models.model import (
    Axis,
    Bounds,
    Context,
    Extents,
    WindowModel,
    positive_count,
    positive_duration,
)


@dataclass(frozen=True, init=False)
class SlideByTupleWindow(WindowModel):
    """The tuples of the last ``length`` of time, at every ``slide``-th tuple.

    Window w is triggered by t_r, r = (w + 1)*slide - 1:
    E(w) = { t : time(t_r) - length < time(t) <= time(t_r) }, ties after the trigger included.

    >>> SlideByTupleWindow("3 us", slide=2).extents(np.array([0, 2, 3, 5, 5])).lo
    array([0, 2])
    """

    length: int
    slide: int

    context = Context.FCA
    bounds = Bounds.TIME
    ranks_tuples = True

    def __init__(self, length: Duration, slide: int) -> None:
        object.__setattr__(self, "length", positive_duration(length, "SlideByTupleWindow length"))
        object.__setattr__(self, "slide", positive_count(slide, "SlideByTupleWindow slide"))

    def extents(self, axis: Axis) -> Extents:
        trigger = axis[self.slide - 1 :: self.slide]
        start = trigger - self.length
        lo = np.searchsorted(axis, start, side="right")
        hi = np.searchsorted(axis, trigger, side="right")
        return Extents.of(np.arange(len(trigger)), start, trigger, lo, hi)

    def fired(self, windows: Extents, watermark: int | None) -> NDArray[np.bool_]:
        """Once its trigger has taken its place."""
        return np.ones(len(windows), bool)
