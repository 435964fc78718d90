"""Time-based windows."""

from __future__ import annotations

import math
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
    Int64s,
    MappedWindow,
    has_reached_end,
    positive_duration,
    union_of_ranges,
)


@dataclass(frozen=True, init=False)
class TimeWindow(MappedWindow):
    """The tuples of a time span ``length``, every ``slide`` of time; Spark's own ``window()``.

    E(w) = { t : origin + w*slide <= time(t) < origin + w*slide + length }, w any integer.
    M(t) = [ceil((time(t) - origin - length + 1) / slide) .. floor((time(t) - origin) / slide)].

    >>> TimeWindow("4 us", slide="2 us").extents(np.array([-1, 0, 5])).ids
    array([-2, -1,  0,  1,  2])
    """

    length: int
    slide: int
    origin: int

    context = Context.CF
    bounds = Bounds.TIME
    ranks_tuples = False

    def __init__(
        self,
        length: Duration,
        slide: Duration | None = None,
        origin: Duration | datetime = 0,
    ) -> None:
        hint = "leave slide out for tumbling windows."
        length = positive_duration(length, "TimeWindow length")
        slide = length if slide is None else positive_duration(slide, "TimeWindow slide", hint)
        object.__setattr__(self, "length", length)
        object.__setattr__(self, "slide", slide)
        object.__setattr__(self, "origin", instant(origin, "TimeWindow origin"))

    @property
    def pane_length(self) -> int:
        return math.gcd(self.length, self.slide)

    def mapping(self, position: Axis) -> tuple[Int64s, Int64s]:
        """M over times."""
        since = position - self.origin
        return (since - self.length) // self.slide + 1, since // self.slide

    def extents(self, axis: Axis) -> Extents:
        ids = union_of_ranges(*self.mapping(axis))
        start = self.origin + ids * self.slide
        end = start + self.length
        return Extents.of(ids, start, end, np.searchsorted(axis, start), np.searchsorted(axis, end))

    def closed_at(self, time: int) -> int:
        end = self.origin + (time - self.origin) // self.slide * self.slide + self.length
        return max(end, time + 1)

    def fired(self, windows: Extents, watermark: int | None) -> NDArray[np.bool_]:
        return has_reached_end(windows, watermark)
