"""Join predicates: bands, equalities, any function of two blocks, and all of them together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from windrow.core.durations import microseconds
from windrow.core.errors import WindrowError

Extent: TypeAlias = float | np.integer[Any] | np.floating[Any] | str | timedelta | np.timedelta64
"""How far apart two values may be: a number, or a duration for timestamps and dates."""
Block: TypeAlias = Mapping[str, NDArray[Any]]
Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Band:
    """``-below <= r.right - l.left <= above``; a duration is in microseconds."""

    left: str
    right: str
    below: float
    above: float
    is_duration: bool = False


@dataclass(frozen=True)
class Equi:
    """``l.left = r.right`` as in Spark: null equals nothing, NaN equals NaN."""

    left: str
    right: str


@dataclass(frozen=True)
class Theta:
    """Whatever a function of two blocks says."""

    function: Callable[[Block, Block], Any]

    @property
    def name(self) -> str:
        return getattr(self.function, "__qualname__", repr(self.function))


@dataclass(frozen=True)
class Predicate:
    """A conjunction; ``&`` adds to it."""

    equis: tuple[Equi, ...] = ()
    bands: tuple[Band, ...] = ()
    thetas: tuple[Theta, ...] = ()

    def __and__(self, other: object) -> Predicate:
        if not isinstance(other, Predicate):
            hint = 'for example wr.equi("symbol") & wr.band(price=0.01).'
            raise WindrowError("& joins two predicates", repr(other), hint)
        return Predicate(
            self.equis + other.equis, self.bands + other.bands, self.thetas + other.thetas
        )

    def __bool__(self) -> bool:
        raise WindrowError("predicates are combined with &", "and, or or not")

    def columns(self, side: int) -> list[str]:
        """The columns of the left (0) or the right (1) that equalities and bands compare."""
        named = [(e.left, e.right)[side] for e in self.equis]
        named += [(b.left, b.right)[side] for b in self.bands]
        return list(dict.fromkeys(named))

    def describe(self) -> str:
        """In words, for ``explain``."""
        parts = [f"l.{e.left} = r.{e.right}" for e in self.equis]
        parts += [
            f"{-b.below} <= r.{b.right} - l.{b.left} <= {b.above}" + (" us" * b.is_duration)
            for b in self.bands
        ]
        return " and ".join([*parts, *(f"{t.name}(l, r)" for t in self.thetas)])


def band(*pair: Any, **columns: Extent | tuple[Extent, Extent]) -> Predicate:
    """Values near each other: ``band(a=10)`` is ``|l.a - r.a| <= 10``.

    ``band(b=(5, 10))`` is ``-5 <= r.b - l.b <= 10``: the right value may be 5 below the left one
    and 10 above it. Several columns are all to be near. Where the sides name the column
    differently: ``band(("la", "ra"), 10)``. Timestamps and dates take durations:
    ``band(ts="1 s")``. Null and NaN are near nothing.

    >>> band(a=10, b=(5, 10)).describe()
    '-10 <= r.a - l.a <= 10 and -5 <= r.b - l.b <= 10'
    >>> band(("la", "ra"), 0.5).describe()
    '-0.5 <= r.ra - l.la <= 0.5'
    """
    bands = [_band(name, name, extent) for name, extent in columns.items()]
    if pair:
        if len(pair) != 2 or not _is_pair_of_names(pair[0]):
            hint = 'write band(a=10), or band(("left name", "right name"), 10).'
            raise WindrowError("band takes columns by name, or one pair of them", repr(pair), hint)
        bands.insert(0, _band(pair[0][0], pair[0][1], pair[1]))
    if not bands:
        raise WindrowError("band needs a column", hint="for example wr.band(price=0.01).")
    return Predicate(bands=tuple(bands))


def equi(*columns: str | tuple[str, str]) -> Predicate:
    """Equal values: ``equi("k")``, several columns, or pairs ``equi(("lk", "rk"))``.

    As in Spark, null equals nothing and NaN equals NaN.

    >>> equi("symbol", ("lv", "rv")).describe()
    'l.symbol = r.symbol and l.lv = r.rv'
    """
    if not columns:
        raise WindrowError("equi needs a column", hint='for example wr.equi("symbol").')
    equis = []
    for given in columns:
        pair = (given, given) if isinstance(given, str) else given
        if not _is_pair_of_names(pair):
            hint = 'write equi("k"), or equi(("left name", "right name")).'
            raise WindrowError("equi takes names of columns, or pairs of them", repr(given), hint)
        equis.append(Equi(*pair))
    return Predicate(equis=tuple(equis))


def theta(function: Callable[[Block, Block], Any]) -> Predicate:
    """Any vectorised function of candidate pairs.

    ``function(l, r)`` gets two equally long blocks: ``l["a"][i]`` and ``r["a"][i]`` are the values
    of candidate i, in read-only NumPy arrays. It returns a boolean mask of the candidates that
    match. Nulls are shown as NaN, NaT or None. It is called on blocks of bounded size, after
    equalities, bands and the window have chosen the candidates.

    >>> def is_above(l, r):
    ...     return r["price"] > l["price"]
    >>> theta(is_above).describe()
    'is_above(l, r)'
    """
    if not callable(function):
        hint = 'for example wr.theta(lambda l, r: l["a"] < r["a"]).'
        raise WindrowError("theta takes a function of two blocks", repr(function), hint)
    return Predicate(thetas=(Theta(function),))


def _is_pair_of_names(pair: object) -> bool:
    return isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(n, str) for n in pair)


def _band(left: str, right: str, extent: Any) -> Band:
    both = extent if isinstance(extent, tuple) else (extent, extent)
    if len(both) != 2:
        hint = f"write {left}=10, or {left}=(5, 10) for 5 below and 10 above."
        raise WindrowError("a band is one extent or a pair", f"{left}={extent!r}", hint)
    durations = [isinstance(e, str | timedelta | np.timedelta64) for e in both]
    below, above = (_extent(left, e, d) for e, d in zip(both, durations, strict=True))
    if -below > above:
        rule = "a band must hold something: -below <= above"
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
