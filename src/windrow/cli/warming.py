"""Runs queries of every kind, so that the kernels they use are compiled and kept."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow.cli import kernel_queries as queries
from windrow.core import WindowModel
from windrow.core.errors import WindrowError
from windrow.engine.in_process import WindowRunner
from windrow.engine.joins.in_process import JoinRunner
from windrow.kernels.integer_index import IntegerIndex
from windrow.kernels.short_integers import lengthened, shortened
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages

_BATCHES = 3
_DELAY = 4_000


def warm() -> Iterator[str]:
    """Run queries of every kind; tells which, after each."""
    table = queries.rows()
    for model in queries.MODELS:
        for pattern, functions in product(queries.PATTERNS, queries.FUNCTIONS):
            _run(table, model, pattern, functions)
        for keys in queries.KEYS:
            _run(table, model, wr.KeyFarm(2) if keys else wr.WinSeq(), queries.NUMBERS, keys)
        yield type(model).__name__
    _run(table, queries.OVERLAPPING, wr.KeyFarm(2), queries.SOME_ROWS)
    farms = wr.KeyFarm(2), wr.PaneFarm(2, 2, level=2)
    for model, functions in product((*queries.MODELS[:2], queries.SPARSE), queries.reductions()):
        for pattern in farms:
            _run(table, model, pattern, functions)
    yield "sums and extremes"
    _ranked(table)
    for predicate in queries.predicates():
        _join(table, predicate)
    yield "joins"
    _pack()
    _number_keys()


def _run(
    table: pa.Table,
    model: WindowModel,
    pattern: Pattern,
    functions: queries.Functions,
    keys: list[str] | None = None,
) -> None:
    query = wr.stream(table).event_time("time", _DELAY).order_by("seq", "real")
    keys = ["key"] if keys is None else keys
    query = query.key_by(*keys) if keys else query
    try:
        complete = query.window(model).agg(**functions).using(pattern).window_query()
    except WindrowError:  # a pattern does not take every model and every function
        return
    places: tuple[Any, ...] = ("process", "stream")
    for place in places:
        stages = window_stages(complete, pattern, place)
        runner, other = WindowRunner(complete, stages), WindowRunner(complete, stages)
        for batch in _batches(table):
            runner.push(batch)
            runner.advance(_watermark(batch))
        other.restore(runner.snapshot())
        other.finish()


def _join(table: pa.Table, on: wr.Predicate) -> None:
    """A join with and without a time."""
    for within, time in (("3 ms", "time"), (20, None)):
        join = wr.join(table, table, within=within, on=on, time=time, how="full_outer")
        runner, other = (JoinRunner(join.query, join.stages()) for _ in range(2))
        for batch in _batches(table):
            runner.push(batch, batch)
            runner.advance(_watermark(batch))
        other.restore(runner.snapshot())
        other.finish()


def _batches(table: pa.Table) -> list[pa.Table]:
    length = len(table) // _BATCHES
    return [table.slice(i * length, length) for i in range(_BATCHES)]


def _watermark(batch: pa.Table) -> int:
    return int(np.max(batch["time"])) - _DELAY


def _ranked(table: pa.Table) -> None:
    """Rows that come with their ranks."""
    ranked = wr.stream(table).rank_by("seq").window(wr.CountWindow(12, 5))
    ranked.agg(**queries.NUMBERS).using(wr.WinFarm(2)).collect()


def _pack() -> None:
    """Integers of every width, as they are sent and stored."""
    for greatest in (200, 60_000, 4_000_000_000):
        for values in (np.array([greatest, 0]), np.arange(600) * min(greatest, 100_000)):
            short = shortened(values)
            assert short is not None
            lengthened(*short)


def _number_keys() -> None:
    """Keys that were near each other and then are not."""
    index = IntegerIndex()
    for keys in (np.arange(9), np.array([1, 1 << 40])):
        index.codes(keys)
