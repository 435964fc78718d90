"""Landmark windows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from windrow.core.calls import checks_construction
from windrow.core.durations import Duration, in_words, instant
from windrow.core.errors import WindrowError
from windrow.core.models.interval import IntervalWindow
from windrow.core.models.model import Axis, call, positive_duration
from windrow.core.models.time import TimeWindow


@checks_construction
@dataclass(frozen=True, init=False)
class LandmarkWindow(IntervalWindow):
    """All rows since the last landmark, every ``slide`` of time; landmarks are ``every`` apart.

    Window m ends at ``e = origin + m*slide`` and starts at the greatest ``origin + k*every < e``:
    E(m) = { t : start(m) <= time(t) < origin + m*slide }.
    M(t) = [floor(s / slide) + 1 .. (floor(s / every) + 1) * every / slide], s = time(t) - origin.

    >>> import numpy as np
    >>> LandmarkWindow(every="6 us", slide="2 us").mapping(np.array([3]))
    (array([2]), array([3]))
    """

    every: int
    slide: int
    origin: int

    axis = Axis.TIME
    ranks_tuples = False
    length = 0

    def __init__(self, every: Duration, slide: Duration, origin: Duration | datetime = 0) -> None:
        object.__setattr__(self, "every", positive_duration(every, "LandmarkWindow every"))
        object.__setattr__(self, "slide", positive_duration(slide, "LandmarkWindow slide"))
        object.__setattr__(self, "origin", instant(origin, "LandmarkWindow origin"))
        if self.every % self.slide:
            raise WindrowError(
                "LandmarkWindow every must be a multiple of slide",
                f"every={every!r}, slide={slide!r}",
                "otherwise a landmark would lie between two results.",
            )

    def __repr__(self) -> str:
        origin = in_words(self.origin) if self.origin else None
        return call(self, in_words(self.every), slide=in_words(self.slide), origin=origin)

    @property
    def newest_lag(self) -> int:
        return self.every

    def panes(self, span: int = 1) -> TimeWindow:
        return TimeWindow(span * self.slide, self.slide, self.origin)

    def in_panes(self) -> LandmarkWindow:
        return LandmarkWindow(self.every // self.slide, 1)
