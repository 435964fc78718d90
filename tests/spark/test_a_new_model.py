"""Window models that are none of the library's, on Spark: bounded and streaming.

Their modules are pickled by value, as a notebook's is: Spark's workers have never imported them,
and nothing is registered there.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession

import windrow as wr
from tests import punctuated, shifts
from tests.punctuated import PunctuatedWindow, definition
from tests.shifts import ShiftWindow
from tests.spark.arrivals import Arrivals, streamed
from tests.spark.results import assert_same, by_window, run_all
from windrow import functions as wf
from windrow.core import oracle
from windrow.patterns import Pattern

pytestmark = pytest.mark.spark

MODEL = PunctuatedWindow("flag")
DELAY = 20_000
ARROW = pa.schema([("k", pa.string()), ("t", pa.int64()), ("flag", pa.bool_()), ("i", pa.int64())])
SCHEMA = "k string, t bigint, flag boolean, i bigint"
PATTERNS: list[Pattern | None] = [
    None,
    wr.WinSeq(),
    wr.KeyFarm(2),
    wr.WinFarm(2, workers="agnostic", level=2),
    wr.WinMapReduce(2, 2, level=2),
]


@pytest.fixture(scope="module", autouse=True)
def by_value() -> Iterator[None]:
    for module in (punctuated, shifts):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    yield
    for module in (punctuated, shifts):
        cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]


def tuples(n: int) -> list[dict[str, Any]]:
    """In order of arrival, disordered within the delay, with ties and null keys and flags."""
    draw = np.random.default_rng(7)
    times = np.cumsum(draw.choice([0, 1, 700, 1000, 5000], n)) + 1_000_000
    order = np.argsort(times + draw.integers(0, DELAY + 1, n), kind="stable")
    keys: list[Any] = ["a", "b", None]
    flags: list[Any] = [True, False, False, None]
    return [
        {"k": keys[draw.integers(3)], "t": t, "flag": flags[draw.integers(4)], "i": i}
        for i, t in enumerate(times[order].tolist())
    ]


def query_of(df: Any, open_windows: Any = "emit") -> wr.Query:
    stream = wr.stream(df).key_by("k").event_time("t", DELAY).order_by("i")
    return stream.window(MODEL, open_windows).agg(n=wf.count(), seen=wf.collect("i"))


def expected(rows: list[dict[str, Any]], emits_open: bool) -> Any:
    how: Any = {"key": ("k",), "time": "t", "order_by": ("i",), "delay": DELAY}
    windows = definition(MODEL, rows, emits_open=emits_open, **how)
    return {w: [[len(own), [r["i"] for r in own]]] for w, own in windows.items()}


@pytest.mark.parametrize("open_windows", ["emit", "drop"])
@pytest.mark.parametrize("pattern", PATTERNS, ids=str)
def test_bounded(spark: SparkSession, pattern: Pattern | None, open_windows: str) -> None:
    rows = tuples(150)
    df = spark.createDataFrame(pa.Table.from_pylist(rows, ARROW)).repartition(2)
    query = query_of(df, open_windows)
    found = (query if pattern is None else query.using(pattern)).to_df()
    assert found.schema["window_start"].dataType.simpleString() == "bigint"
    assert_same(by_window(found, ["k"]), expected(rows, open_windows == "emit"), pattern)


@pytest.mark.parametrize("pattern", [None, wr.WinFarm(2, workers="agnostic")], ids=str)
def test_streaming(spark: SparkSession, pattern: Pattern | None, tmp_path: Path) -> None:
    rows, arrivals = tuples(150), Arrivals(tmp_path / "in", ARROW)
    for begin in range(0, len(rows), 50):
        arrivals.add(rows[begin : begin + 50])
    query = query_of(arrivals.read(spark, SCHEMA))
    found, dropped = streamed((query if pattern is None else query.using(pattern)).to_df())
    assert_same(by_window(found, ["k"]), expected(rows, emits_open=False), pattern)
    assert dropped == sum(row["flag"] is None for row in rows)


SHIFTS = ShiftWindow((10_000, 30_000, 50_000), (40_000, 44_000, 60_000), 80_000)
"""The first two overlap, and there is a gap at night."""
ON_PANES: list[tuple[Pattern | None, Any]] = [
    (None, wf.sum("i")),
    (wr.KeyFarm(2, wr.PaneFarm(2, 1)), wf.collect("i")),
    (wr.WinFarm(2, wr.PaneFarm(1, 1)), wf.last("i")),
    (wr.WinFarm(2), wf.collect("i")),
    (wr.WinMapReduce(2, 2), wf.sum("i")),
]


def on_shifts(df: Any, pattern: Pattern | None, function: Any, open_windows: Any) -> wr.Query:
    stream = wr.stream(df).key_by("k").event_time("t", DELAY).order_by("i")
    query = stream.window(SHIFTS, open_windows).agg(n=wf.count(), found=function)
    return query if pattern is None else query.using(pattern)


def expected_on_shifts(rows: list[dict[str, Any]], function: Any, emits_open: bool) -> Any:
    windows = shifts.definition(SHIFTS, rows, key=("k",), delay=DELAY, emits_open=emits_open)
    return {w: [[len(own), oracle.aggregate(function, own)]] for w, own in windows.items()}


def test_bounded_on_the_time_axis_with_panes(spark: SparkSession) -> None:
    rows = tuples(150)
    df = spark.createDataFrame(pa.Table.from_pylist(rows, ARROW)).repartition(2)

    def check(pattern: Pattern | None, function: Any, open_windows: str) -> None:
        found = on_shifts(df, pattern, function, open_windows).to_df()
        wanted = expected_on_shifts(rows, function, open_windows == "emit")
        assert_same(by_window(found, ["k"]), wanted, (pattern, open_windows))

    run_all(
        functools.partial(check, *case, open_windows)
        for case in ON_PANES
        for open_windows in ("emit", "drop")
    )


def test_streaming_on_the_time_axis_with_panes(spark: SparkSession, tmp_path: Path) -> None:
    rows, arrivals = tuples(150), Arrivals(tmp_path / "in", ARROW)
    for begin in range(0, len(rows), 50):
        arrivals.add(rows[begin : begin + 50])

    def check(pattern: Pattern | None, function: Any) -> None:
        query = on_shifts(arrivals.read(spark, SCHEMA), pattern, function, "emit")
        found, dropped = streamed(query.to_df())
        wanted = expected_on_shifts(rows, function, emits_open=False)
        assert_same(by_window(found, ["k"]), wanted, pattern)
        assert dropped == 0

    run_all(functools.partial(check, *case) for case in ON_PANES[:3])
