"""The demo's run: start Spark, stream for a while, check and plot the results."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rich.console import Console

import windrow as wr
from windrow.cli.plot import save_png, terminal_plot
from windrow.cli.progress import RESULTS, Batch, BatchTable, reported
from windrow.cli.quotes import first_quotes, live_quotes, windows
from windrow.cli.replay import compare

_SINK = "windrow_demo"
"""The in-memory table with the results of the stream."""
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""In a run of one minute, Java's optimising compiler costs more time than it saves."""


def run(rows_per_second: int, seconds: int, png: Path, log: Path) -> None:
    """Run the whole demo; raise whatever goes wrong."""
    console = Console(highlight=False)
    png.parent.mkdir(parents=True, exist_ok=True)
    print("Starting Spark and its workers. The first time, this compiles the kernels.", flush=True)
    spark = _start(log)
    try:
        _warm_up(spark)
        began = time.time_ns() // 1000
        query = windows(live_quotes(spark, rows_per_second, began))
        print(f"A stream of {rows_per_second:,} quotes per second, out of order. The query:\n")
        query.explain()
        print(flush=True)
        batches, results = _stream(spark, query.to_df(), BatchTable(console, seconds))
        rows = batches[-1].source_second * rows_per_second
        quotes = first_quotes(spark, rows, rows_per_second, began).toArrow()
    finally:
        spark.stop()
    dropped = compare(results, quotes, batches, rows_per_second)
    print(f"\nChecked all {len(results):,} windows of {rows:,} quotes against NumPy: equal.")
    print(
        f"{dropped:,} quotes came too late for their windows and were dropped, as NumPy confirms.\n"
    )
    width = min(console.width, 100)
    print(terminal_plot(results, began, width, is_coloured=console.is_terminal))
    save_png(png, results, batches, began)
    print(f"The plot, with throughput and latency, is in {png}")


def _start(log: Path) -> SparkSession:
    """Start Spark; meanwhile another process compiles the kernels that its workers will load."""
    program = "from windrow.cli.quotes import compile_kernels; compile_kernels()"
    with subprocess.Popen([sys.executable, "-c", program]) as compiling, _errors_to(log):
        spark = wr.local_spark(spark__driver__extraJavaOptions=_JAVA)
    if compiling.returncode:
        raise RuntimeError("the kernels do not compile")
    return spark


@contextmanager
def _errors_to(log: Path) -> Iterator[None]:
    """Send the standard error of processes that start here to the log, for as long as they run.

    Spark writes much about its start and its Python workers there. Errors in a query come back as
    exceptions.
    """
    sys.stderr.flush()
    own = os.dup(2)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)


def _warm_up(spark: SparkSession) -> None:
    """Run the query for one batch without rows, so that none pile up in the seconds it takes."""
    results = windows(live_quotes(spark, rows_per_second=1, began=0)).to_df()
    results.writeStream.format("noop").trigger(availableNow=True).start().awaitTermination()


def _stream(
    spark: SparkSession, results: DataFrame, display: BatchTable
) -> tuple[list[Batch], pa.Table]:
    """Run the query for some seconds after the first windows; return its batches and results."""
    newest = F.max(F.unix_micros("at")).alias("newest")
    observed = results.observe(RESULTS, F.count("*").alias("windows"), newest)
    sink = observed.writeStream.format("memory").queryName(_SINK)
    query = sink.trigger(processingTime="1 second").start()
    first: float | None = None
    with display:
        for batch in reported(query):
            if batch is not None:
                display.add(batch)
                if first is None and batch.windows:
                    first = time.monotonic()
            elapsed = None if first is None else time.monotonic() - first
            display.update(elapsed)
            # Stop right after a batch: Spark logs errors if it has to stop in the middle of one.
            if batch is not None and elapsed is not None and elapsed >= display.seconds:
                break
        query.stop()
    # One more batch may have run without having been reported.
    count = sum(batch.windows for batch in display.batches)
    return display.batches, spark.table(_SINK).limit(count).toArrow()
