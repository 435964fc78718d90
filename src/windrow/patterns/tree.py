"""The pattern tree: who computes what in parallel, and which nestings are legal."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from windrow.core.errors import WindrowError, received

Level: TypeAlias = Literal[0, 1, 2]
Workers: TypeAlias = Literal["active", "agnostic"]


class Pattern:
    """A parallel pattern of the papers."""

    @property
    def name(self) -> str:
        return type(self).__name__


@dataclass(frozen=True)
class WinSeq(Pattern):
    """One worker computes every window."""


@dataclass(frozen=True)
class PaneFarm(Pattern):
    """Panes of gcd(length, slide) on ``plq`` workers, then windows over panes on ``wlq``."""

    plq: int
    wlq: int
    level: Level = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        _check_degree(self, "plq")
        _check_degree(self, "wlq")
        _check_level(self, self.level)


@dataclass(frozen=True)
class WinMapReduce(Pattern):
    """Each window in ``map`` parts, dealt tuple by tuple, put together by ``reduce`` workers."""

    map: int
    reduce: int
    level: Level = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        _check_degree(self, "map")
        _check_degree(self, "reduce")
        _check_level(self, self.level)


@dataclass(frozen=True)
class KeyFarm(Pattern):
    """Each key on one of ``n`` workers."""

    n: int
    inner: Pattern = field(default_factory=WinSeq)
    level: Level = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        _check_degree(self, "n")
        _check_inner(self, self.inner)
        _check_level(self, self.level)


@dataclass(frozen=True)
class WinFarm(Pattern):
    """Each window on one of ``n`` workers, even windows of one key.

    Active workers are sent the tuples of their windows and manage them; agnostic workers are sent
    whole windows by an emitter that does. ``batch`` consecutive windows go to one worker, which
    is sent the tuples they share once.
    """

    n: int
    inner: Pattern = field(default_factory=WinSeq)
    workers: Workers = "active"
    batch: int = field(default=1, kw_only=True)
    level: Level = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        _check_degree(self, "n")
        _check_degree(self, "batch", "windows")
        _check_inner(self, self.inner)
        _check_level(self, self.level)
        if self.workers not in ("active", "agnostic"):
            rule = 'WinFarm workers must be "active" or "agnostic"'
            raise WindrowError(rule, received("workers", self.workers))


def _check_degree(pattern: Pattern, field_name: str, of: str = "workers") -> None:
    value = getattr(pattern, field_name)
    try:
        degree = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        degree = 0
    if degree < 1:
        raise WindrowError(
            f"{pattern.name} {field_name} must be a positive number of {of}",
            received(field_name, value),
        )
    object.__setattr__(pattern, field_name, degree)


def _check_level(pattern: Pattern, level: object) -> None:
    if isinstance(level, bool) or level not in (0, 1, 2):
        raise WindrowError(f"{pattern.name} level must be 0, 1 or 2", received("level", level))


def _check_inner(outer: Pattern, inner: object) -> None:
    if isinstance(inner, WinSeq | PaneFarm | WinMapReduce):
        return
    if isinstance(inner, Pattern):
        raise WindrowError(
            f"{outer.name} may nest WinSeq, PaneFarm or WinMapReduce",
            f"inner={inner!r}",
            "windows of one key are already spread by WinFarm alone, keys by KeyFarm alone.",
        )
    raise WindrowError(
        f"{outer.name} inner must be a pattern",
        received("inner", inner),
        f"for example {outer.name}(4, wr.PaneFarm(2, 3)).",
    )
