"""What a user sees of a query on a stream."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery

import windrow as wr
from tests.spark.arrivals import Arrivals, dropped, finished, results_of, start, streamed
from tests.spark.results import aggregates, assert_same, by_window, expected, run_all
from windrow import functions as wf
from windrow.core import oracle

pytestmark = pytest.mark.spark

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SCHEMA = "k string, t bigint, x bigint"
ARROW = pa.schema([("k", pa.string()), ("t", pa.int64()), ("x", pa.int64())])
FUNCTIONS: dict[str, Any] = {"n": wf.count(), "total": wf.sum("x")}
LONGEST_WAIT = 240
"""Seconds after which a test gives up."""


def tuples(times: str, unit: int = 1000) -> list[dict[str, Any]]:
    """Tuples ``key:time``, times in milliseconds and not before a second; x is the time."""
    made = []
    for word in times.split():
        k, t = word.split(":")
        time = None if t == "null" else 1_000_000 + int(t) * unit
        made.append({"k": k, "t": time, "x": int(t) if t != "null" else None})
    return made


def rows_of(df: DataFrame) -> list[tuple[Any, ...]]:
    """Key, id and values of the results."""
    hidden = ("window_start", "window_end")
    kept = [c for c in df.columns if c not in hidden]
    return sorted(tuple(row[c] for c in kept) for row in df.collect())


@pytest.fixture
def arrivals(tmp_path: Path) -> Arrivals:
    return Arrivals(tmp_path / "in", ARROW)


@pytest.fixture
def df(spark: SparkSession, arrivals: Arrivals) -> DataFrame:
    return arrivals.read(spark, SCHEMA)


@pytest.fixture
def running() -> Any:
    """Starts streaming queries, and stops them in the end."""
    queries: list[StreamingQuery] = []

    def run(df: DataFrame) -> StreamingQuery:
        queries.append(start(df))
        return queries[-1]

    yield run
    for query in queries:
        query.stop()


Running = Callable[[DataFrame], StreamingQuery]


def counted(df: DataFrame, delay: str = "0 ms") -> wr.Query:
    """Each tuple a window, once the watermark has passed it."""
    query = wr.stream(df).key_by("k").event_time("t", delay)
    return query.window(wr.CountWindow(1)).agg(x=wf.max("x"))


# The watermark


def test_the_watermark_that_is_there_is_used(
    spark: SparkSession, arrivals: Arrivals, df: DataFrame
) -> None:
    arrivals.add(tuples("a:30 a:8 a:20"))
    arrivals.add(tuples("a:12 a:11 a:40 a:25"))  # disordered by up to 20 ms
    marked = df.withColumn("ts", F.timestamp_micros("t")).withWatermark("ts", "20 milliseconds")
    query = wr.stream(marked).key_by("k").event_time("ts").window(wr.CountWindow(1))
    got, lost = streamed(query.agg(x=wf.max("x")).to_df())
    assert rows_of(got) == [("a", i, x) for i, x in enumerate([8, 11, 12])]
    assert lost == 0


def test_a_watermark_on_another_column_is_refused(df: DataFrame) -> None:
    marked = df.withColumn("ts", F.timestamp_micros("t")).withWatermark("ts", "1 second")
    with pytest.raises(wr.WindrowError, match=r"the event time, 't', is not the column") as raised:
        counted(marked).to_df()
    assert "take 'ts' as the event time" in str(raised.value)


def test_a_delay_may_be_shorter_than_a_millisecond(
    spark: SparkSession, arrivals: Arrivals, df: DataFrame, running: Running
) -> None:
    """Tuples every 100 us: the watermark is at whole milliseconds less the delay, rounded down."""
    query = running(counted(df, "1500 us").to_df())
    every: list[dict[str, Any]] = [{"k": "a", "t": 1_000_000 + i * 100, "x": i} for i in range(308)]
    for greatest, watermark in [(204, 180), (206, 190), (307, 290)]:
        arrivals.add([row for row in every if row["x"] <= greatest])
        every = [row for row in every if row["x"] > greatest]
        query.processAllAvailable()
        found = [x for _, _, x in rows_of(results_of(query, spark))]
        assert found == list(range(watermark))


def test_the_last_watermark_fires_windows_in_a_batch_without_data(
    spark: SparkSession, arrivals: Arrivals, df: DataFrame, running: Running
) -> None:
    query = running(counted(df, "5 ms").to_df())
    arrivals.add(tuples("a:1 a:5 a:10"))
    query.processAllAvailable()
    assert rows_of(results_of(query, spark)) == [("a", 0, 1)]
    progress = query.lastProgress
    assert progress is not None
    assert (progress.numInputRows, progress.sink.numOutputRows) == (0, 1)


# Late tuples


class Progress(StreamingQueryListener):
    """What a user's own listener hears."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.news = threading.Condition()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        return

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        with self.news:
            self.heard.append(event.progress)
            self.news.notify_all()

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        return

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        return

    def wait_until(self, holds: Callable[[], bool]) -> None:
        with self.news:
            assert self.news.wait_for(holds, LONGEST_WAIT), "this did not come to pass"


