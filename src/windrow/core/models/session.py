"""Session windows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from windrow.core.calls import checks_construction
from windrow.core.durations import Duration, in_words
from windrow.core.models.model import Axis, Context, WindowModel, call, positive_duration

_MOST = 1000.0
"""The rows of a session if there would hardly be gaps: then the rows must come in bursts."""


@checks_construction
@dataclass(frozen=True, init=False)
class SessionWindow(WindowModel):
    """Maximal runs of rows whose neighbours are at most ``gap`` apart.

    M(t_i) = the number of j in 1..i with time(t_j) - time(t_{j-1}) > gap; E is its inverse.
    A session starts at the time of its first row and ends at the time of its last row plus gap.

    >>> SessionWindow("5 us").closed_at(11)
    17
    """

    gap: int

    context = Context.FCF
    axis = Axis.TIME
    ranks_tuples = False
    shares_tuples = False
    are_bursts = True

    def __init__(self, gap: Duration) -> None:
        object.__setattr__(self, "gap", positive_duration(gap, "SessionWindow gap"))

    def __repr__(self) -> str:
        return call(self, in_words(self.gap))

    def expected_rows(self, rate: float) -> tuple[float, float]:
        # Of rows that come independently of each other, e^(-rate gap) are followed by a long gap.
        rows = math.exp(min(rate * self.gap, math.log(_MOST)))
        return rows, rows

    @property
    def newest_lag(self) -> int:
        return self.gap

    def closed_at(self, time: int) -> int:
        return time + self.gap + 1
