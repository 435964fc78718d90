"""A program for spark-submit, which knows nothing of this clone: its results go to FOLDER.

    spark-submit program.py FOLDER bounded counted median join
    spark-submit program.py FOLDER stream members paned [--kill-worker]
    SPARK_REMOTE=sc://host:port python program.py FOLDER bounded paned --environment ARCHIVE
    SPARK_REMOTE=sc://host:port python program.py FOLDER bounded paned --wheel ZIP KERNELS PYTHON

It reads FOLDER/in. Its functions live in ``__main__``, as a user's script's do.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import windrow as wr
from windrow import functions as wf

SCHEMA = "k string, t bigint, seq int, x bigint"
DELAY = "4 ms"


class Members:
    """The function: the rows of a window; once it may kill the worker that it runs on."""

    def __init__(self, marker: Path | None) -> None:
        self.marker = marker

    def __call__(self, w: wr.Window) -> dict[str, Any]:
        if self.marker is not None and w.id == 6 and is_first(self.marker):
            kill_worker()
        return {"seqs": w["seq"].tolist()}


def is_first(marker: Path) -> bool:
    """Whether nobody has left this marker before: tasks on two workers may ask at once."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def kill_worker() -> None:
    """Kill Spark's worker, whose executor's daemon has forked this process."""
    process = os.getppid()
    for _ in range(2):
        found = subprocess.run(
            ["ps", "-o", "ppid=", "-p", str(process)], capture_output=True, text=True, check=True
        )
        process = int(found.stdout)
    os.kill(process, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def query(rows: DataFrame, model: wr.CountWindow | wr.TimeWindow) -> wr.Query:
    """The windows, in event time."""
    return wr.stream(rows).key_by("k").event_time("t", DELAY).order_by("seq").window(model)


def paned(rows: DataFrame) -> DataFrame:
    """A time window that a worker per part of the keys computes."""
    windows = query(rows, wr.TimeWindow("12 ms", "4 ms")).using(wr.KeyFarm(2))
    return windows.agg(n=wf.count(), total=wf.sum("x"), most=wf.max("x")).to_df()


def counted(rows: DataFrame) -> DataFrame:
    """A window by count."""
    windows = query(rows, wr.CountWindow(12, 5)).using(wr.KeyFarm(2))
    return windows.agg(n=wf.count(), total=wf.sum("x")).to_df()


def median(rows: DataFrame) -> DataFrame:
    """Medians of a time window."""
    windows = query(rows, wr.TimeWindow("12 ms", "4 ms")).using(wr.KeyFarm(2))
    return windows.agg(middle=wf.median("x")).to_df()


def join(rows: DataFrame) -> DataFrame:
    """The rows with themselves."""
    on = wr.equi("k") & wr.band(x=1)
    pairs = wr.join(rows, rows, within=("3 ms", "1 ms"), on=on, time="t").to_df()
    return pairs.select("left_seq", "right_seq")


BOUNDED: dict[str, Callable[[DataFrame], DataFrame]] = {
    "paned": paned,
    "counted": counted,
    "median": median,
    "join": join,
}


def prefixes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Which Python a task runs on, and where it has Windrow from, if it has."""
    from importlib.util import find_spec

    for _ in batches:
        spec = find_spec("windrow")
        row = {"prefix": sys.prefix, "windrow": None if spec is None else spec.origin}
        yield pa.RecordBatch.from_pylist([row])


def plain(results: DataFrame) -> list[list[Any]]:
    """The rows, without times."""
    return [list(row) for row in results.drop("window_start", "window_end").collect()]


def bounded(spark: SparkSession, folder: Path, names: list[str]) -> dict[str, Any]:
    """Each query twice: the first is the first of its kind on these executors."""
    found: dict[str, Any] = {}
    began = time.monotonic()
    tasks = spark.range(0, 4, 1, 4).mapInArrow(prefixes, "prefix string, windrow string")
    found["python"] = sorted({tuple(row) for row in tasks.collect()})
    found["seconds"] = {"python": [time.monotonic() - began]}
    rows = spark.read.schema(SCHEMA).parquet(str(folder / "in"))
    for name in names:
        for _ in range(2):
            began = time.monotonic()
            found[name] = plain(BOUNDED[name](rows))
            took = round(time.monotonic() - began, 2)
            found["seconds"].setdefault(name, []).append(took)
    return found


def stream(spark: SparkSession, folder: Path, names: list[str], kills: bool) -> dict[str, Any]:
    """Windows by count and by time, which go on where they were stopped."""
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    rows = reader.parquet(str(folder / "in"))
    members = Members(folder / "killed" if kills else None)
    by_count = query(rows, wr.CountWindow(12, 5)).using(wr.KeyFarm(2))
    results = {
        "members": by_count.apply(members, "seqs array<int>").to_df(),
        "paned": paned(rows),
    }
    found: dict[str, Any] = {"seconds": {}}
    for name in names:
        writer = (
            results[name].writeStream.format("parquet").queryName(name).trigger(availableNow=True)
        )
        writer = writer.option("checkpointLocation", str(folder / "checkpoints" / name))
        running = writer.start(str(folder / "out" / name))
        running.awaitTermination()
        found["seconds"][name] = [p["batchDuration"] / 1000 for p in running.recentProgress]
        written = spark.read.parquet(str(folder / "out" / name))
        found[name] = plain(written)
    return found


def ship(spark: SparkSession, option: str, given: list[str]) -> None:
    """Send what executors need with a session of Spark Connect."""
    if option == "--environment":
        (archive,), python = given, "environment/bin/python"
        spark.addArtifacts(f"{archive}#environment", archive=True)
    else:
        wheel, kernels, python = given
        spark.addArtifacts(wheel, pyfile=True)
        spark.addArtifacts(f"{kernels}#kernels", archive=True)
    spark.conf.set("spark.sql.execution.pyspark.python", python)


def main(folder: Path, what: str, arguments: list[str]) -> None:
    """Run a part and write what it gives."""
    spark = SparkSession.builder.getOrCreate()
    for option in ("--environment", "--wheel"):
        if option in arguments:
            at = arguments.index(option)
            ship(spark, option, arguments[at + 1 :])
            arguments = arguments[:at]
    if what == "stream":
        names = [name for name in arguments if not name.startswith("--")]
        found = stream(spark, folder, names, "--kill-worker" in arguments)
    else:
        found = bounded(spark, folder, arguments)
    (folder / f"{what}.json").write_text(json.dumps({**found, "driver": sys.prefix}))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