@pytest.fixture
def progress(spark: SparkSession) -> Any:
    listener = Progress()
    spark.streams.addListener(listener)
    yield listener
    spark.streams.removeListener(listener)


def test_late_tuples_and_those_without_a_time_are_counted_batch_by_batch(
    spark: SparkSession, arrivals: Arrivals, df: DataFrame, running: Running, progress: Progress
) -> None:
    query = running(counted(df).using(wr.KeyFarm(2)).to_df())
    for batch in ["a:10 b:20 c:null", "a:19 b:20 c:21 d:1", "a:null b:null c:40", "a:41"]:
        arrivals.add(tuples(batch))
        query.processAllAvailable()
    brought = [p for p in query.recentProgress if p.numInputRows]
    counts = [p.observedMetrics["windrow"]["dropped"] for p in brought]
    assert counts == [1, 2, 2, 0]
    assert dropped(query) == 5
    assert [x for _, _, x in rows_of(results_of(query, spark))] == [10, 20, 20, 21, 40]
    progress.wait_until(lambda: any(p.batchId == brought[-1].batchId for p in progress.heard))
    heard = {p.batchId: p.observedMetrics["windrow"]["dropped"] for p in progress.heard}
    assert [heard[p.batchId] for p in brought] == counts


def test_metrics_have_the_name_they_are_given(arrivals: Arrivals, df: DataFrame) -> None:
    arrivals.add(tuples("a:1 a:null"))
    query = finished(lambda: start(counted(df).to_df(observation="lost"), at_once=True))
    assert {name for p in query.recentProgress for name in p.observedMetrics} == {"lost"}
    assert dropped(query, "lost") == 1


def test_an_observation_object_is_refused_on_a_stream(df: DataFrame) -> None:
    with pytest.raises(wr.WindrowError, match="on a stream observation takes a name"):
        counted(df).to_df(observation=Observation())


# Quiet sources


def test_windows_close_when_the_source_has_been_quiet(
    spark: SparkSession, arrivals: Arrivals, df: DataFrame, running: Running, progress: Progress
) -> None:
    query = wr.stream(df).key_by("k").event_time("t", "1 second", idle_timeout="2 seconds")
    stream = running(query.window(wr.TimeWindow("10 ms")).agg(**FUNCTIONS).to_df())

    def results() -> list[Any]:
        return rows_of(results_of(stream, spark))

    arrivals.add(tuples("a:1 a:9 b:12"))
    progress.wait_until(lambda: len(results()) == 2)
    assert results() == [("a", 100, 2, 10), ("b", 101, 1, 12)]
    clock = [p for p in progress.heard if p.sink.numOutputRows == 0]
    assert len(clock) >= 2, "nothing fires before the source has been quiet"
    arrivals.add(tuples("a:5 a:15 b:21"))  # the first two are late now
    progress.wait_until(lambda: dropped(stream) == 2)
    progress.wait_until(lambda: len(results()) == 3)
    assert results()[-1] == ("b", 102, 1, 21)


def test_silence_closes_the_windows_of_its_own_query_only(
    spark: SparkSession, arrivals: Arrivals, df: DataFrame, running: Running, progress: Progress
) -> None:
    timed = wr.stream(df).event_time("t", "1 second", idle_timeout="1 second")
    first = timed.window(wr.TimeWindow("10 ms")).agg(n=wf.count()).using(wr.WinSeq()).to_df()

    def behind(name: str, **options: Any) -> DataFrame:
        query = wr.stream(first).event_time("window_end", **options).window(wr.TimeWindow("1 s"))
        found = query.agg(windows=wf.count()).using(wr.WinSeq()).to_df(observation=name)
        return found.select(F.lit(name).alias("name"), "windows")

    waits = behind("waits")
    closes = behind("closes", idle_timeout="1 second")
    stream = running(waits.unionAll(closes))
    arrivals.add(tuples("a:1 a:9 b:12"))
    progress.wait_until(lambda: results_of(stream, spark).count() > 0)
    assert [tuple(r) for r in results_of(stream, spark).collect()] == [("closes", 2)]


