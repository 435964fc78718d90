"""Landmark windows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from windrow.core.durations import Duration, instant
from windrow.core.errors import WindrowError
from windrow.core.models.model import (
    Axis,
    Bounds,
    Context,
    Extents,
    Int64s,
    MappedWindow,
    has_reached_end,
    positive_duration,
    union_of_ranges,
)


@dataclass(frozen=True, init=False)
class LandmarkWindow(MappedWindow):
    """All tuples since the last landmark, every ``slide`` of time; landmarks every ``every``.

    Window m ends at ``e = origin + m*slide`` and starts at the greatest ``origin + k*every < e``:
    E(m) = { t : start(m) <= time(t) < origin + m*slide }.
    M(t) = [floor(s / slide) + 1 .. (floor(s / every) + 1) * every / slide], s = time(t) - origin.

    >>> LandmarkWindow(every="6 us", slide="2 us").extents(np.array([3])).ids
    array([2, 3])
    """

    every: int
    slide: int
    origin: int

    context = Context.CF
    bounds = Bounds.TIME
    ranks_tuples = False

    def __init__(self, every: Duration, slide: Duration, origin: Duration | datetime = 0) -> None:
        object.__setattr__(self, "every", positive_duration(every, "LandmarkWindow every"))
        object.__setattr__(self, "slide", positive_duration(slide, "LandmarkWindow slide"))
        object.__setattr__(self, "origin", instant(origin, "LandmarkWindow origin"))
        if self.every % self.slide:
            raise WindrowError(
                "LandmarkWindow every must be a multiple of slide",
                f"every={every!r}, slide={slide!r}",
                "otherwise results would straddle a landmark.",
            )

    @property
    def pane_length(self) -> int:
        return self.slide

    def mapping(self, position: Axis) -> tuple[Int64s, Int64s]:
        """M over times."""
        since = position - self.origin
        return since // self.slide + 1, (since // self.every + 1) * (self.every // self.slide)

    def extents(self, axis: Axis) -> Extents:
        ids = union_of_ranges(*self.mapping(axis))
        end = self.origin + ids * self.slide
        start = self.origin + (ids * self.slide - 1) // self.every * self.every
        return Extents.of(ids, start, end, np.searchsorted(axis, start), np.searchsorted(axis, end))

    def closed_at(self, time: int) -> int:
        return self.origin + ((time - self.origin) // self.every + 1) * self.every

    def fired(self, windows: Extents, watermark: int | None) -> NDArray[np.bool_]:
        return has_reached_end(windows, watermark)
