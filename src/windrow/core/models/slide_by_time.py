"""Slide-by-time windows: length in rows, slide in time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from windrow.core.calls import checks_construction
from windrow.core.checks import positive_count
from windrow.core.durations import Duration, in_words, instant
from windrow.core.models.model import (
    Axis,
    Context,
    WindowModel,
    call,
    positive_duration,
)


@checks_construction
@dataclass(frozen=True, init=False)
class SlideByTimeWindow(WindowModel):
    """The last ``length`` rows, every ``slide`` of time.

    Window m ends at e = origin + m*slide and exists only if the key has a row in [e - slide, e):
    E(m) = the last ``length`` rows with time(t) < e. It starts at the time of its oldest row.

    >>> SlideByTimeWindow(2, slide="5 us").closed_at(11)
    15
    """

    length: int
    slide: int
    origin: int

    context = Context.FCA
    axis = Axis.TIME
    ranks_tuples = True

    def __init__(self, length: int, slide: Duration, origin: Duration | datetime = 0) -> None:
        object.__setattr__(self, "length", positive_count(length, "SlideByTimeWindow length"))
        object.__setattr__(self, "slide", positive_duration(slide, "SlideByTimeWindow slide"))
        object.__setattr__(self, "origin", instant(origin, "SlideByTimeWindow origin"))

    def __repr__(self) -> str:
        origin = in_words(self.origin) if self.origin else None
        return call(self, self.length, slide=in_words(self.slide), origin=origin)

    def expected_rows(self, rate: float) -> tuple[float, float]:
        return self.length, self.slide * rate

    @property
    def newest_lag(self) -> int:
        return self.slide

    def closed_at(self, time: int) -> int:
        return self.origin + ((time - self.origin) // self.slide + 1) * self.slide
