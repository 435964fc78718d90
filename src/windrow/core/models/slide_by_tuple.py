"""Slide-by-tuple windows: length in time, slide in rows."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.core.calls import checks_construction
from windrow.core.checks import positive_count
from windrow.core.durations import Duration, in_words
from windrow.core.models.model import (
    Axis,
    Context,
    WindowModel,
    call,
    positive_duration,
)


@checks_construction
@dataclass(frozen=True, init=False)
class SlideByTupleWindow(WindowModel):
    """The rows of the last ``length`` of time, at every ``slide``-th row.

    Window w is triggered by t_r, r = (w + 1)*slide - 1:
    E(w) = { t : time(t_r) - length < time(t) <= time(t_r) }, including later rows of equal time.

    >>> SlideByTupleWindow("3 us", slide=2)
    SlideByTupleWindow("3 us", slide=2)
    """

    length: int
    slide: int

    context = Context.FCA
    axis = Axis.TIME
    ranks_tuples = True

    def __init__(self, length: Duration, slide: int) -> None:
        object.__setattr__(self, "length", positive_duration(length, "SlideByTupleWindow length"))
        object.__setattr__(self, "slide", positive_count(slide, "SlideByTupleWindow slide"))

    def __repr__(self) -> str:
        return call(self, in_words(self.length), slide=self.slide)

    def expected_rows(self, rate: float) -> tuple[float, float]:
        return max(1.0, self.length * rate), self.slide

    @property
    def newest_lag(self) -> int:
        return 0
