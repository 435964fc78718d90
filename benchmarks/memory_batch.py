"""The memory of the Python workers for count windows over one key with very many tuples.

Run it by hand, with Java and 10 GB of free disk. Each run takes minutes:

    export PYSPARK_PYTHON=$PWD/.venv/bin/python JAVA_HOME=$(scripts/find_java.sh)
    .venv/bin/python -m benchmarks.memory_batch ordered
    .venv/bin/python -m benchmarks.memory_batch shuffled

The input has 50 million tuples with one key. Their event times are in the order of the files, or in
no order at all. One worker gets them all, and must place them without holding all of them in memory
at once. The program samples the sum of the resident memory of Spark's Python workers, whose peak
must stay below 4 GiB. Forked workers share pages with their parent, and these are counted for each
worker, so the sum is an upper bound.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from pyspark.sql import functions as F

import windrow as wr
from windrow import functions as wf

ROWS = 50_000_000
MODEL = wr.CountWindow(1000, 100)
LIMIT_GIB = 4.0


def worker_memory() -> dict[int, int]:
    """The resident bytes of each Python worker among the descendants of this process."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # the process has ended
        parents[int(status.parent.name)] = int(fields[1])
    memory: dict[int, int] = {}
    for pid in parents:
        above = parents[pid]
        while above not in (0, os.getpid()):
            above = parents.get(above, 0)
        try:
            if above and b"pyspark" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[2]:
                pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
                memory[pid] = pages * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            continue
    return memory


class Sampler(threading.Thread):
    """Remembers the greatest sum of the workers' memory."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self.greatest = 0, 0

    def run(self) -> None:
        """Sample ten times per second, for as long as the program runs."""
        while True:
            memory = worker_memory().values()
            self.peak = max(self.peak, sum(memory))
            self.greatest = max(self.greatest, *memory, 0)
            time.sleep(0.1)


def main(order: str, rows: int = ROWS) -> None:
    """Run the query over this many tuples and report the peak."""
    spark = wr.local_spark(cores=2)
    with tempfile.TemporaryDirectory() as folder:
        times = F.col("id") if order == "ordered" else F.pmod(F.col("id") * 7_368_787, F.lit(rows))
        tuples = spark.range(rows, numPartitions=8).select(
            F.lit(0).alias("k"),
            F.timestamp_micros(times).alias("t"),
            (F.col("id") % 1000).alias("x"),
        )
        tuples.write.parquet(f"{folder}/tuples")
        sampler = Sampler()
        sampler.start()
        keyed = wr.stream(spark.read.parquet(f"{folder}/tuples")).key_by("k").event_time("t")
        windows = keyed.window(MODEL).agg(n=wf.count(), s=wf.sum("x"), m=wf.max("x")).to_df()
        began = time.perf_counter()
        found = windows.agg(F.count("*"), F.sum(F.when(F.expr("window_id % 10 = 0"), F.col("n"))))
        counted, covered = found.collect()[0]
        seconds = time.perf_counter() - began
    peak = sampler.peak / 2**30
    print(f"{order}: {rows:,} tuples, {counted:,} windows in {seconds:.0f} s")
    print(f"Python workers: at most {peak:.2f} GiB, one at most {sampler.greatest / 2**30:.2f} GiB")
    if (counted, covered) != (-(-rows // MODEL.slide), rows):
        sys.exit("wrong: taken together, every tenth window must hold each tuple once")
    print("within the limit" if peak < LIMIT_GIB else f"missed: the limit is {LIMIT_GIB} GiB")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else ROWS)
