"""Overlapping time windows over Parquet files, compared with Flink SQL.

Run with ``make bench-flink``, which installs PyFlink in ``.flink``. Both read the same files, use
two slots and write their results as Parquet. The results are compared.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import windrow as wr
from benchmarks.bench_kernels_ranges import best_of
from benchmarks.reporting import check, report
from windrow import functions as wf

ROWS, KEYS, FILES = 8_000_000, 100, 4
PER_MS = 100
REPEATS = 3
SLOTS = 2
FLINK = Path(__file__).parents[1] / ".flink"


def write_rows(folder: Path) -> None:
    """Rows ``(k, t, x)`` in order of time, dealt to files that are one split of Flink's each."""
    folder.mkdir()
    draw = np.random.default_rng(3)
    columns = {
        "k": draw.integers(0, KEYS, ROWS),
        "t": np.arange(ROWS) // PER_MS,
        "x": draw.integers(0, 1000, ROWS),
    }
    for i in range(FILES):
        part = pa.table({name: column[i::FILES] for name, column in columns.items()})
        pq.write_table(part, folder / f"{i}.parquet")
        assert (folder / f"{i}.parquet").stat().st_size < 32 << 20


def query(rows: wr.Query) -> wr.Query:
    """Count, sum and maximum of each key per second, every 10 ms."""
    windows = rows.key_by("k").event_time("t", unit="ms").window(wr.TimeWindow("1 s", "10 ms"))
    return windows.agg(n=wf.count(), s=wf.sum("x"), m=wf.max("x"))


def bounded(spark: SparkSession, folder: Path, out: Path) -> Callable[[], None]:
    """The query over the files."""
    results = query(wr.scan(str(folder))).to_df(spark)
    return lambda: results.write.mode("overwrite").parquet(str(out))


def flink(folder: Path, out: Path, mode: str) -> float:
    """The best time of Flink, which runs in a process of its own."""
    side = Path(__file__).with_name("flink_side.py")
    jars = sorted(map(str, (FLINK / "jars").glob("*.jar")))
    arguments = [str(folder), str(out), mode, str(REPEATS), str(SLOTS), *jars]
    run = subprocess.run(
        [str(FLINK / "venv" / "bin" / "python"), str(side), *arguments],
        capture_output=True,
        text=True,
    )
    if run.returncode:
        raise RuntimeError(run.stderr[-4000:])
    lines = [line.split() for line in run.stdout.splitlines() if line.startswith("took ")]
    return min(float(seconds) for _, seconds in lines)


def results_of(folder: Path) -> list[tuple[int, ...]]:
    """All results in order: key, start in milliseconds, count, sum, maximum."""
    found = ds.dataset(str(folder), format="parquet", exclude_invalid_files=True).to_table()
    start = found["window_start"]
    if pa.types.is_timestamp(start.type):
        start = start.cast(pa.timestamp("us")).cast(pa.int64())
        start = pa.array(start.to_numpy() // 1000)
    columns = [found["k"], start, found["n"], found["s"], found["m"]]
    return sorted(zip(*(column.to_pylist() for column in columns), strict=True))


def main() -> None:
    """Run both and compare."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "in")
        write_rows(folder)
        spark = wr.local_spark(cores=SLOTS)
        (ours,) = best_of(REPEATS, bounded(spark, folder, Path(scratch, "windrow")))
        spark.stop()
        report(f"time 1 s, 10 ms, {KEYS} keys: Windrow", ROWS, ours)
        for mode in ("batch", "streaming"):
            theirs = flink(folder, Path(scratch, mode), mode)
            check(
                mode, results_of(Path(scratch, f"{mode}-0")), results_of(Path(scratch, "windrow"))
            )
            report(f"  Flink, {mode}", ROWS, theirs, theirs / ours, "none")


if __name__ == "__main__":
    sys.exit(main())
