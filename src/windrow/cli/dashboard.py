"""The live view of a program's streams, or of streams made for show."""

from __future__ import annotations

import runpy
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from windrow.core.errors import WindrowError
from windrow.core.packages import require

_RATE = 20_000
"""Quotes per second of the streams made for show."""


def dashboard(program: Path | None, arguments: Sequence[str], host: str, port: int) -> None:
    """Run a program, or streams made for show if it is None, and show its streams meanwhile."""
    require("the dashboard", "spark", "pyspark")
    if program is not None and not program.is_file():
        raise WindrowError("dashboard runs a Python program", f"no file at {program}")
    from windrow.spark.monitor import Monitor, watch_all

    run = _show if program is None else partial(_run, program, arguments)
    with Monitor(port, host) as monitor:
        watch_all(monitor)
        print(f"The live view is at {monitor.url}", flush=True)
        _until_interrupted(run)


def _until_interrupted(run: Callable[[], None]) -> None:
    """Run to the end, or until the user or the system asks for it."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        run()
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(program: Path, arguments: Sequence[str]) -> None:
    """Run a program as ``python program arguments`` would."""
    sys.argv = [str(program), *arguments]
    sys.path.insert(0, str(program.resolve().parent))
    runpy.run_path(str(program), run_name="__main__")


def _show() -> None:
    """Two queries over quotes of four symbols: windows of the last quotes, and bars of seconds."""
    import windrow as wr
    from windrow import functions as wf
    from windrow.cli.quotes import live_quotes, windows

    spark = wr.local_spark()
    quotes = live_quotes(spark, _RATE, time.time_ns() // 1000)
    bars = wr.stream(quotes).key_by("symbol").event_time("ts", delay="500 ms")
    bars = bars.window(wr.TimeWindow("10 s", "1 s")).agg(bar=wf.ohlc("price"))
    results = {"trends": windows(quotes).to_df(), "bars": bars.using(wr.PaneFarm(2, 1)).to_df()}
    with TemporaryDirectory() as folder:
        for name, rows in results.items():
            writer = rows.writeStream.format("noop").queryName(name)
            writer = writer.option("checkpointLocation", f"{folder}/{name}")
            writer.trigger(processingTime="1 second").start()
        running = list(spark.streams.active)
        # PySpark's own handler calls the JVM, maybe in the middle of another call.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            while all(query.isActive for query in running):
                time.sleep(0.5)
        finally:
            # Spark would log errors of the batches that are stopped.
            spark.sparkContext.setLogLevel("OFF")
            for query in running:
                query.stop()
            failures = [query.exception() for query in running]
            spark.stop()
    for failure in filter(None, failures):
        raise failure
