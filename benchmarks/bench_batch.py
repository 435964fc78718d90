"""The cost of queries over bounded DataFrames, compared with Spark's own operators.

Run with ``make bench-batch``, or ``python -m benchmarks.bench_batch [part ...]``; the parts are
``time``, ``tumbling``, ``count``, ``keys`` and ``hot``. Every query is checked on a small sample
first, against Spark or the oracle. A wrong result fails the benchmark; a missed target does not.

The input is read from Parquet files that were written before. Results go to Spark's ``noop`` sink.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import Window as SparkWindow
from pyspark.sql import functions as F

import windrow as wr
from benchmarks.bench_kernels_ranges import best_of
from benchmarks.reporting import check, report, rows_of
from windrow import functions as wf
from windrow.core import oracle
from windrow.core.models import WindowModel
from windrow.patterns import Pattern

REPEATS = 3
CORES = 2
SAMPLE = 20_000
BUSY = 200e-6
"""Seconds of work in each window of the hot key."""

SLIDING = wr.TimeWindow("1 s", "10 ms")
TUMBLING = wr.TimeWindow("10 s")
COUNT = wr.CountWindow(1000, 10)
HOT = wr.TimeWindow("1 ms", "50 us")

Make = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True)
class Data:
    """Makes tuples ``(k, t, x)``, one every ``every`` microseconds, and keeps them as files."""

    spark: SparkSession
    folder: str

    def __call__(self, rows: int, keys: int, every: int = 1) -> DataFrame:
        path = f"{self.folder}/{rows}-{keys}-{every}"
        mixed = F.xxhash64("id")
        generated = self.spark.range(rows, numPartitions=CORES).select(
            F.pmod(mixed, F.lit(keys)).alias("k"),
            F.timestamp_micros(F.col("id") * every).alias("t"),
            F.pmod(F.shiftright(mixed, 20), F.lit(1000)).alias("x"),
        )
        generated.write.mode("ignore").parquet(path)
        return self.spark.read.parquet(path)


def count_sum_max(model: WindowModel) -> Make:
    """The query whose throughput is measured."""

    def make(df: DataFrame) -> DataFrame:
        functions = {"n": wf.count(), "s": wf.sum("x"), "m": wf.max("x")}
        return wr.stream(df).key_by("k").event_time("t").window(model).agg(**functions).to_df()

    return make


def by_window(*duration: str) -> Make:
    """The same query with Spark's ``window``."""

    def make(df: DataFrame) -> DataFrame:
        grouped = df.groupBy("k", F.window("t", *duration).alias("w"))
        results = grouped.agg(F.count("*").alias("n"), F.sum("x").alias("s"), F.max("x").alias("m"))
        return results.select("k", "w.start", "w.end", "n", "s", "m")

    return make


def by_frame(df: DataFrame) -> DataFrame:
    """Full windows of the last 1000 tuples at every tenth tuple, with Spark's window frames."""
    ordered = SparkWindow.partitionBy("k").orderBy("t")
    frame = ordered.rowsBetween(1 - COUNT.length, 0)
    framed = df.select(
        "k",
        F.row_number().over(ordered).cast("bigint").alias("end"),
        F.count("*").over(frame).alias("n"),
        F.sum("x").over(frame).alias("s"),
        F.max("x").over(frame).alias("m"),
    )
    is_window = (F.col("end") >= COUNT.length) & (F.col("end") % COUNT.slide == 0)
    return framed.filter(is_window).select("k", F.col("end") - COUNT.length, "end", "n", "s", "m")


def steps_in(seconds: float) -> int:
    """How many steps of an empty loop take this many seconds on this machine."""
    steps = 100_000
    (measured,) = best_of(10, lambda: _loop(steps))
    return round(steps * seconds / measured)


def _loop(steps: int) -> None:
    for _ in range(steps):
        pass


def hot_key(pattern: Pattern, steps: int) -> Make:
    """An expensive function of the windows of one key: a loop of ``steps`` steps."""

    def busy(window: wr.Window) -> dict[str, int]:
        for _ in range(steps):
            pass
        return {"s": int(window["x"].sum())}

    def make(df: DataFrame) -> DataFrame:
        windowed = wr.stream(df).key_by("k").event_time("t").window(HOT)
        return windowed.apply(busy, returns="s bigint").using(pattern).to_df()

    return make


def run(make: Make, df: DataFrame) -> Callable[[], None]:
    """Run the query over all rows and throw its results away."""
    return lambda: make(df).write.format("noop").mode("overwrite").save()


