"""The cost of queries over streaming DataFrames, compared with Spark's own operators.

Run with ``make bench-stream``, or ``python -m benchmarks.bench_stream [part ...]``; the parts are
``time``, ``native``, ``state``, ``keys``, ``empty`` and ``latency``. Every query is checked on a
small stream first, against Spark or the oracle. A wrong result fails the benchmark; a missed target
does not.

The input is read from Parquet files that were written before, one per core and batch. Results go to
Spark's ``noop`` sink. The figures are those of the median batch. The first batches, which compile
code and fill the windows, do not count.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

import windrow as wr
from benchmarks.reporting import check, rows_of
from benchmarks.reporting import report as report_rate
from windrow import functions as wf
from windrow.core import oracle
from windrow.core.models import WindowModel
from windrow.spark.settings import NATIVE_STREAMS

CORES = 2
SCHEMA = "k bigint, t timestamp, x bigint"
SLIDING = wr.TimeWindow("1 s", "10 ms")
START = 1_700_000_000_000_000

Make = Callable[[DataFrame], DataFrame]


@dataclass
class Streams:
    """Makes streams of tuples ``(k, t, x)``, one per microsecond: one file per batch and core."""

    spark: SparkSession
    folder: Path

    def __call__(self, rows: int, batches: int, keys: int) -> DataFrame:
        stream = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", CORES)
        return stream.parquet(str(self.files(rows, batches, keys)))

    def scanned(self, rows: int, batches: int, keys: int) -> wr.Query:
        """The same stream, read by the tasks themselves."""
        return wr.scan_stream(self.spark, self.files(rows, batches, keys), "parquet", CORES)

    def files(self, rows: int, batches: int, keys: int) -> Path:
        """The folder of the files, which are written if they are not there."""
        path = self.folder / f"{rows}-{batches}-{keys}"
        if not path.exists():
            path.mkdir()
            for i in range(batches):
                made = tuples(rows, keys, i * rows)
                for part in range(CORES):
                    own = made.slice(part * rows // CORES, rows // CORES)
                    pq.write_table(own, path / f"{i:05}-{part}.parquet")
        return path


def tuples(rows: int, keys: int, first: int) -> pa.Table:
    """Rows from number ``first`` on."""
    draw = np.random.default_rng(first)
    return pa.table(
        {
            "k": draw.integers(0, keys, rows),
            "t": pa.array(START + first + np.arange(rows), pa.timestamp("us", "UTC")),
            "x": draw.integers(0, 1000, rows),
        }
    )


def batch_seconds(df: DataFrame, skipped: int) -> list[float]:
    """How long each batch takes, without the first ones and those without data."""
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = df.writeStream.format("noop").option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        progress = [p for p in query.recentProgress if p.numInputRows]
    return [p.durationMs["triggerExecution"] / 1000 for p in progress[skipped:]]


report = partial(report_rate, per="batch")


def count_sum_max(rows: DataFrame | wr.Query, model: WindowModel) -> DataFrame:
    functions = {"n": wf.count(), "s": wf.sum("x"), "m": wf.max("x")}
    query = rows if isinstance(rows, wr.Query) else wr.stream(rows)
    return query.key_by("k").event_time("t").window(model).agg(**functions).to_df()


def by_window(df: DataFrame) -> DataFrame:
    """The same query with Spark's ``window``."""
    marked = df.withWatermark("t", "0 seconds")
    grouped = marked.groupBy("k", F.window("t", "1 second", "10 milliseconds").alias("w"))
    results = grouped.agg(F.count("*").alias("n"), F.sum("x").alias("s"), F.max("x").alias("m"))
    return results.select("k", "w.start", "w.end", "n", "s", "m")


class Nothing(StatefulProcessor):
    """Takes rows and returns none."""

    def init(self, handle: Any) -> None:
        self.seen = handle.getValueState("seen", "rows bigint")

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        self.seen.update((sum(map(len, rows)),))
        yield pd.DataFrame({"n": []})

    def close(self) -> None:
        return


def by_nothing(df: DataFrame) -> DataFrame:
    """Hand the same rows to Python, and one row per batch to a stateful operator without work."""

    def swallow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = sum(map(len, batches))
        yield pa.record_batch([[rows]], names=["n"])

    marked = df.withWatermark("t", "0 seconds").select("k", F.unix_micros("t"), "x")
    grouped = marked.mapInArrow(swallow, "n bigint").groupBy("n")
    return grouped.transformWithStateInPandas(Nothing(), "n bigint", "Append", "EventTime")


