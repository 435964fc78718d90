"""Plans: the ways in which a query can run, and what they run on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from windrow.core.checks import MOST_WORKERS
from windrow.core.errors import WindrowError
from windrow.core.models import Context
from windrow.engine.window_query import WindowQuery
from windrow.patterns import (
    KeyFarm,
    PaneFarm,
    Pattern,
    WinFarm,
    WinMapReduce,
    WinSeq,
    check_pattern,
)
from windrow.planner import machine
from windrow.planner.constants import Constants
from windrow.planner.cost import multicast
from windrow.planner.load import Load

Native: TypeAlias = Literal["windows", "panes"]
"""What Spark's own aggregation computes: whole windows, or the partials of panes."""

STREAM_WORKERS = 8
"""How many workers share the state of a stream, on any number of cores.

State is spread over workers, not over cores, so that a stream can continue with more or fewer
cores. In the same number of partitions, eight workers cost a batch about as much as two. Each
partition of the state costs a batch about 0.05 s.
"""

_WINDOWS_PER_BATCH = 8
"""Batches of a window farm hold this many times the windows that overlap."""
_MOST_PER_BATCH = 65_536
_BATCHES_EACH = 4
"""Batches, or windows, of the most frequent key per worker: of fewer, one could get too many.

Then its windows are split into panes or parts, too.
"""
_FEWER_COPIES = 0.9
"""The share of the copies of rows that are still sent in batches that are worth it."""
_LEAST_HOT = 0.25
"""The least part of a worker's fair share of the rows from which it may be worth to split a key."""


@dataclass(frozen=True)
class Resources:
    """What a query runs on."""

    cores: int
    is_stream: bool = False
    reads_files: bool = False
    """Whether tasks read the rows themselves, so that Spark hands none over."""
    native: Native | None = None
    """What Spark's own aggregation could compute of the query."""
    constants: Constants = field(default_factory=machine.on_spark)

    @property
    def workers(self) -> int:
        """How many workers share the state."""
        return STREAM_WORKERS if self.is_stream else self.cores


@dataclass(frozen=True)
class Plan:
    """A pattern, or Spark's own aggregation in its place."""

    pattern: Pattern
    native: Native | None = None

    def describe(self) -> str:
        if self.native is None:
            return repr(self.pattern)
        return "windows in Spark" if self.native == "windows" else "panes in Spark"


def plans_for(query: WindowQuery, resources: Resources, load: Load) -> Iterator[Plan]:
    """Every plan in Python that is legal and may be the best one."""
    seen = set()
    for pattern in _patterns(query, resources, load):
        if pattern not in seen and _is_legal(pattern, query):
            seen.add(pattern)
            yield Plan(pattern)


def _patterns(query: WindowQuery, resources: Resources, load: Load) -> Iterator[Pattern]:
    n, cores = resources.workers, resources.cores
    if not resources.is_stream or not query.keys:
        yield WinSeq()
    if n == 1:
        return
    if query.keys:
        yield KeyFarm(n)
        if not resources.is_stream:
            yield KeyFarm(min(4 * n, MOST_WORKERS))
    batch = _batch(load, n)
    for size in dict.fromkeys((1, batch)):
        farms = []
        if query.model.context is Context.CF:
            farms.append(WinFarm(n, batch=size))
        if size == 1 or resources.is_stream:
            # Over bounded rows, windows are sent in as few batches as there are tasks.
            farms.append(WinFarm(cores, workers="agnostic", batch=size))
        # All other keys stay with one worker each, so these come before the farms of all keys.
        yield from _splits(load, n, farms)
        if size == 1 and load.windows_of_hot_key < _BATCHES_EACH * n:
            pieces = (kind(n, last) for last in (1, n) for kind in (PaneFarm, WinMapReduce))
            yield from _splits(load, n, pieces)
        yield from farms
    for last in (1, n):
        yield PaneFarm(n, last)
        yield WinMapReduce(n, last)
    yield PaneFarm(1, n)
    yield from _nested(query, n, is_stream=resources.is_stream)


def _splits(load: Load, n: int, patterns: Iterable[Pattern]) -> Iterator[Pattern]:
    """Key farms that split hot keys by these patterns, if any key is frequent enough."""
    if hot := [key for key, share in load.hot_keys if share * n > _LEAST_HOT]:
        yield from (KeyFarm(n, hot_keys=hot, hot=pattern) for pattern in patterns)


def _batch(load: Load, n: int) -> int:
    """Batches of windows with which a farm of n workers sends fewer copies of rows; 1 if none do.

    They are powers of two, so that they are alike for similar loads.
    """
    wanted = _WINDOWS_PER_BATCH * load.windows_per_row
    batch = 1 << int(math.log2(max(1.0, min(_MOST_PER_BATCH, wanted))))
    while batch > 1 and load.windows_of_hot_key < _BATCHES_EACH * n * batch:
        batch //= 2
    alone, together = (multicast(n, load.windows_per_row, size) for size in (1, batch))
    return batch if together < _FEWER_COPIES * alone else 1


def _nested(query: WindowQuery, n: int, *, is_stream: bool) -> Iterator[Pattern]:
    """Farms of pane farms and of map-reduce, of as many workers as cores or of twice as many.

    On streams they are as many as share the state anyway, and one combines what they send.

    All are of level 2, which has the fewest exchanges: Spark runs one stage after the other, so no
    other level is faster.
    """
    for total in (n,) if is_stream else (n, 2 * n):
        for outer in range(2, total):
            inner = total // outer
            if total % outer or total > MOST_WORKERS:
                continue
            for last in (1,) if is_stream else dict.fromkeys((1, inner)):
                yield WinFarm(outer, PaneFarm(inner, last))
                if query.keys:
                    yield KeyFarm(outer, PaneFarm(inner, last))
                    yield KeyFarm(outer, WinMapReduce(inner, last))


def _is_legal(pattern: Pattern, query: WindowQuery) -> bool:
    try:
        check_pattern(pattern, query.model, query.computation)
    except WindrowError:
        return False
    return True
