"""The memory of the Python worker that reads a file of 2 GB, all of it in one row group.

Run it by hand, with Java, 3 GB of free disk and 6 GB of memory to write the file:

    export PYSPARK_PYTHON=$PWD/.venv/bin/python JAVA_HOME=$(scripts/find_java.sh)
    .venv/bin/python -m benchmarks.memory_files

One core has one task, which reads the file and keeps panes of sliding time windows, or packs all
rows for count windows. The program samples the resident memory of the workers; that of one must
stay below 1 GiB.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

import windrow as wr
from benchmarks.memory_batch import Sampler
from windrow import functions as wf
from windrow.core import WindowModel

ROWS = 60_000_000
LIMIT_GIB = 1.0
MODELS: dict[str, WindowModel] = {
    "time": wr.TimeWindow("1 s", "10 ms"),
    "count": wr.CountWindow(1000, 100),
}


def write(path: Path) -> None:
    """A file with one row group; values are random, so that nothing makes them smaller."""
    rng = np.random.default_rng(1)
    times = pa.array(np.arange(ROWS), pa.timestamp("us"))
    columns = {"k": pa.array(rng.integers(0, 100, ROWS, np.int8)).cast(pa.int64()), "t": times}
    columns |= {name: pa.array(rng.random(ROWS)) for name in "xyz"}
    table = pa.table(columns)
    pq.write_table(table, path, ROWS, compression="none", use_dictionary=["k"])


def main(model: str) -> None:
    """Run the query over the file and report the peak of one worker."""
    spark = wr.local_spark(cores=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.parquet"
        # In a process of its own, as what writes a row group holds it.
        command = [sys.executable, "-m", "benchmarks.memory_files", "write", str(path)]
        subprocess.run(command, check=True)
        keyed = wr.scan(path).key_by("k").event_time("t").window(MODELS[model])
        query = keyed.agg(n=wf.count(), x=wf.sum("x"), y=wf.max("y"), z=wf.min("z"))
        sampler = Sampler()
        sampler.start()
        began = time.perf_counter()
        (counted,) = query.to_df(spark).agg(F.count("*")).collect()[0]
        seconds = time.perf_counter() - began
        size = path.stat().st_size / 2**30
    greatest = sampler.greatest / 2**30
    print(f"{model}: a file of {size:.2f} GiB, {counted:,} windows in {seconds:.0f} s")
    print(f"one worker: at most {greatest:.2f} GiB; all together {sampler.peak / 2**30:.2f} GiB")
    print("within the limit" if greatest < LIMIT_GIB else f"missed: the limit is {LIMIT_GIB} GiB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        write(Path(sys.argv[2]))
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else "time")
