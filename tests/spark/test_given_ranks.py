"""Rows that come with their ranks, on Spark: bounded, and on streams in any order."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import windrow as wr
from tests.spark.arrivals import Arrivals, streamed
from tests.spark.results import ByWindow, aggregates, assert_same, by_window, expected, run_all
from windrow import functions as wf
from windrow.core import oracle
from windrow.patterns import Pattern

pytestmark = pytest.mark.spark

MODEL = wr.CountWindow(6, 4)
FUNCTIONS: dict[str, Any] = {"total": wf.sum("x"), "all": wf.collect("x")}
SUMS: dict[str, Any] = {"total": wf.sum("x")}
PATTERNS: list[tuple[Pattern, dict[str, Any]]] = [
    (wr.KeyFarm(2), FUNCTIONS),
    (wr.KeyFarm(2), SUMS),
    (wr.WinFarm(3), FUNCTIONS),
    (wr.KeyFarm(2, hot_keys=["a"], hot=wr.WinFarm(2)), FUNCTIONS),
    (wr.PaneFarm(2, 1), FUNCTIONS),
]
SCHEMA = pa.schema([("k", pa.string()), ("seq", pa.int32()), ("x", pa.int64())])


def table() -> pa.Table:
    """Rows of a frequent key and others in random order."""
    draw = np.random.default_rng(8)
    keys = draw.choice(["a", "a", "b", "c"], 120)
    seq = [int((keys[:i] == key).sum()) for i, key in enumerate(keys)]
    rows = pa.table({"k": keys, "seq": pa.array(seq, pa.int32()), "x": np.arange(120) * 7 % 31})
    return rows.cast(SCHEMA).take(draw.permutation(120))


def check(df: DataFrame, pattern: Pattern, functions: dict[str, Any], open_windows: Any) -> None:
    query = wr.stream(df).key_by("k").rank_by("seq").window(MODEL, open_windows)
    results = query.agg(**functions).using(pattern).to_df()
    got: ByWindow = by_window(streamed(results)[0] if df.isStreaming else results, ["k"])
    rows = table().sort_by("seq").to_pylist()
    windows = oracle.windows(MODEL, rows, key=["k"], open_windows=open_windows)
    assert_same(got, expected(windows, aggregates(functions)), f"{pattern}, {[*functions]}")


def test_bounded(spark: SparkSession) -> None:
    df = spark.createDataFrame(table()).repartition(3).cache()
    run_all([functools.partial(check, df, *each, "emit") for each in PATTERNS])


def test_streams(spark: SparkSession, tmp_path: Path) -> None:
    arrivals, rows = Arrivals(tmp_path, SCHEMA), table()
    for first in range(0, len(rows), 40):
        arrivals.add(rows.slice(first, 40).to_pylist())
    df = arrivals.read(spark, "k string, seq int, x bigint")
    run_all([functools.partial(check, df, *each, "drop") for each in PATTERNS])