def bench_time(streams: Streams) -> None:
    """Overlapping time windows; Spark expands each row into its 100 windows.

    The same batches are also handed to Python and a stateful operator that do nothing. That is
    Spark's share of Windrow's time.
    """
    small = streams(20_000, 3, 3)
    ours = rows_of(count_sum_max(small, SLIDING))
    check("time windows", ours, rows_of(by_window(small)))
    rows = 1_000_000
    own = statistics.median(batch_seconds(count_sum_max(streams(rows, 13, 100), SLIDING), 5))
    nothing = statistics.median(batch_seconds(by_nothing(streams(rows, 13, 100)), 5))
    theirs = statistics.median(batch_seconds(by_window(streams(rows, 5, 100)), 2))
    report("time 1 s, 10 ms, 100 keys: Spark's window()", rows, theirs)
    report("  Windrow", rows, own, theirs / own, ">= 15")
    report("  the same rows, without work", rows, nothing, theirs / nothing, "none")


def by_tumbling_window(df: DataFrame) -> DataFrame:
    """Tumbling windows as a Spark user writes them."""
    grouped = df.withWatermark("t", "0 seconds").groupBy("k", F.window("t", "1 second").alias("w"))
    results = grouped.agg(F.count("*").alias("n"), F.sum("x").alias("s"), F.max("x").alias("m"))
    return results.select("k", "w.start", "w.end", "n", "s", "m")


def bench_native(streams: Streams) -> None:
    """Tumbling windows left to Spark's own aggregation, compared with the query by hand."""
    model = wr.TimeWindow("1 s")

    def left_to_spark(df: DataFrame) -> DataFrame:
        streams.spark.conf.set(NATIVE_STREAMS, "true")
        results = count_sum_max(df, model)
        streams.spark.conf.unset(NATIVE_STREAMS)
        return results

    small = streams(1_500_000, 3, 3)
    expected = rows_of(by_tumbling_window(small))
    check("native windows", rows_of(left_to_spark(small)), expected)
    rows = 1_000_000
    made = {
        "by hand": by_tumbling_window,
        "left to Spark": left_to_spark,
        "in Python": lambda df: count_sum_max(df, model),
    }
    seconds: dict[str, list[float]] = {name: [] for name in made}
    # In turns: what the machine does meanwhile must not meet one of them alone.
    for _ in range(3):
        for name, make in made.items():
            seconds[name] += batch_seconds(make(streams(rows, 9, 100)), 4)
    by_hand, *others = (statistics.median(times) for times in seconds.values())
    report("tumbling 1 s, 100 keys: by hand", rows, by_hand)
    for name, own, target in zip(list(made)[1:], others, (">= 0.95", "none"), strict=True):
        report(f"  {name}", rows, own, by_hand / own, target)


def newest(w: wr.Window) -> dict[str, int]:
    return {"s": int(w["x"][-1]), "n": len(w)}


def applied(df: DataFrame, length: int, slide: int) -> DataFrame:
    windowed = wr.stream(df).key_by("k").event_time("t").window(wr.CountWindow(length, slide))
    return windowed.apply(newest, "s bigint, n bigint").to_df()


def bench_state(streams: Streams) -> None:
    """The same batches with little and with much state: 100 or 100,000 tuples for 100 keys."""
    check_with_oracle(streams(2_000, 3, 3))
    rows = 500_000
    seconds = {}
    for length, batches in ((100, 8), (100_000, 28)):
        df = applied(streams(rows, batches, 100), length, 1_000)
        seconds[length] = statistics.median(batch_seconds(df, batches - 5))
    report("count, apply, 1e4 tuples retained", rows, seconds[100])
    ratio = seconds[100_000] / seconds[100]
    report("count, apply, 1e7 tuples retained", rows, seconds[100_000], ratio, "<= 1.3")


def check_with_oracle(df: DataFrame) -> None:
    """Fail unless every count window equals the oracle's."""
    model = wr.CountWindow(50, 7)
    name = f"input_{time.monotonic_ns()}"
    df.writeStream.format("memory").queryName(name).trigger(
        availableNow=True
    ).start().awaitTermination()
    rows = [row.asDict() for row in df.sparkSession.table(name).collect()]
    found = oracle.windows(model, rows, key=["k"], time="t", open_windows="drop")
    expected = [(*w.key, w.start, w.end, w.rows[-1]["x"], len(w.rows)) for w in found]
    check("count windows", rows_of(applied(df, 50, 7)), sorted(expected))


LENGTH, SLIDE = 50, 10


