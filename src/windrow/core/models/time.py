"""Time-based windows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from windrow.core.calls import checks_construction
from windrow.core.durations import Duration, in_words, instant
from windrow.core.models.interval import IntervalWindow
from windrow.core.models.model import Axis, call, positive_duration


@checks_construction
@dataclass(frozen=True, init=False)
class TimeWindow(IntervalWindow):
    """The rows of a span of time ``length``, every ``slide`` of time, as in Spark's ``window()``.

    E(w) = { t : origin + w*slide <= time(t) < origin + w*slide + length }, w any integer.
    M(t) = [ceil((time(t) - origin - length + 1) / slide) .. floor((time(t) - origin) / slide)].

    >>> import numpy as np
    >>> TimeWindow("4 us", slide="2 us").mapping(np.array([-1, 0, 5]))
    (array([-2, -1,  1]), array([-1,  0,  2]))
    """

    length: int
    slide: int
    origin: int

    axis = Axis.TIME
    ranks_tuples = False
    every = 0

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

    def __repr__(self) -> str:
        slide = None if self.slide == self.length else in_words(self.slide)
        origin = in_words(self.origin) if self.origin else None
        return call(self, in_words(self.length), slide=slide, origin=origin)

    @property
    def newest_lag(self) -> int:
        return self.length

    def panes(self, span: int = 1) -> TimeWindow:
        return TimeWindow(span * self.pane_length, self.pane_length, self.origin)

    def in_panes(self) -> TimeWindow:
        return TimeWindow(self.length // self.pane_length, self.slide // self.pane_length)
