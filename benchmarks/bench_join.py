"""The cost of joins: compared with Spark's own, by layout, and by the length of the window.

Run with ``make bench-join``, or ``python -m benchmarks.bench_join [part ...]``; the parts are
``batch``, ``stream`` and ``growth``. Before timing, the join is checked on a small sample against
the nested loops of the oracle. A wrong result fails the benchmark; a missed target does not.

The predicate is that of DP-Join, section 5.1: two integer attributes, each within 10 of the other
side's. About 3.6 in a million pairs satisfy it.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from benchmarks.bench_stream import batch_seconds
from windrow.core import oracle
from windrow.engine.joins.in_process import JoinRunner
from windrow.engine.joins.intake import join_tuples
from windrow.engine.stages.messages import pack

CORES = 2
RANGE = 11_000
BAND = 10
SCHEMA = "ts timestamp, a bigint, b bigint"
START = 1_700_000_000_000_000
LAYOUTS = ((1, 4), (2, 2), (4, 1))


def tuples(rows: int, every: int, seed: int, first: int = 0, values: int = RANGE) -> pa.Table:
    """Tuples ``(ts, a, b)``, one every ``every`` microseconds, from number ``first`` on."""
    draw = np.random.default_rng((seed, first))
    times = START + (first + np.arange(rows)) * every
    return pa.table(
        {
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "a": draw.integers(0, values, rows),
            "b": draw.integers(0, values, rows),
        }
    )


def band() -> Any:
    return wr.band(a=BAND, b=BAND)


def in_band(x: Any, y: Any) -> bool:
    return abs(x["a"] - y["a"]) <= BAND and abs(x["b"] - y["b"]) <= BAND


def rows_of(rows: list[Any]) -> list[Any]:
    """The rows, sorted, with times as numbers."""
    return sorted(tuple(getattr(v, "timestamp", lambda v=v: v)() for v in row) for row in rows)


def check() -> None:
    """Fail unless all pairs equal those of the oracle."""
    left, right = tuples(3_000, 50, 1), tuples(3_000, 50, 2)
    joined = wr.join(left, right, within="10 ms", on=wr.band(a=300, b=300), time="ts").collect()
    found = rows_of([row.values() for row in joined.to_pylist()])
    pairs = oracle.join(
        left.to_pylist(),
        right.to_pylist(),
        lambda x, y: abs(x["a"] - y["a"]) <= 300 and abs(x["b"] - y["b"]) <= 300,
        within="10 ms",
        time="ts",
    )
    expected = rows_of([(*x.values(), *y.values()) for x, y in pairs])
    if not expected or found != expected:
        raise AssertionError(f"{len(found)} pairs found, {len(expected)} expected")


def by_spark(left: DataFrame, right: DataFrame) -> DataFrame:
    """The same join, by Spark itself."""
    x, y = left.alias("x"), right.alias("y")
    near = F.abs(F.unix_micros("x.ts") - F.unix_micros("y.ts")) <= 300_000_000
    bands = [F.abs(F.col(f"x.{c}") - F.col(f"y.{c}")) <= BAND for c in ("a", "b")]
    return x.join(y, near & bands[0] & bands[1])


def bench_batch(spark: SparkSession) -> None:
    """Join 200,000 with 200,000 tuples within one window."""
    rows = 200_000
    with tempfile.TemporaryDirectory() as folder:
        for seed, side in ((1, "left"), (2, "right")):
            (Path(folder) / side).mkdir()
            for part in range(CORES):
                made = tuples(rows // CORES, 1000, seed, part * rows // CORES)
                pq.write_table(made, Path(folder) / side / f"{part}.parquet")
        left, right = (spark.read.parquet(f"{folder}/{side}") for side in ("left", "right"))
        ours = wr.join(left, right, within="5 minutes", on=band(), time="ts").to_df()
        seconds, found = min(_timed(ours.count) for _ in range(3))
        theirs, expected = _timed(by_spark(left, right).count)
    if found != expected:
        raise AssertionError(f"{found} pairs found, Spark finds {expected}")
    rate = found / rows**2
    print(f"  band join, {rows:,} x {rows:,}, {found:,} pairs, hit rate {rate:.1e}")
    print(f"    Spark's theta join   {theirs:8.2f} s")
    print(f"    Windrow              {seconds:8.2f} s   {theirs / seconds:8.1f}x   target >= 50")


def _timed(run: Callable[[], int]) -> tuple[float, int]:
    start = time.perf_counter()
    found = run()
    return time.perf_counter() - start, found


def stream_of(spark: SparkSession, folder: Path, rows: int, batches: int, seed: int) -> DataFrame:
    """A stream with ``rows`` tuples per batch; each batch spans one second."""
    folder.mkdir()
    for i in range(batches):
        pq.write_table(tuples(rows, 1_000_000 // rows, seed, i * rows), folder / f"{i:04}.parquet")
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder))


def bench_stream(spark: SparkSession) -> None:
    """Greatest rate, latency and bytes sent by layout, for equal and for unequal rates.

    The window is 10 s. The time of a batch is measured at two rates, and a straight line is drawn
    through both. It gives the rate at which a batch of one second takes one second, and the rate
    for long batches, where the fixed cost of a batch does not count. Latency is measured at 20,000
    tuples per second, from the creation of the later tuple of a pair to the arrival of the pair.
    """
    _batch_seconds(spark, (20_000, 20_000), (2, 2))  # Warms up Spark for all layouts.
    for shares in ((0.5, 0.5), (0.1, 0.9)):
        print(f"  {shares[0]:.0%} of the tuples left, {shares[1]:.0%} right, window 10 s")
        for layout in LAYOUTS:
            totals = (20_000, 100_000)
            rates = [(round(t * shares[0]), round(t * shares[1])) for t in totals]
            few, many = (statistics.median(_batch_seconds(spark, r, layout)) for r in rates)
            slope = (totals[1] - totals[0]) / (many - few)
            prompt = max(totals[0] + (1 - few) * slope, 0)
            latency = _latency(spark, round(20_000 * shares[0]), round(20_000 * shares[1]), layout)
            copies, sent = bytes_sent(rates[1], layout)
            print(
                f"    {layout[0]} x {layout[1]}: {few:5.2f} s for {totals[0]:,}, {many:5.2f} s for "
                f"{totals[1]:,}, at most {prompt:7,.0f} tuples/s in "
                f"batches of 1 s, {slope:9,.0f} in long ones; mean latency {latency:5.2f} s; "
                f"{totals[1]:,} tuples with their copies are {copies / 1e6:5.2f} MB, "
                f"{sent / 1e6:5.2f} MB as sent",
                flush=True,
            )


def _batch_seconds(
    spark: SparkSession, rates: tuple[int, int], layout: tuple[int, int]
) -> list[float]:
    batches = 14
    with tempfile.TemporaryDirectory() as folder:
        sides = [stream_of(spark, Path(folder) / f"{s}", rates[s], batches, s) for s in (0, 1)]
        joined = wr.join(*sides, within="10 s", on=band(), time="ts", layout=layout).to_df()
        return batch_seconds(joined, skipped=11)


def _latency(spark: SparkSession, left: int, right: int, layout: tuple[int, int]) -> float:
    """The mean latency of all pairs within 20 seconds, in seconds."""
    sides = []
    for seed, rate in enumerate((left, right)):
        made = spark.readStream.format("rate").option("rowsPerSecond", rate).load()
        drawn = [F.pmod(F.xxhash64("value", F.lit(2 * seed + i)), F.lit(RANGE)) for i in (0, 1)]
        columns = [F.col("timestamp").alias("ts"), drawn[0].alias("a"), drawn[1].alias("b")]
        sides.append(made.select(*columns))
    joined = wr.join(*sides, within="10 s", on=band(), time="ts", layout=layout).to_df()
    seconds, pairs = 0.0, 0

    def note(batch: DataFrame, number: int) -> None:
        nonlocal seconds, pairs
        later = F.greatest(F.unix_millis("left_ts"), F.unix_millis("right_ts"))
        found = batch.agg(F.count("*"), F.coalesce(F.sum(later), F.lit(0))).first()
        if number > 4 and found is not None:
            pairs += found[0]
            seconds += time.time() * found[0] - found[1] / 1000

    query = joined.writeStream.foreachBatch(note).start()
    query.awaitTermination(20)
    query.stop()
    return seconds / pairs


def bytes_sent(rates: tuple[int, int], layout: tuple[int, int]) -> tuple[float, float]:
    """Bytes per batch: computed as one copy of each tuple per cell it goes to, and as packed."""
    sides = [tuples(rate, 1_000_000 // rate, seed) for seed, rate in enumerate(rates)]
    joined = wr.join(*sides, within="10 s", on=band(), time="ts", layout=layout)
    runner = JoinRunner(joined.query, joined.stages())
    emit: Any = runner.nodes[0]
    alone, sent = [], 0
    for side, table in enumerate(sides):
        message, _ = join_tuples(joined.query, side, table, 0)
        alone.append(len(pack(message)))
        sent += sum(len(pack(t)) for t in emit.route.targets(message, 0) if t is not None)
    return layout[1] * alone[0] + layout[0] * alone[1], sent


def bench_growth(spark: SparkSession) -> None:
    """The cost of a tuple as the window grows.

    The band is so selective that a tuple has about two candidates, however long the window is.
    """
    del spark
    kinds: dict[str, tuple[Any, tuple[int, ...]]] = {
        "band": (band(), (10_000, 100_000, 1_000_000)),
        "theta": (wr.theta(lambda x, y: x["a"] + y["a"] == 0), (1_000, 4_000, 16_000)),
    }
    for name, (on, windows) in kinds.items():
        costs = []
        for window in windows:
            costs.append(_cost(on, window))
            per_pair = f", {costs[-1] / window * 1e9:.2f} ns per tuple of the window"
            detail = per_pair if name == "theta" else ""
            print(f"  {name}, window of {window:>9,} tuples: {costs[-1] * 1e6:8.2f} us{detail}")
        print(f"    {windows[-1] // windows[0]}x the window costs {costs[-1] / costs[0]:.2f}x")


def _cost(on: Any, window: int) -> float:
    """Seconds per tuple for a batch that meets a full window: the least of five runs."""
    rows = 2_000
    empty = tuples(0, 1, 0)
    joined = wr.join(empty, empty, within=f"{window} us", on=on, time="ts", layout=(1, 1))
    runner = JoinRunner(joined.query, joined.stages())
    values = window * BAND
    sides = [tuples(window, 1, seed, 0, values) for seed in (1, 2)]
    step = max(rows, window // 8)
    for first in range(0, window, step):
        runner.push(*(side.slice(first, step) for side in sides))
        runner.advance(START + first)
    costs = []
    for i in range(5):
        first = window + i * rows
        batch = [tuples(rows, 1, seed, first, values) for seed in (1, 2)]
        start = time.perf_counter()
        runner.push(*batch)
        runner.advance(START + first)
        costs.append((time.perf_counter() - start) / (2 * rows))
    return min(costs)


PARTS: dict[str, Callable[[SparkSession], None]] = {
    "batch": bench_batch,
    "stream": bench_stream,
    "growth": bench_growth,
}


def main(parts: list[str]) -> None:
    """Check and time the named parts, or all of them."""
    check()
    # If a query stops within foreachBatch, Spark matches long messages and needs a deep stack.
    spark = wr.local_spark(cores=CORES, spark__driver__extraJavaOptions="-Xss16m")
    print(f"{CORES} cores", flush=True)
    for part in parts or list(PARTS):
        PARTS[part](spark)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
