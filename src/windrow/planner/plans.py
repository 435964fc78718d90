"""Plans: the ways in which a query can run, and what they run on."""

from __future__ import annotations

from collections.abc import Iterator
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
from windrow.planner.load import Load

Native: TypeAlias = Literal["windows", "panes"]
"""What Spark's own aggregation computes: whole windows, or the partials of panes."""

STREAM_WORKERS = 8
"""How many workers share the state of a stream, on any number of cores.

State is spread over workers, not over cores, so that a stream can continue with more or fewer
cores. In the same number of partitions, eight workers cost a batch about as much as two. Each
partition of the state costs a batch a tenth of a second.
"""

_WINDOWS_PER_BATCH = 8
"""Batches of a window farm hold this many times the windows that overlap."""
_MOST_PER_BATCH = 65_536


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
    if not resources.is_stream:
        yield WinSeq()
    if n == 1:
        return
    if query.keys:
        yield KeyFarm(n)
        if not resources.is_stream:
            yield KeyFarm(min(4 * n, MOST_WORKERS))
    batch = min(_MOST_PER_BATCH, round(_WINDOWS_PER_BATCH * load.windows_per_row) + 1)
    for size in (1, batch) if load.windows_per_row > 1 else (1,):
        if query.model.context is Context.CF:
            yield WinFarm(n, batch=size)
        yield WinFarm(cores, workers="agnostic", batch=size)
    for last in (1, n):
        yield PaneFarm(n, last)
        yield WinMapReduce(n, last)
    yield PaneFarm(1, n)
    yield from _nested(query, n)


def _nested(query: WindowQuery, n: int) -> Iterator[Pattern]:
    """Farms of pane farms and of map-reduce, of as many workers as cores or of twice as many.

    All are of level 2, which has the fewest exchanges: Spark runs one stage after the other, so no
    other level is faster.
    """
    for total in (n, 2 * n):
        for outer in range(2, total):
            inner = total // outer
            if total % outer or total > MOST_WORKERS:
                continue
            for last in {1, inner}:
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
