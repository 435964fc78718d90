"""Delta-based windows: length and slide are changes of an attribute."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from windrow.core.calls import checks_construction
from windrow.core.checks import number
from windrow.core.errors import WindrowError, received
from windrow.core.models.model import Axis, Context, WindowModel, call
from windrow.core.types import FLOATS, INTEGERS


@checks_construction
@dataclass(frozen=True, init=False)
class DeltaWindow(WindowModel):
    """The rows within the last ``length`` of an attribute d, each time d grows by over ``slide``.

    The row t_0 is the first trigger; the next is the first row with d(t) - d(last trigger) > slide.
    E(w) = { t : d(t_r) - length <= d(t) < d(t_r) }, t_r is trigger number w, counted from 0.
    The attribute must not decrease within a key.

    >>> DeltaWindow("d", length=3, slide=1).bound_type({"d": "int"}, None)
    'bigint'
    """

    on: str
    length: float
    slide: float

    context = Context.FCA
    axis = Axis.ATTRIBUTE
    needs_event_time = False
    ranks_tuples = True

    def __init__(self, on: str, length: float, slide: float) -> None:
        object.__setattr__(self, "on", on)
        object.__setattr__(self, "length", _positive_change(length, "DeltaWindow length"))
        object.__setattr__(self, "slide", _positive_change(slide, "DeltaWindow slide"))

    def __repr__(self) -> str:
        return call(self, self.on, length=self.length, slide=self.slide)

    @property
    def overlap(self) -> float:
        return max(1.0, self.length / self.slide)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.on,)

    def with_columns(self, names: tuple[str, ...]) -> DeltaWindow:
        return DeltaWindow(names[0], self.length, self.slide)

    def check_types(self, types: Mapping[str, str]) -> None:
        kind = types[self.on]
        if kind not in (*INTEGERS, *FLOATS):
            rule = "DeltaWindow needs a numeric attribute"
            raise WindrowError(rule, f"{self.on!r} of {kind}", "cast it first.")

    def bound_type(self, types: Mapping[str, str], time: str | None) -> str:
        is_whole = isinstance(self.length, int) and types[self.on] in INTEGERS
        return "bigint" if is_whole else "double"


def _positive_change(value: object, what: str) -> float:
    """A positive finite number; integers stay integers."""
    change = number(value)
    if change is None or not 0 < change < math.inf:
        rule = f"{what} must be a positive number: a change of the attribute"
        raise WindrowError(rule, received(what, value))
    if isinstance(change, int) and change >= 2**62:
        rule = f"{what} must be less than 2**62 if it is an integer"
        raise WindrowError(rule, received(what, value), "write it as a float.")
    return change
