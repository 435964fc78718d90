"""Queries that use all kernels, with every type that the kernels are compiled for."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.patterns import Pattern

Functions = dict[str, Any]

MODELS: list[WindowModel] = [
    wr.CountWindow(12, 5),
    wr.TimeWindow("30 ms", "12 ms"),
    wr.LandmarkWindow("60 ms", "20 ms"),
    wr.SlideByTupleWindow("25 ms", 7),
    wr.SlideByTimeWindow(9, "20 ms"),
    wr.DeltaWindow("gone", 20, 8),
    wr.DeltaWindow("gone", 20.0, 8.0),
    wr.DeltaWindow("gone_real", 20.0, 8.0),
    wr.SessionWindow("3 ms"),
]
OVERLAPPING = wr.CountWindow(100, 5)
"""Each row is in many windows."""
SPARSE = wr.TimeWindow("4 us", "2 us")
"""Most panes hold no row."""
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
KEYS: tuple[list[str], ...] = (["number"], ["some_key"], ["some_key", "number"], [])
NUMBERS: Functions = {"n": wf.count(), "total": wf.sum("whole"), "mean": wf.mean("real")}
"""Panes keep partial results of these, ..."""
SOME_ROWS: Functions = {
    "known": wf.count("real"),
    "total_money": wf.sum("money"),
    "mean_money": wf.mean("money"),
    "least_name": wf.min("name"),
    "most_whole": wf.max("whole"),
    "most_real": wf.max("real"),
    "var": wf.var("real"),
    "stddev": wf.stddev("whole"),
    "first": wf.first("whole"),
    "last": wf.last("name"),
    "arg_max": wf.arg_max("name", "real"),
    "arg_min": wf.arg_min("whole", "whole"),
    "distinct": wf.count_distinct("name"),
    "top": wf.top_k("real", 2),
    "top_whole": wf.top_k("whole", 2),
    "line": wf.linear_regression("real", "whole"),
    "skyline": wf.skyline("whole", "real"),
    "bar": wf.ohlc("real"),
}
"""... some of the rows for these, ..."""
ALL_ROWS: Functions = {
    "middle": wf.median("whole"),
    "p90": wf.quantile("real", 0.9),
    "middle_money": wf.median("money"),
    "mode": wf.mode("whole"),
    "mode_real": wf.mode("real"),
    "collected": wf.collect("name"),
    "fit": wf.polynomial_fit("real", "whole", 2),
}
"""... and all rows for these."""
FUNCTIONS = (NUMBERS, SOME_ROWS, NUMBERS | SOME_ROWS | ALL_ROWS)
REDUCIBLE = {"sum": wf.sum, "min": wf.min, "max": wf.max}


def reductions() -> Iterator[Functions]:
    """Every set of a sum and extremes, with and without nulls: each is reduced by its own loop."""
    for column in ("whole", "real", "some", "some_real"):
        for size in range(1 + len(REDUCIBLE)):
            for names in combinations(REDUCIBLE, size):
                yield {"n": wf.count(column)} | {name: REDUCIBLE[name](column) for name in names}
    yield {"n": wf.count()}


def predicates() -> Iterator[wr.Predicate]:
    """Equalities and bands of each type, and both."""
    bands = wr.band(whole=3), wr.band(real=0.5), wr.band(whole=3, real=0.5)
    equal = wr.equi("key"), wr.equi("number")
    yield from (*equal, *bands, *(equal[0] & band for band in bands))
    yield wr.band(real=0.5, gone_real=3.0)


def rows() -> pa.Table:
    """Rows out of order, with ties and nulls."""
    n = 300
    draw = np.random.default_rng(5)
    times = np.cumsum(draw.choice([0, 500, 1000, 9000], n)) + draw.integers(0, 3000, n)
    keys, whole, real = draw.choice(["a", "b", "c"], n), draw.integers(-99, 99, n), draw.random(n)
    is_null = draw.random(n) < 0.1
    return pa.table(
        {
            "key": pa.array(keys),
            "some_key": pa.array(keys, mask=is_null),
            "number": draw.choice([7, 1 << 40, -3], n),
            "time": times,
            "seq": np.arange(n),
            "gone": times // 2000,
            "gone_real": times / 2000,
            "whole": np.where(real < 0.5, whole, times // 2000),
            "real": real,
            "money": pa.array([Decimal(int(x)) / 4 for x in whole], pa.decimal128(20, 2)),
            "name": pa.array(draw.choice([*"pqrs"], n), mask=is_null),
            "some": pa.array(whole, mask=is_null),
            "some_real": pa.array(real, mask=is_null),
        }
    )
