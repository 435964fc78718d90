"""Overlapping time windows over Parquet files, bounded and as a stream, compared with Flink SQL.

Run with ``make bench-flink``, which installs PyFlink in ``.flink``, or ``python -m
benchmarks.bench_flink [--rows N]``. Both read the same files with two slots and write their results
as Parquet. All results are compared. CPU time is told beside the rates, because it hardly depends
on what else the machine does.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import rmtree
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import windrow as wr
from benchmarks.cpu_seconds import cpu_seconds
from benchmarks.reporting import check, report
from windrow import functions as wf

ROWS, KEYS, PER_MS = 4_000_000, 100, 100
LENGTH = 1000
"""Milliseconds of a window."""
BEGIN = 1_767_605_400_000
"""Milliseconds; Flink writes windows that begin before 1970 with another time."""
BATCH_ROWS = 200_000
"""Rows for Flink's batch mode, which copies each of them 100 times; rates are compared."""
REPEATS = 3
SLOTS = 2
FLINK = Path(__file__).parents[1] / ".flink"


def write_rows(folder: Path, rows: int) -> Path:
    """Rows ``(k, t, x)`` in order of time, in a file per slot.

    Flink reads the files of a slot one after the other, and would drop the rows of a second file as
    late.
    """
    folder.mkdir()
    draw = np.random.default_rng(3)
    columns = {
        "k": draw.integers(0, KEYS, rows),
        "t": BEGIN + np.arange(rows) // PER_MS,
        "x": draw.integers(0, 1000, rows),
    }
    for i in range(SLOTS):
        part = pa.table({name: column[i::SLOTS] for name, column in columns.items()})
        pq.write_table(part, folder / f"{i}.parquet")
    return folder


def windows(rows: wr.Query) -> wr.Query:
    """Count, sum and maximum of each key per second, every 10 ms."""
    model = wr.TimeWindow(f"{LENGTH} ms", "10 ms")
    sliding = rows.key_by("k").event_time("t", unit="ms").window(model)
    return sliding.agg(n=wf.count(), s=wf.sum("x"), m=wf.max("x"))


def cost(run: Callable[[], object]) -> tuple[float, float]:
    """The least wall and CPU seconds of some runs, after one to warm up."""
    run()
    costs = []
    for _ in range(REPEATS):
        cpu, began = cpu_seconds(), perf_counter()
        run()
        costs.append((perf_counter() - began, cpu_seconds() - cpu))
    return min(wall for wall, _ in costs), min(cpu for _, cpu in costs)


def ours(spark: SparkSession, folder: Path, scratch: Path) -> tuple[float, float]:
    """What Windrow's query costs over the files of the folder, on Spark."""
    results = windows(wr.scan(str(folder))).to_df(spark)
    out = str(scratch / f"windrow-{folder.name}")
    return cost(partial(results.write.mode("overwrite").parquet, out))


def our_stream(spark: SparkSession, folder: Path, scratch: Path) -> tuple[float, float]:
    """The same as a stream of these files, from its start to its end."""
    results = windows(wr.scan_stream(spark, str(folder))).to_df()

    def run() -> None:
        rmtree(scratch / "stream", ignore_errors=True)
        writer = results.writeStream.format("parquet").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(scratch / "stream" / "checkpoint"))
        writer.start(str(scratch / "stream" / "results")).awaitTermination()

    return cost(run)


def flinks(folder: Path, scratch: Path, mode: str) -> tuple[float, float]:
    """The same of Flink, which runs in a process of its own."""
    side = Path(__file__).with_name("flink_side.py")
    jars = sorted(map(str, (FLINK / "jars").glob("*.jar")))
    arguments = [str(folder), str(scratch / mode), mode, str(REPEATS + 1), str(SLOTS), *jars]
    run = subprocess.run(
        [str(FLINK / "venv" / "bin" / "python"), str(side), *arguments],
        capture_output=True,
        text=True,
    )
    if run.returncode:
        raise RuntimeError(run.stderr[-4000:])
    lines = [line.split() for line in run.stdout.splitlines() if line.startswith("took ")]
    _, *warm = [(float(wall), float(cpu)) for _, wall, cpu in lines]
    return min(wall for wall, _ in warm), min(cpu for _, cpu in warm)


def results_of(folder: Path) -> list[tuple[int, ...]]:
    """All results in order: key, start in milliseconds, count, sum, maximum."""
    found = ds.dataset(str(folder), format="parquet", exclude_invalid_files=True).to_table()
    start = found["window_start"]
    if pa.types.is_timestamp(start.type):
        start = start.cast(pa.timestamp("ms")).cast(pa.int64())
    columns = [found["k"], start, found["n"], found["s"], found["m"]]
    return sorted(zip(*(column.to_pylist() for column in columns), strict=True))


def main(rows: int) -> None:
    """Run both and compare."""
    with tempfile.TemporaryDirectory() as given:
        scratch = Path(given)
        many, few = write_rows(scratch / "many", rows), write_rows(scratch / "few", BATCH_ROWS)
        spark = wr.local_spark(cores=SLOTS)
        ours(spark, few, scratch)
        wall, cpu = ours(spark, many, scratch)
        stream_wall, stream_cpu = our_stream(spark, many, scratch)
        spark.stop()
        # A stream goes on: the windows that are open at the last row have not fired.
        last = BEGIN + (rows - 1) // PER_MS
        fired = [row for row in results_of(scratch / "windrow-many") if row[1] + LENGTH <= last]
        check("stream", results_of(scratch / "stream" / "results"), fired)
        report(f"time 1 s, 10 ms, {KEYS} keys: Windrow on Spark", rows, wall)
        report("  Windrow, as a stream of the files", rows, stream_wall, stream_wall / wall, "none")
        print(f"    It takes {stream_cpu / cpu:.2f} times the CPU time per row", flush=True)
        for mode, folder, n in (("streaming", many, rows), ("batch", few, BATCH_ROWS)):
            their_wall, their_cpu = flinks(folder, scratch, mode)
            expected = results_of(scratch / f"windrow-{folder.name}")
            check(mode, results_of(scratch / f"{mode}-0"), expected)
            in_time, in_cpu = their_wall / n / (wall / rows), their_cpu / n / (cpu / rows)
            report(f"  Flink SQL, {mode}", n, their_wall, in_time, "none")
            print(f"    Flink takes {in_cpu:.2f} times the CPU time per row", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    main(parser.parse_args().rows)