# What becomes of the results


def chained_rows() -> list[dict[str, Any]]:
    return [{"k": "ab"[i % 2], "t": 1_000_000 + i * 1000, "x": i % 7} for i in range(100)]


def firsts(df: DataFrame) -> wr.Query:
    query = wr.stream(df).key_by("k").event_time("ts", "5 ms")
    return query.window(wr.TimeWindow("6 ms", "2 ms"), open_windows="drop").agg(**FUNCTIONS)


def with_timestamps(df: DataFrame) -> DataFrame:
    return df.withColumn("ts", F.timestamp_micros("t"))


def in_batches(arrivals: Arrivals, rows: list[dict[str, Any]], length: int) -> None:
    for i in range(0, len(rows), length):
        arrivals.add(rows[i : i + length])


def final_watermark() -> datetime:
    return EPOCH + timedelta(milliseconds=1000 + 99 - 5)


def test_results_feed_another_query(spark: SparkSession, arrivals: Arrivals, df: DataFrame) -> None:
    pattern = wr.PaneFarm(2, 2)
    in_batches(arrivals, chained_rows(), 30)

    def second(results: DataFrame) -> wr.Query:
        query = wr.stream(results).event_time("window_end").window(wr.TimeWindow("20 ms"))
        return query.agg(windows=wf.count(), most=wf.max("total"))

    first = firsts(with_timestamps(df)).using(pattern).to_df()
    got, _ = streamed(second(first).using(pattern).to_df(observation="second"))
    bounded = with_timestamps(spark.createDataFrame(arrivals.table(), SCHEMA))
    wanted = second(firsts(bounded).to_df()).to_df()
    wanted = wanted.where(F.col("window_end") <= F.lit(final_watermark()))
    assert_same(by_window(got), by_window(wanted))


def test_results_feed_sparks_own_windows(
    spark: SparkSession, arrivals: Arrivals, df: DataFrame
) -> None:
    in_batches(arrivals, chained_rows(), 30)

    def native(results: DataFrame) -> DataFrame:
        windows = results.groupBy(F.window("window_end", "20 milliseconds").alias("w"), "k")
        return windows.agg(F.count("*").alias("windows"), F.max("total").alias("most"))

    got, _ = streamed(native(firsts(with_timestamps(df)).using(wr.KeyFarm(2)).to_df()))
    bounded = with_timestamps(spark.createDataFrame(arrivals.table(), SCHEMA))
    wanted = native(firsts(bounded).to_df())
    wanted = wanted.where(F.col("w.end") <= F.lit(final_watermark()))
    rows = sorted(wanted.collect())
    assert rows and sorted(got.collect()) == rows


def test_results_of_each_batch_come_in_order_to_foreach_batch(
    arrivals: Arrivals, df: DataFrame
) -> None:
    keys = ["b", None, "a", "c"]
    rows = [{"k": keys[i % 4], "t": 1_000_000 + i * 1000, "x": i} for i in range(80)]
    in_batches(arrivals, rows, 30)
    query = wr.stream(df).key_by("k").event_time("t").window(wr.TimeWindow("9 ms", "3 ms"))
    batches: list[list[Any]] = []

    def take(batch: DataFrame, number: int) -> None:
        batches.append([(row["k"] or "", row["window_id"]) for row in batch.collect()])

    ordered = query.agg(**FUNCTIONS).using(wr.KeyFarm(3)).ordered().to_df()
    finished(ordered.writeStream.foreachBatch(take).trigger(availableNow=True).start)
    assert all(batch == sorted(batch) for batch in batches)
    windows = oracle.windows(
        wr.TimeWindow("9 ms", "3 ms"), rows, key=["k"], time="t", open_windows="drop"
    )
    found = [window for batch in batches for window in batch]
    assert sorted(found) == sorted((w.key[0] or "", w.id) for w in windows)
    assert len(batches) == 4


# Types and settings


