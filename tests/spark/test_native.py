"""What Spark itself computes is what the Python workers compute."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyspark
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.spark.results import assert_same, by_window, run_all
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.spark.native import native_part
from windrow.spark.release import is_at_least

pytestmark = pytest.mark.spark

REDUCED: dict[str, Any] = {
    "n": wf.count(),
    "known": wf.count("x"),
    "total": wf.sum("x"),
    "sum_y": wf.sum("y"),
    "mean": wf.mean("y"),
    "mean_x": wf.mean("x"),
    "least": wf.min("x"),
    "most": wf.max("y"),
    "small": wf.max("b"),
}
ALL: dict[str, Any] = {
    **REDUCED,
    "sum_m": wf.sum("m"),
    "mean_m": wf.mean("m"),
    "sum_w": wf.sum("w"),
    "mean_w": wf.mean("w"),
    "least_w": wf.min("w"),
    "var_w": wf.var("w"),
    "sum_v": wf.sum("v"),
    "mean_v": wf.mean("v"),
    "first_v": wf.first("v"),
    "least_s": wf.min("s"),
    "most_m": wf.max("m"),
    "var": wf.var("y"),
    "stddev": wf.stddev("x"),
    "p10": wf.quantile("y", 0.1),
    "median": wf.median("x"),
    "median_m": wf.median("m"),
    "mode": wf.mode("x"),
    "mode_s": wf.mode("s"),
    "distinct": wf.count_distinct("s"),
    "pairs": wf.count_distinct("s", "x"),
    "first": wf.first("s"),
    "last": wf.last("x"),
}
OF_THIS_SPARK = {n: f for n, f in ALL.items() if is_at_least(f.native_since, pyspark.__version__)}
"""Those that the installed release computes as Windrow does."""
NOT_OVERLAPPING: list[WindowModel] = [
    wr.TimeWindow("10 ms"),
    wr.TimeWindow("7 ms", origin=-3_000),
    wr.TimeWindow("4 ms", "9 ms", origin=1_000),
]
_KEEPING = ("median", "p10", "mode", "distinct", "pairs")
OF_FEW_VALUES = {n: f for n, f in OF_THIS_SPARK.items() if not n.startswith(_KEEPING)}
"""Those for which Spark need not keep all values."""
OF_PANES: list[WindowModel] = [
    wr.TimeWindow("10 ms", "4 ms"),
    wr.TimeWindow("9 ms", "6 ms", origin=-2_000),
    wr.TimeWindow("5 ms", "8 ms", origin=500),
    wr.LandmarkWindow("20 ms", "5 ms", origin=3_000),
]


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    """Ties, gaps and negative times; null keys, times and values; NaN and both zeros."""
    draw = np.random.default_rng(5)
    rows = []
    for i in range(300):
        value = [None, float("nan"), -0.0, 0.0][i % 4] if i % 10 == 0 else float(draw.normal())
        rows.append(
            (
                [None, "a", "b", "b"][draw.integers(4)],
                None if i % 50 == 7 else int(draw.integers(-40, 60)) * 1000 + [0, 0, 999][i % 3],
                int(draw.integers(3)),
                None if i % 8 == 0 else int(draw.integers(-4, 4)),
                None if i % 13 == 0 else float(draw.normal()),
                value,
                None if i % 6 == 0 else "pqr"[draw.integers(3)],
                None if i % 5 == 0 else int(draw.integers(-128, 128)),
            )
        )
    columns = "k string, t bigint, seq int, x bigint, y double, z double, s string, b tinyint"
    made = spark.createDataFrame(spark.sparkContext.parallelize(rows, 4), columns)
    great = "cast('-12345678901234567890123456789012' as decimal(38,0))"
    return made.selectExpr(
        "*",
        "cast(y as decimal(12,4)) as m",
        f"cast({great} + cast(y * 1e6 as decimal(18,0)) as decimal(38,0)) as w",
        "cast(y / 7 as decimal(38,18)) + cast(1e-18 as decimal(38,18)) * x as v",
    ).cache()


def query(df: DataFrame, model: WindowModel, functions: dict[str, Any], **how: Any) -> wr.Query:
    base = wr.stream(df).key_by("k").event_time("t", how.pop("delay", 0)).order_by("seq")
    return base.window(model, **how).agg(**functions)


def assert_python_gives_the_same(given: wr.Query) -> None:
    got = by_window(replace(given, prefers_native=True).to_df(), ["k"])
    assert_same(got, by_window(given.using(wr.KeyFarm(2)).to_df(), ["k"]), given)


@pytest.mark.parametrize("partial", ["emit", "drop"])
def test_native_windows_equal_those_of_python(
    df: DataFrame, partial: Literal["emit", "drop"]
) -> None:
    how: dict[str, Any] = {"open_windows": partial, "delay": "15 ms"}
    queries = [query(df, model, ALL, **how) for model in NOT_OVERLAPPING]
    run_all(functools.partial(assert_python_gives_the_same, q) for q in queries)


@pytest.mark.parametrize("partial", ["emit", "drop"])
def test_windows_over_native_panes_equal_those_of_python(
    df: DataFrame, partial: Literal["emit", "drop"]
) -> None:
    how: dict[str, Any] = {"open_windows": partial, "delay": "15 ms"}
    queries = [query(df, model, REDUCED, **how) for model in OF_PANES]
    run_all(functools.partial(assert_python_gives_the_same, q) for q in queries)


def test_pane_of_nulls_alone_does_not_count(spark: SparkSession) -> None:
    rows = [(0, -5, -5.0), (4, None, None), (8, 5, 5.0), (12, None, None)]
    df = spark.createDataFrame(rows, "t bigint, x int, y double")
    extremes = {f"{f.__name__}_{c}": f(c) for c in "xy" for f in (wf.min, wf.max)}
    query = wr.stream(df).event_time("t").window(wr.TimeWindow(8, 4)).agg(**extremes)
    found = [tuple(r)[3:] for r in query.ordered().to_df().collect()]
    low, high = (-5, -5, -5.0, -5.0), (5, 5, 5.0, 5.0)
    assert found == [low, low, high, high, (None, None, None, None)]


@pytest.mark.parametrize("model", [NOT_OVERLAPPING[0], OF_PANES[0]], ids=repr)
def test_nan_and_zeros_count_alike(df: DataFrame, model: WindowModel) -> None:
    functions: dict[str, Any] = {"sum": wf.sum("z"), "least": wf.min("z"), "most": wf.max("z")}
    if model is NOT_OVERLAPPING[0]:
        functions |= {
            "var": wf.var("z"),
            "p90": wf.quantile("z", 0.9),
            "mode": wf.mode("z"),
            "distinct": wf.count_distinct("z"),
            "first": wf.first("z"),
        }
    assert_python_gives_the_same(query(df, model, functions))


def test_sums_of_floats_that_spark_rounds_have_the_stated_error(spark: SparkSession) -> None:
    """At most n * 2**-53 times the sum of the magnitudes, as docs/functions.md says."""
    draw = np.random.default_rng(7)
    windows = [(draw.normal(size=200) * 10.0 ** draw.integers(0, 16, 200)).tolist() for _ in "abc"]
    rows = [(1000 * i, x) for i, xs in enumerate(windows) for x in [*xs, *(-x for x in xs), 1.0]]
    df = spark.createDataFrame(rows, "t bigint, x double").repartition(3)
    for model, part in (
        (wr.TimeWindow("1 ms"), "windows"),
        (wr.TimeWindow("2 ms", "1 ms"), "panes"),
    ):
        summed = wr.stream(df).event_time("t").window(model).agg(s=wf.sum("x"), mean=wf.mean("x"))
        assert native_part(summed.window_query()) == part
        found = {r["window_id"]: r for r in summed.to_df().collect()}
        for id, row in found.items():
            held = [i for i in range(3) if id <= i < id + model.length // 1000]
            xs = [x for i in held for x in windows[i]]
            n, size = 2 * len(xs) + len(held), 2 * math.fsum(map(abs, xs)) + len(held)
            assert abs(row["s"] - len(held)) <= n * 2.0**-53 * size
            assert abs(row["mean"] * n - len(held)) <= (n + 2) * 2.0**-53 * size


def test_infinities_count_alike(spark: SparkSession) -> None:
    inf, nan = float("inf"), float("nan")
    windows = [
        [-inf, 1.0, 2.0],
        [1.0, 2.0, inf],
        [-inf, inf],
        [-inf, -inf, 1.0, 5.0],
        [inf, inf, 1.0],
        [1.0, 3.0, nan],
        [-inf, nan],
        [inf],
        [-1.7e308, 1.7e308],
    ]
    rows = [("a", 1000 * i, x, 0) for i, values in enumerate(windows) for x in values]
    df = spark.createDataFrame(rows, "k string, t bigint, x double, seq int")
    functions: dict[str, Any] = {f"p{q}": wf.quantile("x", q / 100) for q in (10, 25, 50, 90)}
    for function in (wf.sum, wf.mean, wf.median, wf.min, wf.max, wf.mode, wf.count_distinct):
        functions[function.__name__] = function("x")
    assert_python_gives_the_same(query(df, wr.TimeWindow("1 ms"), functions))
    finite = query(
        df.filter("x > -1e308 or x = -double('inf')"),
        wr.TimeWindow("1 ms"),
        {"var": wf.var("x"), "stddev": wf.stddev("x")},
    )
    assert_python_gives_the_same(finite)


def test_decimals_that_need_too_many_digits_are_an_error_whatever_the_settings(
    spark: SparkSession,
) -> None:
    df = spark.range(2).selectExpr(
        "'a' as k", "id as t", "0 as seq", "cast(repeat('9', 38) as decimal(38,0)) as x"
    )
    total, mean = (query(df, wr.TimeWindow("1 ms"), {"r": f("x")}) for f in (wf.sum, wf.mean))
    was = spark.conf.get("spark.sql.ansi.enabled") or "true"
    try:
        for is_ansi, given in (
            ("true", total),
            ("false", total),
            ("false", mean),
            ("false", total.using(wr.WinSeq())),
        ):
            spark.conf.set("spark.sql.ansi.enabled", is_ansi)
            with pytest.raises(Exception, match="needs more digits than its type has"):
                given.to_df().collect()
    finally:
        spark.conf.set("spark.sql.ansi.enabled", was)


@pytest.mark.parametrize("model", [NOT_OVERLAPPING[0], OF_PANES[0]], ids=repr)
def test_sums_beyond_64_bits_are_an_error_in_spark(spark: SparkSession, model: WindowModel) -> None:
    rows = [("a", 1000 * i, 2**62) for i in range(12)]
    df = spark.createDataFrame(rows, "k string, t bigint, x bigint").withColumn("seq", F.lit(0))
    assert_python_gives_the_same(query(df, model, {"mean": wf.mean("x")}))
    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
        query(df, model, {"total": wf.sum("x")}).to_df().collect()


@pytest.mark.parametrize("model", [NOT_OVERLAPPING[0], OF_PANES[0]], ids=repr)
def test_empty_input_gives_no_rows(df: DataFrame, model: WindowModel) -> None:
    for partial in ("emit", "drop"):
        assert query(df.limit(0), model, REDUCED, open_windows=partial).to_df().collect() == []


def test_windows_without_a_key(df: DataFrame) -> None:
    for model in (NOT_OVERLAPPING[1], OF_PANES[1], OF_PANES[3]):
        given = wr.stream(df).event_time("t").window(model).agg(**REDUCED)
        wanted = by_window(given.using(wr.WinSeq()).to_df())
        assert_same(by_window(given.to_df()), wanted, model)


@pytest.mark.parametrize(
    ("model", "functions", "says", "has_python"),
    [
        (NOT_OVERLAPPING[0], OF_FEW_VALUES, "wholly in Spark, as groupBy(key, window)", False),
        (NOT_OVERLAPPING[2], OF_FEW_VALUES, "wholly in Spark, as groupBy(key, window)", False),
        (OF_PANES[0], REDUCED, "panes in Spark, as groupBy(key, pane)", True),
        (OF_PANES[3], REDUCED, "panes in Spark, as groupBy(key, pane)", True),
        (OF_PANES[0], ALL, "in Python, on rows packed as Arrow", True),
        (wr.SessionWindow("1 ms"), REDUCED, "in Python, on rows packed as Arrow", True),
        (NOT_OVERLAPPING[0], {"m": wf.median("x")}, "in Python, on rows packed as Arrow", True),
        (NOT_OVERLAPPING[0], {"p": wf.collect("x")}, "in Python, on rows packed as Arrow", True),
        (
            NOT_OVERLAPPING[0],
            {"l": wf.last("x", ignore_nulls=True)},
            "in Python, on rows packed as Arrow",
            True,
        ),
    ],
)
def test_explain_says_what_runs_where_and_sparks_plan_agrees(
    df: DataFrame,
    capsys: pytest.CaptureFixture[str],
    model: WindowModel,
    functions: dict[str, Any],
    says: str,
    has_python: bool,
) -> None:
    given = query(df, model, functions)
    given.explain()
    said = capsys.readouterr().out
    assert says in said
    lines = {line.split()[0] for line in said.splitlines()}
    assert ("pattern" in lines) is ("in Python, on rows" in says)
    assert ("stages" in lines) is has_python
    given.to_df().explain()
    plan = capsys.readouterr().out
    assert ("MapInArrow" in plan) is has_python
    assert has_python or "Python" not in plan


def test_pattern_as_given_is_never_compiled_away(
    df: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    given = query(df, NOT_OVERLAPPING[0], REDUCED).using(wr.KeyFarm(2))
    given.explain(mode="spark")
    said = capsys.readouterr().out
    assert "KeyFarm(2): as given" in said
    assert "in Python, on rows packed as Arrow" in said
    assert "MapInArrow" in said
