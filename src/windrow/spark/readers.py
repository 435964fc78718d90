"""Who reads the rows of a DataFrame: Spark, or the tasks themselves with PyArrow.

The tasks read plain scans, but not where Spark's own aggregation computes whole windows without
keeping all of their values, or where a sample tells the planner that it computes panes faster. CPU
seconds for 6 million rows of 4 columns, warm, best of two or more, with about a second of fixed
costs:

| windows | Spark's reader | tasks |
|---|---|---|
| tumbling, 100 keys | 1.45 (wholly in Spark) | 1.77 |
| 1 s every 10 ms, 100 keys | 3.35 (panes in Spark) | 2.30 |
| 1 s every 10 ms, 100 keys, filtered | 2.17 (panes in Spark) | 2.19 |
| 2 s every 500 ms, 50,000 keys | 4.67 (panes in Spark) | 2.89 |

Everything else runs in Python anyway, and then rows would have to be handed over one by one. The
files of a stream are not known before they come, so tasks read them only if a setting says so.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from windrow.engine.intake import needed_columns
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.patterns.workers import needs_all_rows
from windrow.spark import native, native_streams
from windrow.spark.file_rows import FileRows
from windrow.spark.plain_scans import plain_scan
from windrow.spark.plain_streams import plain_stream
from windrow.spark.settings import COLUMNAR_SCAN, COLUMNAR_STREAMS, is_on
from windrow.spark.splits import SplitRows


@dataclass(frozen=True)
class Reading:
    """The rows of a DataFrame as they are read, and who reads them, in words."""

    rows: DataFrame | SplitRows | FileRows
    reads: str


def reading_of(query: WindowQuery, df: DataFrame, pattern: Pattern | None) -> Reading:
    """How the rows of a window query are read."""
    if df.isStreaming:
        is_native = native_streams.is_native(query, df)
    else:
        is_native = native.is_wholly_native(query) and not needs_all_rows(query)
    if pattern is None and is_native:
        return by_spark(df, "its own aggregation takes the rows")
    return scan_of(df, needed_columns(query), query.time)


def scan_of(df: DataFrame, columns: list[str], time: str | None) -> Reading:
    """How these columns of a DataFrame and its times are read."""
    defaults = {COLUMNAR_SCAN: True, **({COLUMNAR_STREAMS: False} if df.isStreaming else {})}
    for setting, default in defaults.items():
        if not is_on(df.sparkSession, setting, by_default=default):
            return by_spark(df, f"{setting} is not true")
    names = list(dict.fromkeys(columns if time is None else [*columns, time]))
    found = plain_stream(df, names, time) if df.isStreaming else plain_scan(df, names)
    return by_spark(df, found) if isinstance(found, str) else Reading(found, found.describe())


def by_spark(df: DataFrame | SplitRows, why: str) -> Reading:
    return Reading(df, f"with Spark's reader: {why}")
