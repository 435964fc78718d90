"""What the benchmarks on Spark share: sorted results, the check of them, and a line of report."""

from __future__ import annotations

import time
from typing import Any

from pyspark.sql import DataFrame


def rows_of(df: DataFrame) -> list[tuple[Any, ...]]:
    """The results in order, without window ids; of a stream, all that it gives."""
    if df.isStreaming:
        name = f"results_{time.monotonic_ns()}"
        writer = df.writeStream.format("memory").queryName(name)
        writer.trigger(availableNow=True).start().awaitTermination()
        df = df.sparkSession.table(name)
    kept = [name for name in df.columns if name != "window_id"]
    return sorted(tuple(row) for row in df.select(*kept).collect())


def check(what: str, found: list[Any], expected: list[Any]) -> None:
    """Fail unless all rows agree."""
    if not expected or found != expected:
        raise AssertionError(f"{what}: {len(found)} rows found, {len(expected)} expected")


def report(
    label: str, rows: int, seconds: float, ratio: float = 0, target: str = "", per: str = ""
) -> None:
    """Print one line: what was measured, its rate and, if there is a target, ratio and target.

    ``per`` names what the seconds are of, if they are worth telling: a batch.
    """
    compared = f"{ratio:8.2f}x   target {target}" if target else ""
    told = f"{seconds:7.3f} s/{per} " if per else ""
    print(
        f"  {label:56} {told}{rows / seconds / 1e6:8.3f} M rows/s {compared}".rstrip(), flush=True
    )
