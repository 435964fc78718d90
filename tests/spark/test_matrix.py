"""On Spark, too, the results are the oracle's, whatever the pattern.

Every pattern with every kind of function it takes, over every other window model, and over the
rest in the campaign; levels, keys, delays and open windows vary from one to the next.
"""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession

import windrow as wr
from tests.spark.matrix import (
    FUNCTIONS,
    KINDS,
    MODELS,
    PATTERNS,
    SCHEMA,
    Case,
    cases,
    compute,
    naive,
    takes,
)
from tests.spark.results import ByWindow, aggregates, assert_same, by_window, expected, run_all
from windrow.core import WindowModel, oracle
from windrow.patterns import Pattern

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    """Disordered tuples with ties, gaps, negative times; null keys, times, values, deltas."""
    draw = np.random.default_rng(11)
    n = 240
    times = np.cumsum(draw.choice([0, 0, 1, 700, 1000, 2000, 9000], n)) - 150_000
    made = []
    for i, place in enumerate(draw.permutation(n).tolist()):
        t = int(times[place])
        made.append(
            {
                "i": i,
                "k": [None, "a", "a", "b", "c"][draw.integers(5)],
                "t": None if i % 40 == 3 else t,
                "seq": int(draw.integers(3)),
                "x": None if i % 9 == 0 else int(draw.integers(-9, 9)),
                "y": None if i % 11 == 0 else float(draw.normal()),
                "s": None if i % 7 == 0 else "pqrs"[draw.integers(4)],
                "d": None if i % 31 == 5 else t // 2000,
            }
        )
    return made


@pytest.fixture(scope="module")
def df(spark: SparkSession, rows: list[dict[str, Any]]) -> DataFrame:
    """The tuples over four partitions, in order of arrival."""
    parts = spark.sparkContext.parallelize([tuple(r.values()) for r in rows], 4)
    return spark.createDataFrame(parts, SCHEMA).cache()


def run(df: DataFrame, rows: list[Any], model: WindowModel, pattern: Pattern, kind: str) -> None:
    """Run the query on Spark and compare with the oracle; what else varies is drawn."""
    draw = random.Random(f"{model} {pattern} {kind}")
    keys = draw.choice([["k"], ["k"], ["k"] if isinstance(pattern, wr.KeyFarm) else []])
    open_windows: Any = draw.choice(["emit", "drop"])
    how: dict[str, Any] = {"order_by": ["seq"]}
    query = wr.stream(df).order_by("seq")
    if not isinstance(model, wr.CountWindow) or draw.random() < 0.7:
        how |= {"time": "t", "delay": draw.choice([0, 40_000])}
        query = query.event_time("t", how["delay"])
    if keys:
        query = query.key_by(*keys)
    query = compute(query.window(model, open_windows=open_windows), model, kind).using(pattern)
    windows = oracle.windows(model, rows, key=keys, open_windows=open_windows, **how)
    wanted = expected(windows, naive(model, kind))
    got: ByWindow = by_window(query.to_df(), keys)
    assert_same(got, wanted, f"{model}, {pattern}, {kind}, {keys}, {open_windows}, {how}")


@pytest.mark.parametrize("case", cases(every=2))
def test_pattern_gives_the_oracles_results(
    df: DataFrame, rows: list[dict[str, Any]], case: Case
) -> None:
    run_all([functools.partial(run, df, rows, *each, case.kind) for each in case.runs()])


def test_stream_would_not_have_fired_what_ordered_input_leaves_open(
    spark: SparkSession, rows: list[dict[str, Any]]
) -> None:
    """The last partitions lie wholly behind the final watermark."""
    ordered = sorted((r for r in rows if r["t"] is not None), key=lambda r: r["t"])
    parts = spark.sparkContext.parallelize([tuple(r.values()) for r in ordered], 8)
    df = spark.createDataFrame(parts, SCHEMA).cache()

    def check(model: WindowModel) -> None:
        query = wr.stream(df).key_by("k").event_time("t", "200 ms").order_by("seq")
        query = query.window(model, open_windows="drop").agg(**FUNCTIONS).using(wr.KeyFarm(2))
        how: dict[str, Any] = {"key": ["k"], "time": "t", "order_by": ["seq"]}
        windows = oracle.windows(model, ordered, delay="200 ms", open_windows="drop", **how)
        got = by_window(query.to_df(), ["k"])
        assert_same(got, expected(windows, aggregates(FUNCTIONS)), model)

    run_all([functools.partial(check, model) for model in MODELS])


def test_patterns_that_would_be_wrong_are_refused(df: DataFrame) -> None:
    for model in MODELS:
        for kind in KINDS:
            query = compute(wr.stream(df).event_time("t").window(model), model, kind)
            for make in PATTERNS.values():
                if not takes(make(0), model, kind):
                    with pytest.raises(wr.WindrowError):
                        query.using(make(0))