def bench_time(data: Data) -> None:
    """Overlapping time windows; Spark expands each row into its 100 windows."""
    baseline = by_window("1 second", "10 milliseconds")
    small = data(SAMPLE, 100, every=100)
    check("time windows", rows_of(count_sum_max(SLIDING)(small)), rows_of(baseline(small)))
    rows, fewer = 20_000_000, 200_000
    ours, theirs = best_of(
        REPEATS,
        run(count_sum_max(SLIDING), data(rows, 100)),
        run(baseline, data(fewer, 100)),
    )
    report("time 1 s, 10 ms, 100 keys: Spark's window()", fewer, theirs)
    report("  Windrow", rows, ours, rows / ours / (fewer / theirs), ">= 50")


def bench_tumbling(data: Data) -> None:
    """Tumbling time windows, which Spark does well itself."""
    baseline = by_window("10 seconds")
    small = data(SAMPLE, 100, every=2_000)
    check("tumbling windows", rows_of(count_sum_max(TUMBLING)(small)), rows_of(baseline(small)))
    rows = 20_000_000
    df = data(rows, 100)
    ours, theirs = best_of(REPEATS, run(count_sum_max(TUMBLING), df), run(baseline, df))
    report("time 10 s tumbling, 100 keys: Spark's window()", rows, theirs)
    report("  Windrow", rows, ours, theirs / ours, ">= 0.95")


def bench_count(data: Data) -> None:
    """Count windows, compared with frames and Spark's segment tree."""
    data.spark.conf.set("spark.sql.window.segmentTree.enabled", "true")
    small = data(SAMPLE, 3)
    full = [row for row in rows_of(count_sum_max(COUNT)(small)) if row[3] == COUNT.length]
    check("count windows", full, rows_of(by_frame(small)))
    rows = 8_000_000
    df = data(rows, 100)
    ours, theirs = best_of(REPEATS, run(count_sum_max(COUNT), df), run(by_frame, df))
    report("count 1000, 10, 100 keys: Spark's rowsBetween", rows, theirs)
    report("  Windrow", rows, ours, theirs / ours, ">= 3")


def bench_keys(data: Data) -> None:
    """The same count windows with few keys and with many."""
    check_with_oracle(data(SAMPLE // 4, 1_000))
    rows, numbers = 4_000_000, (100, 1, 100_000)
    runs = [run(count_sum_max(COUNT), data(rows, keys)) for keys in numbers]
    seconds = best_of(REPEATS, *runs)
    for keys, each in zip(numbers, seconds, strict=True):
        target = "" if keys == 100 else "any" if keys == 1 else "<= 3"
        label = f"count 1000, 10, {keys:,} key{'s' * (keys > 1)}"
        report(label, rows, each, each / seconds[0], target)


def check_with_oracle(df: DataFrame) -> None:
    """Fail unless every count window, full or not, equals the oracle's."""
    expected = [
        (*w.key, w.start, w.end, len(x), sum(x), max(x))
        for w in oracle.windows(COUNT, [r.asDict() for r in df.collect()], key=["k"], time="t")
        for x in [[row["x"] for row in w.rows]]
    ]
    check("count windows of many keys", rows_of(count_sum_max(COUNT)(df)), sorted(expected))


def bench_hot(data: Data) -> None:
    """One key and an expensive function: a key farm keeps one worker busy, a window farm all."""
    steps = steps_in(BUSY)
    key_farm = wr.KeyFarm(CORES)
    farms = [wr.WinFarm(CORES), wr.WinFarm(CORES, workers="agnostic", batch=64)]
    makes = [hot_key(pattern, steps) for pattern in (key_farm, *farms)]
    small = data(SAMPLE // 4, 1, every=2)
    grouped = small.groupBy(F.window("t", "1 millisecond", "50 microseconds").alias("w"))
    by_spark = grouped.agg(F.sum("x").alias("s")).select(F.lit(0), "w.start", "w.end", "s")
    for make in makes:
        check("windows of a hot key", rows_of(make(small)), rows_of(by_spark))
    rows = 600_000
    df = data(rows, 1, every=5)
    alone, *others = best_of(REPEATS, *(run(make, df) for make in makes))
    report(f"200 us per window, 1 ms, 50 us, 1 key: {key_farm.name}({CORES})", rows, alone)
    for farm, each in zip(farms, others, strict=True):
        report(f"  {farm.name}({CORES}), {farm.workers}", rows, each, alone / each, ">= 1.7")


PARTS: dict[str, Callable[[Data], None]] = {
    "time": bench_time,
    "tumbling": bench_tumbling,
    "count": bench_count,
    "keys": bench_keys,
    "hot": bench_hot,
}


def main(parts: list[str]) -> None:
    """Check and time the named parts, or all of them."""
    spark = wr.local_spark(cores=CORES)
    print(f"{CORES} cores, best of {REPEATS}: count, sum, max", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for part in parts or list(PARTS):
            PARTS[part](Data(spark, folder))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
