"""Queries behind queries on one stream: every chain fires as time moves on, or is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.spark.arrivals import Arrivals, dropped, finished, results_of, start
from windrow import functions as wf
from windrow.spark.plans import watermarks_of

pytestmark = pytest.mark.spark

DAY = 86_400_000_000
SCHEMA = "k string, t bigint, x bigint"
ARROW = pa.schema([("k", pa.string()), ("t", pa.int64()), ("x", pa.int64())])
DELAY = "2 days"
DAYS = 37
FINAL = (100 + DAYS - 1 - 2) * DAY
"""The last watermark of the stream."""
SLIDING = wr.TimeWindow("3 days", "1 day")
ONE = wr.WinSeq()


def rows() -> list[dict[str, Any]]:
    """Two rows per day, by up to two days out of order."""
    days = [100 + i + (2, 0, -1, 0)[i % 4] * (3 < i < DAYS - 4) for i in range(DAYS)]
    return [{"k": k, "t": d * DAY, "x": d % 7 + (k == "b")} for d in days for k in "ab"]


def timed(df: DataFrame) -> DataFrame:
    """The rows with their time in every type."""
    ts, ms = F.timestamp_micros("t"), F.expr("t div 1000")
    types = {"ts": ts, "ntz": ts.cast("timestamp_ntz"), "day": ts.cast("date")}
    return df.withColumns({"us": F.col("t"), "ms": ms, **types})


Chain = Callable[[DataFrame], DataFrame]
"""Makes the results of a chain of queries, of a stream or of bounded rows."""


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


def named(df: DataFrame, name: str) -> dict[str, Any]:
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
    return fired.using(ONE).to_df(**named(df, name))


def weeks(
    df: DataFrame,
    time: str | Column,
    name: str,
    open_windows: Any = "emit",
    pattern: Any = ONE,
    **options: Any,
) -> DataFrame:
    """The second query: six days of the first one's results, over all keys."""
    query = wr.stream(df).event_time(time, **options).window(wr.TimeWindow("6 days"), open_windows)
    return query.agg(results=wf.count()).using(pattern).to_df(**named(df, name))


def fired(lag: int = 0) -> str:
    """Which windows have ended by the last watermark, or by that much before it."""
    return f"unix_micros(cast(window_end as timestamp)) <= {FINAL - lag * DAY}"


def test_windows_follow_windows(stream: Stream) -> None:
    """By the end of the windows, or by the time of their newest row."""

    def chain(name: str, model: Any, time: str, behind: str, unit: str) -> Chain:
        def results(df: DataFrame) -> DataFrame:
            first = windows(df, time, f"{name}1", model, unit, newest=wf.max(time))
            return weeks(first, behind, f"{name}2", unit=unit if behind == "newest" else "us")

        return results

    count = wr.CountWindow(3, 2)
    stream.check(
        {
            "date": (chain("date", SLIDING, "day", "window_end", "us"), fired()),
            "integer": (chain("integer", SLIDING, "ms", "window_end", "ms"), fired()),
            "count": (chain("count", count, "ms", "newest", "ms"), fired()),
            "time": (chain("time", SLIDING, "day", "newest", "us"), fired(lag=3)),
        }
    )


def pairs(
    left: DataFrame, right: DataFrame, within: Any, time: Any, name: str, how: Any = "inner"
) -> DataFrame:
    on = wr.equi("k")
    made = wr.join(left, right, within=within, on=on, time=time, delay=DELAY, how=how, degree=1)
    return made.to_df(**named(left, name))


def with_sparks(df: DataFrame, time: str = "ts") -> DataFrame:
    return df.withWatermark(time, DELAY)


def grouped(df: DataFrame) -> DataFrame:
    """Spark's own windows; of bounded rows, those that a stream has fired."""
    results = with_sparks(df).groupBy("k", F.window("ts", "2 days")).agg(F.count("*").alias("n"))
    if df.isStreaming:
        return results
    return results.where(F.col("window.end") <= F.timestamp_micros(F.lit(FINAL)))


def sessions(df: DataFrame) -> DataFrame:
    """Spark's own sessions, one per key and day; of bounded rows, those that a stream has fired."""
    session = F.session_window("ts", "12 hours").alias("s")
    results = with_sparks(df).groupBy("k", session).agg(F.count("*").alias("n"))
    if df.isStreaming:
        return results
    return results.where(F.col("s.end") <= F.timestamp_micros(F.lit(FINAL)))


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

    def own_and_sparks(df: DataFrame) -> DataFrame:
        left = grouped(df).select("k", "n", F.col("window.end").alias("end"))
        right = df.where("x = 3").select("k", "ts")
        found = pairs(left, right, "1 day", ("end", "ts"), "own and Spark's", "left")
        return found.where(f"right_k is not null or unix_micros(left_end) < {FINAL - 4 * DAY}")

    stream.check(
        {
            "own and Spark's": (own_and_sparks, "true"),
            "by time": (by_time, fired(lag=3)),
            "by count": (by_count, "true"),
            "join, join": (join_join, "true"),
            "window, join": (window_join, "true"),
        }
    )


