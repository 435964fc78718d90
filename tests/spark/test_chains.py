"""Queries behind queries on one stream: every chain fires as time moves on, or is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.spark.arrivals import Arrivals, dropped, finished, results_of, start
from windrow import functions as wf

pytestmark = pytest.mark.spark

DAY = 86_400_000_000
SCHEMA = "k string, t bigint, x bigint"
ARROW = pa.schema([("k", pa.string()), ("t", pa.int64()), ("x", pa.int64())])
DELAY = "2 days"
DAYS = 36
FINAL = (100 + DAYS - 1 - 2) * DAY
"""The last watermark of the stream."""


def rows() -> list[dict[str, Any]]:
    """Two rows per day, by up to two days out of order."""
    days = [100 + i + (2, 0, -1, 0)[i % 4] * (3 < i < DAYS - 4) for i in range(DAYS)]
    return [{"k": k, "t": d * DAY, "x": d % 7 + (k == "b")} for d in days for k in "ab"]


def timed(df: DataFrame) -> DataFrame:
    """The rows with their time in every type; ``day`` is its number, to order by and compare."""
    ts = F.timestamp_micros("t")
    return df.withColumns(
        {
            "us": F.col("t"),
            "ms": F.col("t") / 1000,
            "ts": ts,
            "ntz": ts.cast("timestamp_ntz"),
            "day": ts.cast("date"),
        }
    ).withColumn("ms", F.col("ms").cast("bigint"))


Chain = Callable[[DataFrame], DataFrame]
"""Makes the results of a chain of queries, of a stream or of bounded rows."""


def micros(time: str) -> Column:
    """A time of any type in microseconds."""
    seconds = F.col(time).cast("timestamp")
    return F.unix_micros(seconds)


class Stream:
    """The rows as a stream of two batches, and what chains give over it."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.arrivals = Arrivals(folder, ARROW)
        for i in range(0, 2 * DAYS, DAYS):
            self.arrivals.add(rows()[i : i + DAYS])

    def check(self, chains: dict[str, tuple[Chain, str]]) -> None:
        """All chains, in one stream, give what they give over bounded rows.

        Of these they give those for which the condition holds: windows that have fired.
        """
        stream = timed(self.arrivals.read(self.spark, SCHEMA))
        bounded = timed(self.spark.createDataFrame(self.arrivals.table(), SCHEMA))
        given = [_named(name, chain(stream)) for name, (chain, _) in chains.items()]
        wanted = [_named(name, chain(bounded).where(c)) for name, (chain, c) in chains.items()]
        union, expected = given[0], wanted[0]
        for more, also in zip(given[1:], wanted[1:], strict=True):
            union, expected = union.unionAll(more), expected.unionAll(also)
        query = finished(lambda: start(union, at_once=True))
        got = _by_name(results_of(query, self.spark))
        for name, results in _by_name(expected).items():
            assert len(results) > 2, f"nothing to compare: {name}"
            assert got.get(name) == results, name
        assert got.keys() == chains.keys()
        for metrics in {m for p in query.recentProgress for m in p.observedMetrics}:
            assert dropped(query, metrics) == 0, metrics


def _named(name: str, results: DataFrame) -> DataFrame:
    return results.select(F.lit(name).alias("name"), F.to_json(F.struct("*")).alias("row"))


def _by_name(df: DataFrame) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for name, row in sorted(df.collect()):
        found.setdefault(name, []).append(json.loads(row))
    return found


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> Stream:
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "1")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return Stream(session, tmp_path / "in")


def named(df: DataFrame, name: str) -> dict[str, str]:
    """Metrics of a name of their own, which only streams have."""
    return {"observation": name} if df.isStreaming else {}


def windows(
    df: DataFrame,
    time: str | Column,
    name: str,
    model: wr.TimeWindow | wr.CountWindow,
    unit: Any = "us",
    **functions: Any,
) -> DataFrame:
    """The windows of each key that have fired."""
    query = wr.stream(df).key_by("k").event_time(time, DELAY, unit=unit)
    fired = query.window(model, open_windows="drop").agg(n=wf.count(), **functions)
    return fired.using(wr.KeyFarm(1)).to_df(**named(df, name))


def weeks(
    df: DataFrame, time: str | Column, name: str, open_windows: Any = "emit", **options: Any
) -> DataFrame:
    """The second query: six days of the first one's results, over all keys."""
    query = wr.stream(df).event_time(time, **options).window(wr.TimeWindow("6 days"), open_windows)
    return query.agg(results=wf.count()).using(wr.KeyFarm(1)).to_df(**named(df, name))


def fired(lag: int = 0) -> str:
    """Which windows have ended by the last watermark, or by that much before it."""
    return f"unix_micros(cast(window_end as timestamp)) <= {FINAL - lag * DAY}"


SLIDING = wr.TimeWindow("3 days", "1 day")


def test_windows_follow_windows_by_event_times_of_every_type(stream: Stream) -> None:
    def chain(time: str, unit: str) -> Chain:
        def results(df: DataFrame) -> DataFrame:
            first = windows(df, time, f"{time}1", SLIDING, unit)
            return weeks(first, "window_end", f"{time}2")

        return results

    units = {"ts": "us", "ntz": "us", "day": "us", "us": "us", "ms": "ms"}
    stream.check({time: (chain(time, unit), fired()) for time, unit in units.items()})


def test_the_time_of_the_newest_row_is_an_event_time(stream: Stream) -> None:
    def chain(name: str, model: Any, time: str, unit: str, newest: Any) -> Chain:
        def results(df: DataFrame) -> DataFrame:
            first = windows(df, time, f"{name}1", model, unit, newest=newest(time))
            return weeks(first, "newest", f"{name}2", unit=unit)

        return results

    stream.check(
        {
            "count": (chain("count", wr.CountWindow(3), "ms", "ms", wf.max), fired()),
            "count ts": (chain("ts", wr.CountWindow(3, 1), "ts", "us", wf.last), fired()),
            "time": (chain("time", SLIDING, "day", "us", wf.max), fired(lag=3)),
        }
    )
