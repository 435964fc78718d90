"""A program: streams from a folder of files to folders of files, going on where it was stopped.

    python -m tests.e2e.streams_to_files FOLDER "local[2]"
    python -m tests.e2e.streams_to_files FOLDER "local[2,4]" --kill worker
    python -m tests.e2e.streams_to_files FOLDER "local-cluster[2,1,1024]" --kill executor

Prints a line when it has started and for each batch of each query; in the end writes what there
is to FOLDER/results.json. Told to, a function of its own kills the process that calls it, or the
executor of that, in the middle of a batch, once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

import windrow as wr
from windrow import functions as wf
from windrow.core import WindowModel

SCHEMA = "k string, t bigint, seq int, x bigint"
DELAY = "4 ms"
COUNTED = wr.CountWindow(12, 5)
PANED = wr.TimeWindow("12 ms", "4 ms")
SESSIONS = wr.SessionWindow("1 ms")
MODELS: dict[str, WindowModel] = {
    "counted": COUNTED,
    "paned": PANED,
    "sessions": SESSIONS,
    "resized": COUNTED,
    "hinted": COUNTED,
    "scanned": PANED,
}
WITHIN = ("3 ms", "1 ms")
"""The windows of the join, of the stream with itself."""
JOINS = ("joined", "rejoined")
NAMES = (*MODELS, *JOINS)


class Told(StreamingQueryListener):
    """Prints a line for each batch."""

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        return

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        print(event.progress.name, event.progress.batchId, flush=True)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        return

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        return


class Members:
    """The function: the tuples of a window; once it may kill."""

    def __init__(self, marker: Path, victim: str | None) -> None:
        self.marker, self.victim = marker, victim

    def __call__(self, w: wr.Window) -> dict[str, Any]:
        if self.victim is not None and w.id == 4 and self._is_first():
            kill(self.victim)
        return {"seqs": w["seq"].tolist()}

    def _is_first(self) -> bool:
        """Whether no process has been killed yet; two may ask at the same time."""
        try:
            self.marker.touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def kill(victim: str) -> None:
    """Kill this Python process, or the executor whose daemon has forked it."""
    process = os.getpid()
    if victim == "executor":
        daemon = os.getppid()
        found = subprocess.run(
            ["ps", "-o", "ppid=", "-p", str(daemon)], capture_output=True, text=True, check=True
        )
        os.kill(int(found.stdout), signal.SIGKILL)
    os.kill(process, signal.SIGKILL)


def query(name: str, df: DataFrame, folder: Path, victim: str | None) -> DataFrame:
    """The results; "resized", "hinted" and "rejoined" have a pattern that fits any number of cores.

    The tasks of "scanned" read the files themselves.
    """
    if name == "joined":
        return joined(df, layout=(2, 1))
    if name == "rejoined":
        return joined(df)
    rows = wr.stream(df)
    if name == "scanned":
        rows = wr.scan_stream(df.sparkSession, folder / "in", max_files_per_trigger=1)
    base = rows.key_by("k").event_time("t", DELAY).order_by("seq").window(MODELS[name])
    if name == "counted":
        members = Members(folder / "killed", victim)
        return base.apply(members, "seqs array<int>").using(wr.KeyFarm(2)).to_df()
    collected = base.agg(seqs=wf.collect("seq"))
    if name == "paned":
        collected = collected.using(wr.PaneFarm(2, 2, level=2))
    elif name == "hinted":
        collected = collected.hint(keys=1, cost="1 ms")
    elif name == "sessions":
        collected = collected.using(wr.WinFarm(2, workers="agnostic"))
    return collected.to_df()


def joined(df: DataFrame, **how: Any) -> DataFrame:
    """The stream with itself."""
    on = wr.equi("k") & wr.band(x=1)
    times: dict[str, Any] = {"time": "t", "delay": DELAY}
    return wr.join(df, df, within=WITHIN, on=on, how="full_outer", **times, **how).to_df()


def run(folder: Path, spark: SparkSession, names: list[str], victim: str | None) -> None:
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    df = reader.parquet(str(folder / "in"))
    running = []
    for name in names:
        writer = (
            query(name, df, folder, victim).writeStream.format("parquet").trigger(availableNow=True)
        )
        writer = writer.option("checkpointLocation", str(folder / "checkpoints" / name))
        running.append(writer.queryName(name).start(str(folder / "out" / name)))
    for started in running:
        started.awaitTermination()
    found = {name: results(spark, folder / "out" / name, name) for name in names}
    (folder / "results.json").write_text(json.dumps(found))


def results(spark: SparkSession, folder: Path, name: str) -> list[list[Any]]:
    """What tells rows apart: key, window and tuples, or both tuples of a pair."""
    columns = ["left_seq", "right_seq"] if name in JOINS else ["k", "window_id", "seqs"]
    return [list(row) for row in spark.read.parquet(str(folder)).select(*columns).collect()]


def main(folder: Path, master: str, names: list[str], victim: str | None) -> None:
    spark = (
        SparkSession.builder.master(master)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    spark.streams.addListener(Told())
    print("started", flush=True)
    run(folder, spark, names, victim)
    spark.stop()


if __name__ == "__main__":
    at = sys.argv.index("--kill") if "--kill" in sys.argv else len(sys.argv)
    told = sys.argv[at + 1 :]
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:at], told[0] if told else None)
