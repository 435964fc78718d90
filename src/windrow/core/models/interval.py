"""Windows that are intervals of time or rank, and their formulas.

The formulas are plain functions of integers or of arrays of integers; the kernels compile them.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np

from windrow.core.models.model import Axis, Int64s, MappedWindow, WindowModel

Number = TypeVar("Number", int, Int64s)


def last_ended(position: Number, length: int, slide: int, origin: int) -> Number:
    """The last window that ends at or before ``position``; the next one is a tuple's first."""
    return (position - origin - length) // slide


def last_id(position: Number, slide: int, every: int, origin: int) -> Number:
    """The last window of a tuple at ``position``; less than its first if it is in no window."""
    if every > 0:
        return ((position - origin) // every + 1) * (every // slide)
    return (position - origin) // slide


def bounds_of(
    id: Number, length: int, slide: int, every: int, origin: int
) -> tuple[Number, Number]:
    """Where window ``id`` starts and ends."""
    end = origin + id * slide + length
    if every > 0:
        return origin + (id * slide - 1) // every * every, end
    return end - length, end


class IntervalWindow(MappedWindow):
    """Windows [start, end) with ``end = origin + w*slide + length``.

    If ``every`` is 0 they start ``length`` before their end. If it is positive they start at the
    last landmark ``origin + k*every`` before their end, and ``length`` is 0.
    """

    length: int
    slide: int
    every: int
    origin: int

    @property
    def pane_length(self) -> int:
        return math.gcd(self.length, self.slide)

    def pane_span(self, n: int) -> int:
        # Landmarks cut panes apart at places of their own.
        return 1 if self.every else math.gcd(self.length, n * self.slide) // self.pane_length

    @property
    def shares_tuples(self) -> bool:
        return max(self.length, self.every) > self.slide

    def mapping(self, position: Int64s) -> tuple[Int64s, Int64s]:
        """M over times or ranks; over ranks there is no window before 0."""
        first = last_ended(position, self.length, self.slide, self.origin) + 1
        last = last_id(position, self.slide, self.every, self.origin)
        return np.maximum(first, 0) if self.ranks_tuples else first, last

    def expected_rows(self, rate: float) -> tuple[float, float]:
        # A window that starts at a landmark has half of the rows between two, and half a slide.
        length = (self.every + self.slide) / 2 if self.every else self.length
        per_unit = 1.0 if self.ranks_tuples else rate
        return length * per_unit, self.slide * per_unit

    def bounds(self, ids: Int64s) -> tuple[Int64s, Int64s]:
        return bounds_of(ids, self.length, self.slide, self.every, self.origin)

    def closed_at(self, time: int) -> int:
        if self.ranks_tuples:
            return super().closed_at(time)
        last = last_id(time, self.slide, self.every, self.origin)
        return max(bounds_of(last, self.length, self.slide, self.every, self.origin)[1], time + 1)


def over_ranks(model: WindowModel) -> IntervalWindow | None:
    """The model, if its windows are intervals of ranks from 0 on: then ranks alone place rows."""
    if not isinstance(model, IntervalWindow) or model.axis is not Axis.RANK:
        return None
    return model if model.origin == model.every == 0 else None
