"""The band term: values near each other."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Self, TypeAlias

import numpy as np
import pyarrow as pa

from windrow.core.calls import checks_call
from windrow.core.durations import microseconds
from windrow.core.errors import WindrowError
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.ddl import type_name
from windrow.engine.joins.attributes import (
    Mask,
    incomparable,
    is_temporal,
    number_kind,
    numbers,
    pair_of_types,
)
from windrow.engine.joins.candidates import Candidates
from windrow.engine.joins.terms.predicate import Predicate, is_pair_of_names
from windrow.engine.joins.terms.term import Term
from windrow.kernels.columns import Column

Extent: TypeAlias = float | np.integer[Any] | np.floating[Any] | str | timedelta | np.timedelta64
"""How far apart two values may be: a number, or a duration for timestamps and dates."""

_INT64 = np.iinfo(np.int64)
_SLACK = 2.0**-50
"""More than the rounding error of a sum or a difference, relative to its terms."""
_WIDTH = 8
"""Buckets are this many times as wide as the band, so about one right tuple in eight is sent to
two buckets."""
_FURTHEST = 2.0**40
"""All buckets beyond this number are one: floats there are too coarse to tell neighbours apart."""


@dataclass(frozen=True)
class Band(Term):
    """``-below <= r.right - l.left <= above``; durations are in microseconds."""

    left: str
    right: str
    below: float
    above: float
    is_duration: bool = False
    kind: pa.DataType = field(default=None, compare=False, repr=False)
    """The type, int64 or float64, in which both columns are subtracted."""

    narrows = "range"

    def columns(self, side: int) -> tuple[str, ...]:
        return ((self.left, self.right)[side],)

    def describe(self) -> str:
        unit = " us" * self.is_duration
        return f"{-self.below} <= r.{self.right} - l.{self.left} <= {self.above}{unit}"

    def identity(self) -> dict[str, Any]:
        """The parameters; infinities are strings, because JSON has none."""
        given = super().identity()
        return {name: str(v) if v in (math.inf, -math.inf) else v for name, v in given.items()}

    def bind(self, left: pa.Schema, right: pa.Schema) -> Self:
        types = pair_of_types((left, right), (self.left, self.right), "band")
        if (kind := number_kind(*types)) is None:
            rule = "band compares numbers, timestamps or dates"
            raise incomparable(rule, (self.left, self.right), types)
        own = types[0]
        if self.is_duration and kind == pa.float64():
            rule = "only timestamps, dates or integer microseconds can have a duration as band"
            raise WindrowError(rule, f"{self.left!r} of {type_name(own)}", "write a number.")
        if is_temporal(own) and any(isinstance(e, float) for e in (self.below, self.above)):
            rule = "a band of timestamps or dates must be a duration"
            raise WindrowError(rule, f"{self.left}={self.above!r}", 'for example "1 s".')
        return replace(self, kind=kind)

    @property
    def is_exact(self) -> bool:
        """Whether the bounds are exact: neither rounded nor clipped to int64."""
        return bool(self.kind == pa.int64()) and min(self.below, self.above) >= 0

    def attribute(self, side: int, tuples: pa.Table) -> tuple[Column, Mask | None]:
        return numbers(tuples[self.columns(side)[0]], self.kind)

    def bounds(self, side: int, values: Column) -> tuple[Column, Column]:
        """Exact for integers within int64; slightly wider for floats, because ``r - l`` rounds."""
        below, above = (self.below, self.above) if side == 0 else (self.above, self.below)
        if values.dtype.kind == "i":
            return _shifted(values, -_whole(below)), _shifted(values, _whole(above))
        with np.errstate(invalid="ignore", over="ignore"):
            lo = values - below - _SLACK * (np.abs(values) + abs(below))
            hi = values + above + _SLACK * (np.abs(values) + abs(above))
        return np.where(np.isnan(lo), -np.inf, lo), np.where(np.isnan(hi), np.inf, hi)

    def verify(self, left: Candidates, right: Candidates) -> Mask:
        x, y = left.attribute, right.attribute
        if x.dtype.kind == "i":
            lo, hi = self.bounds(0, x)
            mask = (lo <= y) & (y <= hi)
            if self.below < 0:
                mask &= x <= _INT64.max + _whole(self.below)
            if self.above < 0:
                mask &= x >= _INT64.min - _whole(self.above)
            return mask
        with np.errstate(invalid="ignore", over="ignore"):
            difference = y - x
        return (-self.below <= difference) & (difference <= self.above)

    @property
    def width(self) -> float | None:
        """The width of a bucket; None if the band is too narrow or too wide for buckets."""
        width = _WIDTH * (self.below + self.above)
        return width if 0 < width < 2.0**60 else None

    @property
    def partitioned_by(self) -> str | None:
        return None if self.width is None else f"bucket(l.{self.left}, {self.width})"

    @property
    def has_copies(self) -> bool:
        return True

    def partition(self, side: int, tuples: pa.Table) -> list[Int64s]:
        """The bucket of a left tuple, or the one or two that a right tuple's band touches."""
        values, valid = self.attribute(side, tuples)
        # Nulls and values that are not finite match nothing, so any bucket will do.
        is_finite = np.isfinite(values) if valid is None else valid & np.isfinite(values)
        values = np.where(is_finite, values, 0)
        assert self.width is not None
        if side == 0:
            return [buckets(values, self.width)]
        lo, hi = (buckets(bound, self.width) for bound in self.bounds(1, values))
        return [np.minimum(lo + k, hi) for k in range(int((hi - lo).max(initial=0)) + 1)]