def test_event_times_of_every_type(spark: SparkSession, tmp_path: Path) -> None:
    day = 86_400_000_000
    second, unit = 1_000_000, {"date": day}
    naive = EPOCH.replace(tzinfo=None)
    kinds: dict[str, tuple[pa.DataType, Callable[[int], Any]]] = {
        "bigint": (pa.int64(), int),
        "timestamp": (pa.timestamp("us", "UTC"), lambda t: EPOCH + timedelta(microseconds=t)),
        "timestamp_ntz": (pa.timestamp("us"), lambda t: naive + timedelta(microseconds=t)),
        "date": (pa.date32(), lambda t: date(1970, 1, 1) + timedelta(microseconds=t)),
    }

    def check(kind: str) -> None:
        arrow, of_micros = kinds[kind]
        length = unit.get(kind, second)
        rows: list[dict[str, Any]] = [
            {"k": "ab"[i % 2], "t": None if i == 7 else (20 + i // 2) * length, "x": i}
            for i in range(40)
        ]
        arrivals = Arrivals(tmp_path / kind, ARROW.set(1, pa.field("t", arrow)))
        shown = [{**r, "t": None if r["t"] is None else of_micros(r["t"])} for r in rows]
        in_batches(arrivals, shown, 16)
        df = arrivals.read(spark, f"k string, t {kind}, x bigint")
        model = wr.TimeWindow(4 * length, 2 * length)
        query = wr.stream(df).key_by("k").event_time("t", 2 * length).window(model)
        got, lost = streamed(query.agg(**FUNCTIONS).to_df())
        windows = oracle.windows(
            model, rows, key=["k"], time="t", delay=2 * length, open_windows="drop"
        )
        assert_same(by_window(got, ["k"]), expected(windows, aggregates(FUNCTIONS)), kind)
        assert lost == 1

    run_all(functools.partial(check, kind) for kind in kinds)


def test_decimals_and_sums_that_cancel_are_exact(spark: SparkSession, tmp_path: Path) -> None:
    great = Decimal("1234567890123456789012345678901.25")
    numbers = [(1e16, great), (1.0, Decimal("1.25")), (0.25, Decimal("-0.50")), (-1e16, None)]
    rows: list[dict[str, Any]] = [
        {"t": i * 1000, "x": numbers[i % 4][0], "m": numbers[i % 4][1]} for i in range(24)
    ]
    arrow = pa.schema([("t", pa.int64()), ("x", pa.float64()), ("m", pa.decimal128(38, 2))])
    arrivals = Arrivals(tmp_path / "in", arrow)
    in_batches(arrivals, rows, 12)
    df = arrivals.read(spark, "t bigint, x double, m decimal(38,2)")
    model = wr.TimeWindow("4 ms", "2 ms")
    functions = {"x": wf.sum("x"), "m": wf.sum("m"), "mean": wf.mean("m"), "most": wf.max("m")}
    query = wr.stream(df).event_time("t").window(model).agg(**functions).using(wr.PaneFarm(1, 1))
    got, _ = streamed(query.to_df())
    windows = oracle.windows(model, rows, time="t", open_windows="drop")
    found = by_window(got)
    assert_same(found, expected(windows, aggregates(functions)))
    total = Decimal("1234567890123456789012345678902.00")
    mean = Decimal("411522630041152263004115226300.666667")
    assert found[(), 0, 0, 4000] == [[1.25, total, mean, great]]


def test_a_session_with_sparks_defaults_gets_the_settings_it_needs(
    spark: SparkSession, arrivals: Arrivals
) -> None:
    arrivals.add(tuples("a:1 a:2 b:3"))
    session = spark.newSession()
    provider = "spark.sql.streaming.stateStore.providerClass"
    package = "org.apache.spark.sql.execution.streaming.state"
    for setting in ("spark.sql.shuffle.partitions", provider):
        session.conf.unset(setting)
    assert session.conf.get("spark.sql.shuffle.partitions") == "200"
    df = counted(arrivals.read(session, SCHEMA)).using(wr.KeyFarm(2)).to_df()
    assert session.conf.get("spark.sql.shuffle.partitions") == "2"
    assert session.conf.get(provider) == f"{package}.RocksDBStateStoreProvider"
    got, _ = streamed(df)
    assert rows_of(got) == [("a", 0, 1), ("a", 1, 2)]


def test_a_state_store_that_cannot_do_is_refused(spark: SparkSession, arrivals: Arrivals) -> None:
    session = spark.newSession()
    package = "org.apache.spark.sql.execution.streaming.state"
    provider = f"{package}.HDFSBackedStateStoreProvider"
    session.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
    with pytest.raises(wr.WindrowError, match="need the RocksDB state store"):
        counted(arrivals.read(session, SCHEMA)).using(wr.KeyFarm(2)).to_df()


def test_settings_of_the_users_own_are_kept(spark: SparkSession, df: DataFrame) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "5")
    stream = session.readStream.format("rate").load()
    query = wr.stream(stream).event_time("timestamp").window(wr.TimeWindow("1 second"))
    query.agg(n=wf.count()).using(wr.WinFarm(2)).to_df()
    assert session.conf.get("spark.sql.shuffle.partitions") == "5"
