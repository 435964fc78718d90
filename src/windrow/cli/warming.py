"""Runs queries of every kind, so that the kernels they use are compiled and kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from itertools import combinations, product
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.core.errors import WindrowError
from windrow.engine.in_process import WindowRunner
from windrow.engine.joins.in_process import JoinRunner
from windrow.engine.stages.runner import StageRunner
from windrow.kernels.short_integers import lengthened, shortened
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages

_ROWS, _BATCHES = 300, 3
MODELS: list[WindowModel] = [
    wr.CountWindow(12, 5),
    wr.TimeWindow("30 ms", "12 ms"),
    wr.LandmarkWindow("60 ms", "20 ms"),
    wr.SlideByTupleWindow("25 ms", 7),
    wr.SlideByTimeWindow(9, "20 ms"),
    wr.DeltaWindow("whole", 20, 8),
    wr.DeltaWindow("real", 20.0, 8.0),
    wr.SessionWindow("3 ms"),
]
PATTERNS: list[Pattern] = [
    wr.WinSeq(),
    wr.KeyFarm(2),
    wr.KeyFarm(2, hot_keys=["a"]),
    wr.WinFarm(2),
    wr.WinFarm(2, workers="agnostic"),
    wr.PaneFarm(2, 2, level=2),
    wr.WinMapReduce(2, 2, level=2),
    wr.WinFarm(2, wr.PaneFarm(2, 2)),
    wr.WinFarm(2, wr.WinMapReduce(2, 2)),
]
NUMBERS = ("whole", "real", "money")
EACH: dict[str, Any] = {
    "known": wf.count("real"),
    "least_name": wf.min("name"),
    "first": wf.first("whole"),
    "last": wf.last("name"),
    "arg_max": wf.arg_max("name", "real"),
    "arg_min": wf.arg_min("whole", "whole"),
    "mode": wf.mode("whole"),
    "mode_real": wf.mode("real"),
    "distinct": wf.count_distinct("name"),
    "collected": wf.collect("name"),
    "top": wf.top_k("real", 2),
    "top_whole": wf.top_k("whole", 2),
    "line": wf.linear_regression("real", "whole"),
    "fit": wf.polynomial_fit("real", "whole", 2),
    "skyline": wf.skyline("whole", "real"),
}
"""The functions that do not also come in :data:`OF_NUMBERS`."""
OF_NUMBERS = {
    "sum": wf.sum,
    "mean": wf.mean,
    "min": wf.min,
    "max": wf.max,
    "median": wf.median,
    "var": wf.var,
    "ohlc": wf.ohlc,
}
REDUCIBLE = ("sum", "min", "max")
"""Panes are reduced by another loop for each set of these."""


def rows() -> pa.Table:
    """Rows out of order, with ties and nulls."""
    n = _ROWS
    draw = np.random.default_rng(5)
    times = np.cumsum(draw.choice([0, 500, 1000, 9000], n)) + draw.integers(0, 3000, n)
    whole = draw.integers(-99, 99, n)
    is_null = draw.random(n) < 0.1
    return pa.table(
        {
            "key": pa.array(draw.choice(["a", "b", "c"], n)),
            "number": draw.choice([7, 1 << 40, -3], n),
            "time": times,
            "seq": np.arange(n),
            "rank": np.arange(n),
            "whole": np.where(draw.random(n) < 0.5, whole, times // 2000),
            "real": draw.normal(0, 9, n),
            "money": pa.array([Decimal(int(x)) / 4 for x in whole], pa.decimal128(20, 2)),
            "name": pa.array(draw.choice([*"pqrs"], n), mask=is_null),
            "some": pa.array(whole, mask=is_null),
            "some_real": pa.array(whole / 3, mask=is_null),
        }
    )


def warm() -> Iterator[str]:
    """Run queries of every kind; tells which, after each."""
    table = rows()
    for model in MODELS:
        for pattern in PATTERNS:
            for functions in (_some(), _all()):
                _run(table, model, pattern, functions, ["key"])
        _run(table, model, wr.KeyFarm(2), _some(), ["number"])
        _run(table, model, wr.KeyFarm(2), _some(), ["key", "number"])
        _run(table, model, wr.WinSeq(), _some(), [])
        yield type(model).__name__
    for functions in _reductions():
        for model, pattern in product(MODELS[:2], (wr.KeyFarm(2), wr.PaneFarm(2, 2, level=2))):
            _run(table, model, pattern, functions, ["key"])
    yield "sums"
    _ranked(table)
    _join(table)
    yield "joins"
    _pack()


def _some() -> dict[str, Any]:
    return {"n": wf.count(), "total": wf.sum("whole"), "mean": wf.mean("real")}


def _all() -> dict[str, Any]:
    numbers = {
        f"{name}_{column}": function(column)
        for (name, function), column in product(OF_NUMBERS.items(), NUMBERS)
        if (name, column) != ("var", "money")
    }
    return EACH | numbers


def _reductions() -> Iterator[dict[str, Any]]:
    """Every set of a sum and extremes, of numbers with and without nulls."""
    for column in ("whole", "real", "some", "some_real"):
        for size in range(1 + len(REDUCIBLE)):
            for names in combinations(REDUCIBLE, size):
                yield {"n": wf.count(column)} | {name: OF_NUMBERS[name](column) for name in names}
    yield {"n": wf.count()}


def _run(
    table: pa.Table,
    model: WindowModel,
    pattern: Pattern,
    functions: dict[str, Any],
    keys: list[str],
) -> None:
    query = wr.stream(table).event_time("time", "4 ms").order_by("seq")
    query = query.key_by(*keys) if keys else query
    with suppress(WindrowError):  # a pattern does not take every model and every function
        complete = query.window(model).agg(**functions).using(pattern).window_query()
        for place in ("process", "stream"):
            stages = window_stages(complete, pattern, place)
            _stream(WindowRunner(complete, stages), WindowRunner(complete, stages), table)


def _stream(runner: StageRunner, other: StageRunner, table: pa.Table) -> None:
    """Batch by batch, and on with the stored state."""
    for batch in _batches(table):
        _push(runner, batch)
        runner.advance(int(np.max(batch["time"])) - 4_000)
    other.restore(runner.snapshot())
    other.finish()


def _batches(table: pa.Table) -> list[pa.Table]:
    length = len(table) // _BATCHES
    return [table.slice(i * length, length) for i in range(_BATCHES)]


def _push(runner: StageRunner, batch: pa.Table) -> None:
    if isinstance(runner, JoinRunner):
        runner.push(batch, batch)
    elif isinstance(runner, WindowRunner):
        runner.push(batch)


def _ranked(table: pa.Table) -> None:
    """Rows that come with their ranks."""
    ranked = wr.stream(table).rank_by("rank").window(MODELS[0])
    ranked.agg(**_some()).using(wr.WinFarm(2)).collect()


def _join(table: pa.Table) -> None:
    """Joins by equalities and bands of each type, with and without a time."""
    bands = [wr.band(whole=3), wr.band(real=0.5), wr.band(whole=3, real=0.5)]
    equal = [wr.equi("key"), wr.equi("number")]
    both = [equal[0] & band for band in bands]
    for on in (*equal, *bands, *both):
        for within, time in (("3 ms", "time"), (20, None)):
            join = wr.join(table, table, within=within, on=on, time=time, how="full_outer")
            first, second = (JoinRunner(join.query, join.stages()) for _ in range(2))
            _stream(first, second, table)


def _pack() -> None:
    """Integers of every width, as they are sent and stored."""
    for greatest in (200, 60_000, 4_000_000_000):
        for values in (np.array([greatest, 0]), np.arange(600) * min(greatest, 100_000)):
            short = shortened(values)
            assert short is not None
            lengthened(*short)