@checks_call
def band(
    *pair: tuple[str, str] | Extent | tuple[Extent, Extent],
    **columns: Extent | tuple[Extent, Extent],
) -> Predicate:
    """Values near each other: ``band(a=10)`` is ``|l.a - r.a| <= 10``.

    ``band(b=(5, 10))`` is ``-5 <= r.b - l.b <= 10``: the right value may be up to 5 below the left
    one and up to 10 above it. If several columns are given, all must be near. Write
    ``band(("la", "ra"), 10)`` if the two sides name the column differently. Timestamps and dates
    take durations: ``band(ts="1 s")``. Null and NaN are near nothing.

    >>> band(a=10, b=(5, 10)).describe()
    '-10 <= r.a - l.a <= 10 and -5 <= r.b - l.b <= 10'
    >>> band(("la", "ra"), 0.5).describe()
    '-0.5 <= r.ra - l.la <= 0.5'
    """
    terms = [_band(name, name, extent) for name, extent in columns.items()]
    if pair:
        if len(pair) != 2 or not is_pair_of_names(names := pair[0]):
            hint = 'write band(a=10), or band(("left name", "right name"), 10).'
            raise WindrowError("band takes columns by name, or one pair of them", repr(pair), hint)
        terms.insert(0, _band(*names, pair[1]))
    if not terms:
        raise WindrowError("band needs a column", hint="for example wr.band(price=0.01).")
    return Predicate(tuple(terms))


def buckets(values: Column, width: float) -> Int64s:
    """The bucket of each value; it never decreases as the value increases.

    >>> buckets(np.array([-1, 0, 79, 80]), 80)
    array([-1,  0,  0,  1])
    """
    if values.dtype.kind == "i":
        return np.asarray(values // np.int64(np.ceil(width)), np.int64)
    return np.floor(np.clip(values / width, -_FURTHEST, _FURTHEST)).astype(np.int64)


def _band(left: str, right: str, extent: Any) -> Band:
    both = extent if isinstance(extent, tuple) else (extent, extent)
    if len(both) != 2:
        hint = f"write {left}=10, or {left}=(5, 10) for 5 below and 10 above."
        raise WindrowError("a band is one extent or a pair", f"{left}={extent!r}", hint)
    durations = [isinstance(e, str | timedelta | np.timedelta64) for e in both]
    below, above = (_extent(left, e, d) for e, d in zip(both, durations, strict=True))
    if -below > above:
        rule = "a band must not be empty: it needs -below <= above"
        raise WindrowError(rule, f"{left}={extent!r}")
    return Band(left, right, below, above, any(durations))


def _extent(name: str, extent: Any, is_duration: bool) -> float:
    if is_duration:
        return microseconds(extent, f"band {name}")
    is_number = isinstance(extent, int | float | np.integer | np.floating)
    if not is_number or isinstance(extent, bool) or math.isnan(extent):
        hint = 'write a number, or a duration such as "1 s" for timestamps.'
        raise WindrowError("a band's extent must be a number", f"{name}={extent!r}", hint)
    return int(extent) if isinstance(extent, int | np.integer) else float(extent)


def _whole(extent: float) -> int:
    """The extent of a band of integers, rounded down to an integer."""
    if np.isinf(extent):
        return 2**64 if extent > 0 else -(2**64)
    return int(np.floor(extent)) if isinstance(extent, float) else extent


def _shifted(values: Int64s, by: int) -> Int64s:
    """Integers plus a number, clipped to int64."""
    if by > _INT64.max or by < _INT64.min:
        return np.full(len(values), _INT64.max if by > 0 else _INT64.min)
    if by >= 0:
        return np.where(values > _INT64.max - by, _INT64.max, values + by)
    return np.where(values < _INT64.min - by, _INT64.min, values + by)