def test_queries_follow_sparks_own_stateful_operators(stream: Stream) -> None:
    def window_time(df: DataFrame) -> DataFrame:
        return weeks(grouped(df).withColumn("at", F.window_time("window")), "at", "at")

    def window_end(df: DataFrame) -> DataFrame:
        panes = wr.PaneFarm(1, 1)
        return weeks(grouped(df), F.col("window.end"), "end", "drop", panes)

    def session_end(df: DataFrame) -> DataFrame:
        return weeks(sessions(df), F.col("s.end"), "sessions", "drop")

    def distinct(df: DataFrame) -> DataFrame:
        return weeks(with_sparks(df).dropDuplicates(["k", "ts", "x"]), "ts", "distinct")

    def joined(df: DataFrame) -> DataFrame:
        left, right = with_sparks(df), with_sparks(df.selectExpr("k rk", "ts rts"), "rts")
        near = F.expr("k = rk and ts between rts and rts + interval 1 day")
        return weeks(left.join(right, near), "ts", "joined")

    def by_arrival(df: DataFrame) -> DataFrame:
        first = wr.stream(df.coalesce(1)).key_by("k").window(wr.CountWindow(2, 1), "drop")
        newest = first.agg(newest=wf.max("ms")).using(ONE).to_df(**named(df, "arrival"))
        return weeks(newest, "newest", "behind arrival", "drop", delay=DELAY, unit="ms")

    stream.check(
        {
            "by arrival": (by_arrival, "true"),
            "window_time": (window_time, fired()),
            "window.end": (window_end, "true"),
            "session_window": (session_end, "true"),
            "distinct": (distinct, fired()),
            "joined": (joined, fired(lag=1)),
        }
    )


def test_sparks_own_operators_follow_queries(stream: Stream) -> None:
    def spark_weeks(df: DataFrame, time: str) -> DataFrame:
        windows = df.groupBy(F.window(time, "6 days").alias("w")).agg(F.count("*").alias("n"))
        return windows.select(F.col("w.end").alias("window_end"), "n")

    def of_integers(df: DataFrame) -> DataFrame:
        return spark_weeks(windows(df, "ms", "ms", SLIDING, "ms"), "window_end")

    def of_counts(df: DataFrame) -> DataFrame:
        first = windows(df, "ntz", "counts", wr.CountWindow(2), newest=wf.max("ntz"))
        return spark_weeks(first, "newest")

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


# Refused while they are built


def refused(make: Callable[[], object]) -> str:
    with pytest.raises(wr.WindrowError) as raised:
        make()
    return str(raised.value)


def test_chains_that_cannot_be_right_are_refused_while_they_are_built(stream: Stream) -> None:
    df = timed(stream.arrivals.read(stream.spark, SCHEMA))
    first = windows(df, "ts", "first", SLIDING)
    again = first.withWatermark("window_end", "1 day")
    rule = "a stream can have only one watermark"
    assert rule in refused(lambda: weeks(again, "window_end", "second"))
    assert rule in refused(lambda: pairs(again, df, "1 day", ("window_end", "ts"), "second"))
    other = refused(lambda: weeks(with_sparks(df), "us", "second"))
    assert "the event time, 'us', is not the column that has the watermark" in other
    assert "take 'ts' as the event time" in other
    for same in (
        lambda: weeks(first, "window_end", "first"),
        lambda: pairs(first, df, "1 day", ("window_end", "ts"), "first"),
        lambda: pairs(first, windows(df, "us", "first", SLIDING), 1, None, "third"),
    ):
        message = refused(same)
        assert "needs a name of its own for its metrics; got 'first' for two of them" in message
        assert 'to_df(observation="second")' in message


def test_chains_that_spark_refuses_when_the_stream_starts(stream: Stream) -> None:
    """As docs/streaming.md says; a Windrow window in the place of Spark's would run."""
    df = timed(stream.arrivals.read(stream.spark, SCHEMA))

    def spark_weeks(results: DataFrame, time: str) -> DataFrame:
        return results.groupBy(F.window(time, "6 days")).agg(F.count("*").alias("n"))

    joined = pairs(df.select("k", "ts"), df.select("k", "ts"), "3 days", "ts", "join")
    of_its_own = weeks(grouped(df), F.col("window.end"), "own")
    late: dict[str, tuple[DataFrame, str]] = {
        "a join": (spark_weeks(joined, "left_ts"), "watermark"),
        "a watermark of its own": (spark_weeks(of_its_own, "window_end"), "watermark"),
    }
    for name, (chain, said) in late.items():
        with pytest.raises((AnalysisException, StreamingQueryException), match=said):
            finished(lambda chain=chain: start(chain, at_once=True))  # type: ignore[misc]
            pytest.fail(f"nobody refused {name}")


def test_a_watermark_is_set_where_none_is_on_the_way(stream: Stream) -> None:
    """Marks may be left over from a stream that was written and is read again."""
    df = timed(stream.arrivals.read(stream.spark, SCHEMA))
    mark = {"spark.watermarkDelayMs": 0, "windrow.watermarkLag": 0}
    for rows, time in [
        (df.withMetadata("ts", mark), "ts"),
        (with_sparks(df).select(F.unix_micros("ts").alias("at")), "at"),
    ]:
        assert watermarks_of(weeks(rows, time, "first")) == 1


def test_a_query_behind_another_shows_sparks_plan(
    stream: Stream, capsys: pytest.CaptureFixture[str]
) -> None:
    df = timed(stream.arrivals.read(stream.spark, SCHEMA))
    first = wr.stream(df).event_time("ts").window(SLIDING).agg(n=wf.count()).using(ONE).to_df()
    second = wr.stream(first).event_time("window_end").window(SLIDING).agg(n=wf.count()).using(ONE)
    second.explain(mode="spark")
    assert capsys.readouterr().out.count("EventTimeWatermark") == 1
