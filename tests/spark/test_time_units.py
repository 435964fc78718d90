"""Integer event times in other units than microseconds, on every path of Spark."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow as wr
from tests.spark.arrivals import Arrivals, streamed
from tests.spark.results import aggregates, assert_same, by_window, expected, run_all
from windrow import functions as wf
from windrow.core import WindowModel, oracle
from windrow.core.durations import TimeUnit

pytestmark = pytest.mark.spark

SCHEMA = "k string, t bigint, seq bigint, x bigint"
ARROW = pa.schema([("k", pa.string()), *((name, pa.int64()) for name in ("t", "seq", "x"))])
FUNCTIONS: dict[str, Any] = {"n": wf.count(), "first": wf.first("x"), "last": wf.last("x")}
NUMBERS: dict[str, Any] = {"n": wf.count(), "total": wf.sum("x")}
UNITS: list[TimeUnit] = ["s", "ms", "ns"]


def rows_in(unit: TimeUnit) -> list[dict[str, Any]]:
    """Rows about 100 ms apart, in seconds only one; within a microsecond seq runs against t."""
    rng = np.random.default_rng(7)
    made = []
    for i in range(60):
        t = int(rng.integers(-40, 80))
        nanos = 3 - i % 4
        scaled = {"s": t, "ms": t * 100, "us": t * 100_000, "ns": t * 100_000_000 + nanos * 300}
        made.append({"k": "ab"[i % 2], "t": scaled[unit], "seq": i % 4, "x": i})
    return made


def in_microseconds(rows: list[dict[str, Any]], unit: TimeUnit) -> list[dict[str, Any]]:
    factor = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
    return [{**row, "t": row["t"] * factor // 1000} for row in rows]


def query_over(data: Any, unit: TimeUnit, model: WindowModel, functions: dict[str, Any]) -> Any:
    query = wr.stream(data).key_by("k").event_time("t", unit=unit).order_by("seq")
    return query.window(model, open_windows="drop").agg(**functions)


def wanted(unit: TimeUnit, model: WindowModel, functions: dict[str, Any]) -> Any:
    rows = in_microseconds(rows_in(unit), unit)
    how: Any = {"key": ("k",), "time": "t", "order_by": ["seq"], "open_windows": "drop"}
    return expected(oracle.windows(model, rows, **how), aggregates(functions))


MODELS: list[tuple[WindowModel, dict[str, Any]]] = [
    (wr.TimeWindow("2 s"), FUNCTIONS),
    (wr.TimeWindow("2 s", "500 ms"), NUMBERS),
    (wr.CountWindow(4, 3), FUNCTIONS),
]
"""One that Spark computes, one whose panes it computes, one for Python."""


def test_bounded_results_equal_the_oracles(spark: SparkSession) -> None:
    def run(unit: TimeUnit, model: WindowModel, functions: dict[str, Any]) -> None:
        df = spark.createDataFrame(pa.Table.from_pylist(rows_in(unit), ARROW))
        got = by_window(query_over(df, unit, model, functions).to_df(), ["k"])
        assert_same(got, wanted(unit, model, functions), f"{unit} {model}")

    run_all(partial(run, unit, *given) for unit in UNITS for given in MODELS)


@pytest.mark.parametrize("unit", UNITS)
def test_streamed_results_equal_the_oracles(
    spark: SparkSession, tmp_path: Path, unit: TimeUnit
) -> None:
    arrivals = Arrivals(tmp_path / "in", ARROW)
    arrivals.add(rows_in(unit))
    model = wr.TimeWindow("2 s", "500 ms")
    stream = arrivals.read(spark, SCHEMA)
    results, dropped = streamed(query_over(stream, unit, model, NUMBERS).to_df())
    assert_same(by_window(results, ["k"]), wanted(unit, model, NUMBERS), unit)
    assert dropped == 0


def test_times_beyond_64_bit_microseconds_are_refused(spark: SparkSession) -> None:
    df = spark.createDataFrame([("a", 0, 0, 0), ("a", 2**62, 1, 1)], SCHEMA)
    query = wr.stream(df).event_time("t", unit="ms").window(wr.TimeWindow("1 s"))
    with pytest.raises(Exception, match=f"64-bit microseconds; got {2**62}"):
        query.agg(n=wf.count()).to_df().collect()
