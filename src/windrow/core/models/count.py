"""Count-based windows."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.core.calls import checks_construction
from windrow.core.checks import positive_count
from windrow.core.models.interval import IntervalWindow
from windrow.core.models.model import Axis, call


@checks_construction
@dataclass(frozen=True, init=False)
class CountWindow(IntervalWindow):
    """Windows of ``length`` rows, every ``slide`` rows.

    E(w) = { t_i : w*slide <= i < w*slide + length }, i is the row's rank within its key, w >= 0.
    M(t_i) = [max(0, ceil((i - length + 1) / slide)) .. floor(i / slide)].

    >>> import numpy as np
    >>> CountWindow(4, slide=2).mapping(np.arange(5))
    (array([0, 0, 0, 0, 1]), array([0, 0, 1, 1, 2]))
    """

    length: int
    slide: int

    axis = Axis.RANK
    needs_event_time = False
    ranks_tuples = True
    every = 0
    origin = 0

    def __init__(self, length: int, slide: int | None = None) -> None:
        hint = "leave slide out for tumbling windows."
        length = positive_count(length, "CountWindow length")
        slide = length if slide is None else positive_count(slide, "CountWindow slide", hint=hint)
        object.__setattr__(self, "length", length)
        object.__setattr__(self, "slide", slide)

    def __repr__(self) -> str:
        return call(self, self.length, slide=None if self.slide == self.length else self.slide)

    @property
    def newest_lag(self) -> int:
        return 0

    def panes(self, span: int = 1) -> CountWindow:
        return CountWindow(span * self.pane_length, self.pane_length)

    def in_panes(self) -> CountWindow:
        return CountWindow(self.length // self.pane_length, self.slide // self.pane_length)
