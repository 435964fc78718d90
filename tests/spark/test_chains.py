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


def pairs(
    left: DataFrame, right: DataFrame, within: Any, time: Any, name: str, how: Any = "inner"
) -> DataFrame:
    made = wr.join(left, right, within=within, on=wr.equi("k"), time=time, delay=DELAY, how=how)
    return made.to_df(**named(left, name))


def test_joins_are_followed_by_windows_and_joins(stream: Stream) -> None:
    def by_time(df: DataFrame) -> DataFrame:
        odd = df.where("x % 2 = 1")
        found = pairs(df.select("k", "us"), odd.select("k", "us"), "3 days", "us", "join", "left")
        return weeks(found, "left_us", "behind join")

    def by_count(df: DataFrame) -> DataFrame:
        found = pairs(df.select("k", "ts"), df.select("k", "ts"), 2, "ts", "count join")
        younger = F.greatest("left_ts", "right_ts").alias("younger")
        return weeks(found, younger, "behind count join", "drop")

    def join_join(df: DataFrame) -> DataFrame:
        few = df.where("x = 3").select("k", "day")
        found = pairs(few, df.select("k", "day"), ("2 days", "1 day"), "day", "join 1")
        again = found.withColumnRenamed("left_k", "k").select("k", "right_day")
        return pairs(again, few, "1 day", ("right_day", "day"), "join 2")

    def window_join(df: DataFrame) -> DataFrame:
        first = windows(df, "ntz", "left", SLIDING).select("k", "window_end", "n")
        second = windows(df, "us", "right", wr.TimeWindow("4 days")).select("k", "window_end", "n")
        return pairs(first, second, "1 day", "window_end", "windows joined")

    stream.check(
        {
            "by time": (by_time, fired(lag=3)),
            "by count": (by_count, "true"),
            "join, join": (join_join, "true"),
            "window, join": (window_join, "true"),
        }
    )


def test_queries_follow_sparks_own_stateful_operators(stream: Stream) -> None:
    def marked(df: DataFrame, time: str = "ts") -> DataFrame:
        return df.withWatermark(time, DELAY)

    def grouped(df: DataFrame) -> DataFrame:
        return marked(df).groupBy("k", F.window("ts", "2 days")).agg(F.count("*").alias("n"))

    def window_time(df: DataFrame) -> DataFrame:
        return weeks(grouped(df).withColumn("at", F.window_time("window")), "at", "at")

    def window_end(df: DataFrame) -> DataFrame:
        results = grouped(df) if df.isStreaming else grouped(df).where(F.col("window.end") <= final)
        return weeks(results, F.col("window.end"), "end", "drop")

    def distinct(df: DataFrame) -> DataFrame:
        once = marked(df).dropDuplicates(["k", "ts", "x"])
        return weeks(once, "ts", "distinct")

    def joined(df: DataFrame) -> DataFrame:
        left, right = marked(df).alias("l"), marked(df.selectExpr("k rk", "ts rts"), "rts")
        near = F.expr("k = rk and ts between rts and rts + interval 1 day")
        return weeks(left.join(right, near), "ts", "joined")

    def hidden(df: DataFrame) -> DataFrame:
        return weeks(marked(df).select(F.unix_micros("ts").alias("at")), "at", "hidden", "drop",
                     delay=DELAY)  # fmt: skip

    final = F.timestamp_micros(F.lit(FINAL))
    stream.check(
        {
            "window_time": (window_time, fired()),
            "window.end": (window_end, "true"),
            "distinct": (distinct, fired()),
            "joined": (joined, fired(lag=1)),
            "hidden": (hidden, "true"),
        }
    )


def test_sparks_own_operators_follow_queries(stream: Stream) -> None:
    def grouped(df: DataFrame, time: str) -> DataFrame:
        windows = df.groupBy(F.window(time, "6 days").alias("w")).agg(F.count("*").alias("n"))
        return windows.select(F.col("w.end").alias("window_end"), "n")

    def of_integers(df: DataFrame) -> DataFrame:
        return grouped(windows(df, "ms", "ms", SLIDING, "ms"), "window_end")

    def of_counts(df: DataFrame) -> DataFrame:
        first = windows(df, "ntz", "counts", wr.CountWindow(2), newest=wf.max("ntz"))
        return grouped(first, "newest")

    def joined(df: DataFrame) -> DataFrame:
        left = windows(df, "ts", "left", SLIDING).alias("l")
        right = windows(df, "ts", "right", wr.TimeWindow("3 days")).alias("r")
        same = F.expr("l.k = r.k and l.window_end = r.window_end")
        return left.join(right, same).select("l.k", "l.window_end", "l.n", F.col("r.n").alias("m"))

    stream.check(
        {
            "integers": (of_integers, fired()),
            "counts": (of_counts, fired()),
            "joined": (joined, "true"),
        }
    )
