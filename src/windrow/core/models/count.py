"""Count-based windows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windrow.core.models.model import (
    Axis,
    Bounds,
    Context,
    Extents,
    Int64s,
    MappedWindow,
    positive_count,
)


@dataclass(frozen=True, init=False)
class CountWindow(MappedWindow):
    """The last ``length`` tuples, every ``slide`` tuples.

    E(w) = { t_i : w*slide <= i < w*slide + length }, i the tuple's rank within its key, w >= 0.
    M(t_i) = [max(0, ceil((i - length + 1) / slide)) .. floor(i / slide)].

    >>> CountWindow(4, slide=2).extents(np.zeros(5)).hi
    array([4, 5, 5])
    """

    length: int
    slide: int

    context = Context.CF
    bounds = Bounds.RANK
    needs_event_time = False
    ranks_tuples = True

    def __init__(self, length: int, slide: int | None = None) -> None:
        hint = "leave slide out for tumbling windows."
        length = positive_count(length, "CountWindow length")
        slide = length if slide is None else positive_count(slide, "CountWindow slide", hint)
        object.__setattr__(self, "length", length)
        object.__setattr__(self, "slide", slide)

    @property
    def pane_length(self) -> int:
        return math.gcd(self.length, self.slide)

    def mapping(self, position: Axis) -> tuple[Int64s, Int64s]:
        """M over ranks."""
        first = np.maximum((position - self.length) // self.slide + 1, 0)
        return first, position // self.slide

    def extents(self, axis: Axis) -> Extents:
        start = np.arange(0, len(axis), self.slide, dtype=np.int64)
        end = start + self.length
        return Extents.of(start // self.slide, start, end, start, np.minimum(end, len(axis)))

    def fired(self, windows: Extents, watermark: int | None) -> NDArray[np.bool_]:
        """Once its last tuple has taken its place."""
        is_full: NDArray[np.bool_] = windows.hi - windows.lo == self.length
        return is_full
