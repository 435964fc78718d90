"""Instants in the hour that clocks show twice when summer time ends stay two instants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.spark.arrivals import streamed
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.patterns import Pattern

pytestmark = pytest.mark.spark

HALF_PAST_FIVE, HALF_PAST_SIX = 1_730_611_800_000_000, 1_730_615_400_000_000
"""In New York both are half past one, on 3 November 2024."""
PATHS: dict[str, tuple[WindowModel, Pattern | None]] = {
    "in Spark": (wr.TimeWindow(8), None),
    "panes in Spark": (wr.TimeWindow(8, 4), None),
    "in Python": (wr.CountWindow(8), None),
    "panes in Python": (wr.TimeWindow(8, 4), wr.PaneFarm(2, 2)),
}


@pytest.fixture(scope="module", autouse=True)
def new_york(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    yield
    spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    """Eight rows: the earlier instant thrice, then both in turn."""
    instants = [HALF_PAST_SIX if i in (3, 5, 7) else HALF_PAST_FIVE for i in range(8)]
    rows = spark.createDataFrame([*enumerate(instants)], "t bigint, micros bigint").coalesce(2)
    instant = F.timestamp_micros("micros")
    return rows.select("t", instant.alias("at"), F.struct(instant.alias("at")).alias("in")).cache()


@pytest.mark.parametrize(("path", "key"), [*((path, "at") for path in PATHS), ("in Python", "in")])
def test_instants_are_two_keys(df: DataFrame, path: str, key: str) -> None:
    model, pattern = PATHS[path]
    query = wr.stream(df).key_by(key).event_time("t").window(model).agg(n=wf.count())
    result = (query if pattern is None else query.using(pattern)).to_df()
    instant = F.unix_micros("at" if key == "at" else "in.at")
    found = {
        (row[0], row[1]) for row in result.where("window_id = 0").select(instant, "n").collect()
    }
    assert found == {(HALF_PAST_FIVE, 5), (HALF_PAST_SIX, 3)}


@pytest.mark.parametrize("path", PATHS)
def test_instants_are_two_values(df: DataFrame, path: str) -> None:
    model, pattern = PATHS[path]
    functions = {
        "distinct": wf.count_distinct("at"),
        "least": wf.min("at"),
        "most": wf.max("at"),
        "mode": wf.mode("at"),
        "last": wf.last("at"),
        "inner": wf.last("in"),
        "arg": wf.arg_max("t", by="at"),
        "collected": wf.collect("at"),
    }
    query = wr.stream(df).event_time("t").order_by("at").window(model).agg(**functions)
    result = (query if pattern is None else query.using(pattern)).to_df()
    micros = [F.unix_micros(c) for c in ("least", "most", "mode", "last", "inner.at")]
    collected = F.transform("collected", F.unix_micros)
    row = result.where("window_id = 0").select("distinct", *micros, "arg", collected).collect()[0]
    early, late = HALF_PAST_FIVE, HALF_PAST_SIX
    order = [early, early, early, late, early, late, early, late]
    assert list(row) == [2, early, late, early, late, late, 3, order]


def test_instants_order_rows(df: DataFrame) -> None:
    query = wr.stream(df).order_by("at", F.col("t")).window(wr.CountWindow(8))
    (row,) = query.agg(order=wf.collect("t")).to_df().collect()
    assert row["order"] == [0, 1, 2, 4, 6, 3, 5, 7]


def test_joins_tell_instants_apart(df: DataFrame) -> None:
    joined = wr.join(df, df, within=8, on=wr.equi("at"), how="left").to_df()
    pairs = joined.select(F.unix_micros("left_at"), F.unix_micros("right_in.at")).collect()
    pairs_of = Counter(map(tuple, pairs))
    assert pairs_of == {(HALF_PAST_FIVE,) * 2: 25, (HALF_PAST_SIX,) * 2: 9}


def test_streams_tell_instants_apart(df: DataFrame, tmp_path: Path) -> None:
    folder = str(tmp_path / "rows")
    # The last row closes the window of the others.
    last = df.limit(1).withColumn("t", F.lit(10_000).cast("bigint"))
    df.unionAll(last).coalesce(1).write.parquet(folder)
    read = df.sparkSession.readStream.schema(df.schema).parquet(folder)
    query = wr.stream(read).key_by("at", "in").event_time("t").window(wr.TimeWindow(8))
    functions: dict[str, Any] = {"n": wf.count(), "least": wf.min("at")}
    found, _ = streamed(query.agg(**functions).to_df())
    micros = [F.unix_micros(c) for c in ("at", "in.at", "least")]
    rows = {tuple(row) for row in found.select(*micros, "n").collect()}
    assert rows == {(HALF_PAST_FIVE,) * 3 + (5,), (HALF_PAST_SIX,) * 3 + (3,)}
