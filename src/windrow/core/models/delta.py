"""Delta-based windows: length and slide are changes of an attribute."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windrow.core.errors import WindrowError, received
from windrow.core.models.model import Axis, Bounds, Context, Extents, Int64s, WindowModel


@dataclass(frozen=True, init=False)
class DeltaWindow(WindowModel):
    """The tuples within ``length`` of an attribute's change, every change by more than ``slide``.

    t_0 triggers; then the first tuple with d(t) - d(last trigger) > slide. Triggers count from 0:
    E(w) = { t : d(t_r) - length <= d(t) < d(t_r) }, t_r the trigger of w. The attribute must not
    decrease within a key.

    >>> DeltaWindow("d", length=3, slide=1).extents(np.array([0, 1, 2, 2, 5])).start
    array([-1,  2])
    """

    on: str
    length: float
    slide: float

    context = Context.FCA
    bounds = Bounds.ATTRIBUTE
    needs_event_time = False
    ranks_tuples = True

    def __init__(self, on: str, length: float, slide: float) -> None:
        object.__setattr__(self, "on", on)
        object.__setattr__(self, "length", _positive_change(length, "DeltaWindow length"))
        object.__setattr__(self, "slide", _positive_change(slide, "DeltaWindow slide"))

    def triggers(self, axis: Axis) -> Int64s:
        """Positions of the tuples that trigger a window, in O(triggers * log tuples)."""
        positions: list[int] = []
        position = 0
        while position < len(axis):
            positions.append(position)
            position = self._next_trigger(axis, position)
        return np.array(positions, np.int64)

    def _next_trigger(self, axis: Axis, position: int) -> int:
        """The first tuple with d(t) - d(t_r) > slide.

        The search finds it up to the rounding of d(t_r) + slide, the steps settle that.
        """
        last = axis[position]
        position = int(np.searchsorted(axis, last + self.slide, side="right"))
        while position > 0 and axis[position - 1] - last > self.slide:
            position -= 1
        while position < len(axis) and not axis[position] - last > self.slide:
            position += 1
        return position

    def extents(self, axis: Axis) -> Extents:
        falls = np.flatnonzero(axis[1:] < axis[:-1])
        if len(falls):
            i = int(falls[0])
            raise WindrowError(
                f"DeltaWindow needs an attribute that never decreases within a key: {self.on!r}",
                f"{axis[i + 1]} after {axis[i]}",
                "order the tuples with event_time() or order_by(), or add a key.",
            )
        end = axis[self.triggers(axis)]
        start = end - self.length
        lo, hi = np.searchsorted(axis, start), np.searchsorted(axis, end)
        return Extents.of(np.arange(len(end)), start, end, lo, hi)

    def fired(self, windows: Extents, watermark: int | None) -> NDArray[np.bool_]:
        """Once its trigger has taken its place."""
        return np.ones(len(windows), bool)


def _positive_change(value: object, what: str) -> float:
    """A positive finite number, kept as int where it is one."""
    rule = f"{what} must be a positive number, a change of the attribute"
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise WindrowError(rule, received(what, value))
    if not (value > 0 and math.isfinite(value)):
        raise WindrowError(rule, received(what, value))
    return int(value) if isinstance(value, int | np.integer) else float(value)
