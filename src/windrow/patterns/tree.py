"""The pattern tree: what runs in parallel, and which patterns can be nested."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, TypeAlias, TypeGuard, get_args

from windrow.core.calls import checks_construction
from windrow.core.checks import one_of, positive_count, positive_workers, whole
from windrow.core.errors import WindrowError, received

Level: TypeAlias = Literal[0, 1, 2]
Workers: TypeAlias = Literal["active", "agnostic"]


class Pattern:
    """A parallel pattern (De Matteis 2016, section 3; Mencagli 2019, section IV)."""

    @property
    def name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        """The shortest call that makes the pattern."""
        return f"{self.name}({', '.join(_arguments(self))})"


@checks_construction
@dataclass(frozen=True, repr=False)
class WinSeq(Pattern):
    """One worker computes every window."""


_ALONE = WinSeq()


@checks_construction
@dataclass(frozen=True, repr=False)
class PaneFarm(Pattern):
    """``plq`` workers compute panes of gcd(length, slide), ``wlq`` workers windows over panes.

    Active workers are sent the rows of their panes, which are theirs in turn. Agnostic workers are
    sent whole panes, or so many small tasks stand for them that free cores take the next ones.
    """

    plq: int
    wlq: int
    level: Level = field(default=2, kw_only=True)
    workers: Workers = field(default="active", kw_only=True)

    def __post_init__(self) -> None:
        _check_degree(self, "plq")
        _check_degree(self, "wlq")
        _check_level(self, self.level)
        one_of(self.workers, get_args(Workers), "PaneFarm workers")


@checks_construction
@dataclass(frozen=True, repr=False)
class WinMapReduce(Pattern):
    """The rows of each window are dealt into ``map`` parts, which ``reduce`` workers combine."""

    map: int
    reduce: int
    level: Level = field(default=2, kw_only=True)

    def __post_init__(self) -> None:
        _check_degree(self, "map")
        _check_degree(self, "reduce")
        _check_level(self, self.level)


@checks_construction
@dataclass(frozen=True, repr=False)
class KeyFarm(Pattern):
    """Each key belongs to one of ``n`` workers; only ``hot_keys`` are split.

    A hot key is a value of the key column or, with several key columns, a tuple of values. ``hot``
    says what it is split into, and who computes that. Windows are computed by executors, by default
    n of them, or by the workers of this farm with ``hot=WinFarm(n)``. Panes and parts of windows
    are computed by a ``PaneFarm`` or a ``WinMapReduce`` beside the n workers.
    """

    n: int
    inner: Pattern = _ALONE
    level: Level = field(default=2, kw_only=True)
    hot_keys: Collection[Any] = field(default=(), kw_only=True, hash=False)
    hot: Pattern | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _check_degree(self, "n")
        _check_inner(self, self.inner)
        _check_level(self, self.level)
        object.__setattr__(self, "hot_keys", _hot_keys(self.hot_keys))
        if self.hot_keys and self.hot is None:
            object.__setattr__(self, "hot", WinFarm(self.n, workers="agnostic"))
        if self.hot is not None:
            _check_hot(self, self.hot)


@checks_construction
@dataclass(frozen=True, repr=False)
class WinFarm(Pattern):
    """Each window belongs to one of ``n`` workers, even among the windows of one key.

    Active workers receive the rows of their windows and manage the windows themselves. Agnostic
    workers receive whole windows from a windower. ``batch`` consecutive windows go to the same
    worker, which receives the rows they share only once.
    """

    n: int
    inner: Pattern = _ALONE
    workers: Workers = "active"
    batch: int = field(default=1, kw_only=True)
    level: Level = field(default=2, kw_only=True)

    def __post_init__(self) -> None:
        _check_degree(self, "n")
        object.__setattr__(self, "batch", positive_count(self.batch, "WinFarm batch", "windows"))
        _check_inner(self, self.inner)
        _check_level(self, self.level)
        one_of(self.workers, get_args(Workers), "WinFarm workers")
        if self.workers == "agnostic" and isinstance(self.inner, PaneFarm):
            raise WindrowError(
                "agnostic WinFarm workers receive whole windows, which share no panes",
                f"inner={self.inner!r}",
                'use workers="active", or another inner pattern.',
            )


def splits_windows(hot: Pattern) -> TypeGuard[WinFarm]:
    """Whether hot keys are split between windows, not into panes or parts."""
    return isinstance(hot, WinFarm) and isinstance(hot.inner, WinSeq)


def _arguments(pattern: Any) -> Iterator[str]:
    """What a call must name: the degrees, and what is not as it is by default."""
    for parameter in fields(pattern):
        value = getattr(pattern, parameter.name)
        if parameter.default is MISSING or (parameter.name == "inner" and value != _ALONE):
            yield repr(value)
        elif value != parameter.default:
            said = json.dumps(value) if isinstance(value, str) else repr(value)
            yield f"{parameter.name}={said}"


def _hot_keys(keys: object) -> tuple[Any, ...]:
    """The keys, each once."""
    if not isinstance(keys, tuple | list | set | frozenset):
        raise WindrowError(
            "KeyFarm hot_keys must be a list of keys",
            received("hot_keys", keys),
            'for example hot_keys=["ACME"], or hot_keys=[("ACME", "NYSE")] for two key columns.',
        )
    once: list[Any] = []
    for given in keys:
        key = tuple(given) if isinstance(given, list) else given
        if key not in once:
            once.append(key)
    return tuple(once)


def _check_hot(pattern: KeyFarm, hot: object) -> None:
    """Raise unless the hot keys can be split in this way."""
    if not pattern.hot_keys:
        hint = 'for example hot_keys=["ACME"].'
        raise WindrowError("KeyFarm hot needs hot_keys", received("hot", hot), hint)
    if not isinstance(hot, PaneFarm | WinMapReduce | WinFarm):
        hint = f'for example hot=wr.WinFarm({pattern.n}, workers="agnostic").'
        rule = "KeyFarm hot must be a WinFarm, a PaneFarm or a WinMapReduce"
        raise WindrowError(rule, received("hot", hot), hint)
    if isinstance(hot, WinFarm) and hot.workers == "active" and not splits_windows(hot):
        raise WindrowError(
            "active workers of hot keys are those of the KeyFarm, which nest no pattern",
            received("hot", hot),
            f"use hot={hot.inner!r}.",
        )
    if not isinstance(pattern.inner, WinSeq):
        raise WindrowError(
            "hot keys are split by a KeyFarm of WinSeq",
            f"inner={pattern.inner!r}",
            f"leave out hot_keys, or use KeyFarm({pattern.n}, hot_keys=...).",
        )
    if isinstance(hot, WinFarm) and hot.workers == "active" and hot.n != pattern.n:
        raise WindrowError(
            "active workers of hot keys are those of the KeyFarm, so there are as many",
            f"KeyFarm of {pattern.n}, hot={hot!r}",
            f"use hot=wr.WinFarm({pattern.n}).",
        )


def _check_degree(pattern: Pattern, field_name: str) -> None:
    degree = positive_workers(getattr(pattern, field_name), f"{pattern.name} {field_name}")
    object.__setattr__(pattern, field_name, degree)


def _check_level(pattern: Pattern, level: object) -> None:
    if whole(level) not in (0, 1, 2):
        raise WindrowError(f"{pattern.name} level must be 0, 1 or 2", received("level", level))
    object.__setattr__(pattern, "level", whole(level))


def _check_inner(outer: Pattern, inner: object) -> None:
    if isinstance(inner, WinSeq | PaneFarm | WinMapReduce):
        return
    if isinstance(inner, Pattern):
        raise WindrowError(
            f"{outer.name} can only nest WinSeq, PaneFarm or WinMapReduce",
            f"inner={inner!r}",
            "one KeyFarm spreads keys, one WinFarm spreads windows, over any number of workers.",
        )
    raise WindrowError(
        f"{outer.name} inner must be a pattern",
        received("inner", inner),
        f"for example {outer.name}(4, wr.PaneFarm(2, 3)).",
    )
