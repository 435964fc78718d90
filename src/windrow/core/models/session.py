"""Session windows."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.core.calls import checks_construction
from windrow.core.durations import Duration, in_words
from windrow.core.models.model import Axis, Context, WindowModel, call, positive_duration


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

    def __init__(self, gap: Duration) -> None:
        object.__setattr__(self, "gap", positive_duration(gap, "SessionWindow gap"))

    def __repr__(self) -> str:
        return call(self, in_words(self.gap))

    @property
    def newest_lag(self) -> int:
        return self.gap

    def closed_at(self, time: int) -> int:
        return time + self.gap + 1
