"""Time windows are exactly Spark's `window()`, sessions exactly its `session_window()`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from windrow import functions as wf

pytestmark = pytest.mark.spark


def random_table(seed: int, tuples: int = 400) -> pa.Table:
    """Times in bursts around 1970, negative ones too, with ties and gaps."""
    random = np.random.default_rng(seed)
    gaps = random.choice([0, 1, 250, 999, 1000, 1001, 90_000], tuples)
    times = np.cumsum(gaps) - 5_000_000
    random.shuffle(times)
    return pa.table(
        {
            "k": pa.array(random.choice(["a", "b", "c"], tuples)),
            "ts": pa.array(times.astype("datetime64[us]")).cast(pa.timestamp("us", "UTC")),
            "x": pa.array(random.integers(-99, 99, tuples)),
        }
    )


def rows_of(df: DataFrame) -> list[tuple[Any, ...]]:
    aggregated = df.groupBy("k", "w").agg(F.count("*"), F.sum("x"))
    bounds = [F.unix_micros(f"w.{edge}") for edge in ("start", "end")]
    collected = aggregated.select("k", *bounds, "count(1)", "sum(x)").collect()
    return sorted(tuple(row) for row in collected)


def windrow_rows(table: pa.Table, model: Any) -> list[tuple[Any, ...]]:
    query = wr.stream(table).key_by("k").event_time("ts").window(model)
    result = query.agg(n=wf.count(), s=wf.sum("x")).collect()
    bounds = [result[c].cast(pa.int64()) for c in ("window_start", "window_end")]
    columns = [result["k"], *bounds, result["n"], result["s"]]
    return sorted(zip(*(c.to_pylist() for c in columns), strict=True))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("length", "slide", "origin"),
    [
        ("10 milliseconds", "10 milliseconds", "0 milliseconds"),
        ("10 milliseconds", "4 milliseconds", "0 milliseconds"),
        ("1 second", "300 milliseconds", "70 milliseconds"),
        ("7 milliseconds", "7 milliseconds", "-3 milliseconds"),
    ],
)
def test_time_windows(spark: SparkSession, seed: int, length: str, slide: str, origin: str) -> None:
    table = random_table(seed)
    start = origin if not origin.startswith("-") else "4 milliseconds"
    df = spark.createDataFrame(table).withColumn("w", F.window("ts", length, slide, start))
    assert windrow_rows(table, wr.TimeWindow(length, slide, origin)) == rows_of(df)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("gap", ["1 milliseconds", "250 microseconds", "90 milliseconds"])
def test_sessions(spark: SparkSession, seed: int, gap: str) -> None:
    table = random_table(seed)
    df = spark.createDataFrame(table)
    grouped = df.groupBy("k", F.session_window("ts", gap).alias("w"))
    aggregated = grouped.agg(F.count("*").alias("n"), F.sum("x").alias("s"))
    bounds = [F.unix_micros(f"w.{edge}") for edge in ("start", "end")]
    expected = sorted(tuple(r) for r in aggregated.select("k", *bounds, "n", "s").collect())
    assert windrow_rows(table, wr.SessionWindow(gap)) == expected