class CountPerKey(StatefulProcessor):
    """Count windows as a Spark user would write them: one state per key with its last tuples."""

    def init(self, handle: Any) -> None:
        self.held = handle.getValueState("held", "xs array<bigint>, first bigint")

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        batch = pd.concat(rows).sort_values("t", kind="stable")
        state = self.held.get()
        xs, first = ([], 0) if state is None else (list(state[0]), state[1])
        values = np.array([*xs, *batch["x"]], np.int64)
        found = []
        while len(values) >= LENGTH:
            window = values[:LENGTH]
            found.append((key[0], first, LENGTH, int(window.sum()), int(window.max())))
            values, first = values[SLIDE:], first + SLIDE
        self.held.update((values.tolist(), first))
        yield pd.DataFrame(found, columns=["k", "start", "n", "s", "m"])

    def close(self) -> None:
        return


def per_key(df: DataFrame) -> DataFrame:
    """The straightforward baseline; it does not wait for the watermark."""
    schema = "k bigint, start bigint, n bigint, s bigint, m bigint"
    grouped = df.groupBy("k")
    return grouped.transformWithStateInPandas(CountPerKey(), schema, "Append", "None")


def counted(df: DataFrame) -> DataFrame:
    return count_sum_max(df, wr.CountWindow(LENGTH, SLIDE))


def bench_keys(streams: Streams) -> None:
    """Count windows with few keys and with many, compared with one state per key.

    Both sides get the same batches, and every key has windows in each batch that counts.
    """
    small = streams(10_000, 4, 3)
    ours = rows_of(counted(small).select("k", "window_start", "n", "s", "m"))
    theirs = rows_of(per_key(small))
    check("count windows by key", ours, [r for r in theirs if r[:2] in {o[:2] for o in ours}])
    for keys, rows, target in ((100, 2_000_000, ">= 5"), (10_000, 100_000, ">= 30")):
        df = streams(rows, 9, keys)
        own, base = (statistics.median(batch_seconds(make(df), 6)) for make in (counted, per_key))
        report(f"count 50, 10, {keys:,} keys: one state per key", rows, base)
        report("  Windrow", rows, own, base / own, target)


def bench_empty(streams: Streams) -> None:
    """Batches of two rows: the cost of a batch before any work."""
    df = streams(2, 12, 2)
    for label, make in {
        "Spark's window()": by_window,
        "Windrow": lambda df: count_sum_max(df, SLIDING),
    }.items():
        seconds = statistics.median(batch_seconds(make(df), 4))
        print(f"  a batch of two rows: {label:35} {seconds:7.3f} s", flush=True)


def bench_latency(streams: Streams) -> None:
    """The time from a row's creation to the window it completes, at 100,000 rows per second."""
    rate = streams.spark.readStream.format("rate").option("rowsPerSecond", 100_000).load()
    df = rate.select(
        F.pmod("value", F.lit(100)).alias("k"),
        F.col("timestamp").alias("t"),
        F.pmod("value", F.lit(1000)).alias("x"),
    )
    windowed = wr.stream(df).key_by("k").event_time("t").window(wr.CountWindow(1000, 100))
    results = windowed.agg(n=wf.count(), last=wf.max("t")).to_df()
    latencies: list[float] = []

    def note(batch: DataFrame, number: int) -> None:
        newest = batch.select(F.unix_millis("last")).toPandas().iloc[:, 0]
        if number > 5:
            latencies.extend(time.time() - newest / 1000)

    query = results.writeStream.foreachBatch(note).start()
    query.awaitTermination(40)
    query.stop()
    p50, p99 = np.quantile(latencies, [0.5, 0.99])
    rows = statistics.median(p.processedRowsPerSecond for p in query.recentProgress[3:])
    print(
        f"  100,000 rows/s, {len(latencies):,} windows: latency p50 {p50:.2f} s, p99 {p99:.2f} s; "
        f"batches process {rows:,.0f} rows/s",
        flush=True,
    )


PARTS: dict[str, Callable[[Streams], None]] = {
    "time": bench_time,
    "native": bench_native,
    "state": bench_state,
    "keys": bench_keys,
    "empty": bench_empty,
    "latency": bench_latency,
}


def main(parts: list[str]) -> None:
    """Check and time the named parts, or all of them."""
    # If a query stops within foreachBatch, Spark matches long messages and needs a deep stack.
    spark = wr.local_spark(cores=CORES, spark__driver__extraJavaOptions="-Xss16m")
    print(f"{CORES} cores, the median batch", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for part in parts or list(PARTS):
            PARTS[part](Streams(spark, Path(folder)))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
