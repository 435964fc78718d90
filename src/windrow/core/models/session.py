"""Session windows."""

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
    Int64s,
    MappedWindow,
    positive_duration,
)


@dataclass(frozen=True, init=False)
class SessionWindow(MappedWindow):
    """Maximal runs of tuples whose neighbours are at most ``gap`` apart.

    M(t_i) = the number of j in 1..i with time(t_j) - time(t_{j-1}) > gap; E is its inverse.
    A session starts at its first time and ends at its last plus gap.

    >>> SessionWindow("5 us").extents(np.array([0, 5, 11])).end
    array([10, 16])
    """

    gap: int

    context = Context.FCF
    bounds = Bounds.TIME
    ranks_tuples = False

    def __init__(self, gap: Duration) -> None:
        object.__setattr__(self, "gap", positive_duration(gap, "SessionWindow gap"))

    def mapping(self, position: Axis) -> tuple[Int64s, Int64s]:
        """M over all times of a key up to the tuple's, in order: sessions look back."""
        is_new = np.diff(position, prepend=position[:1]) > self.gap
        session = np.cumsum(is_new, dtype=np.int64)
        return session, session

    def extents(self, axis: Axis) -> Extents:
        session, _ = self.mapping(axis)
        ids, lo = np.unique(session, return_index=True)
        hi = np.append(lo[1:], len(axis))[: len(ids)]
        return Extents.of(ids, axis[lo], axis[hi - 1] + self.gap, lo, hi)

    def closed_at(self, time: int) -> int:
        return time + self.gap + 1

    def fired(self, windows: Extents, watermark: int | None) -> NDArray[np.bool_]:
        """Once the watermark is past its end: a tuple at the end itself would still join it."""
        return np.ones(len(windows), bool) if watermark is None else windows.end < watermark
