"""Who reads the rows of a bounded DataFrame: Spark, or the tasks themselves with PyArrow."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from windrow.engine.intake import needed_columns
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.spark import native
from windrow.spark.plain_scans import plain_scan
from windrow.spark.settings import COLUMNAR_SCAN
from windrow.spark.splits import SplitRows


@dataclass(frozen=True)
class Reading:
    """The rows of a DataFrame as they are read, and who reads them, in words."""

    rows: DataFrame | SplitRows
    reads: str


def reading_of(query: WindowQuery, df: DataFrame, pattern: Pattern | None) -> Reading:
    """How the rows of a window query are read."""
    if pattern is None and native.is_wholly_native(query):
        return _by_spark(df, "its own aggregation takes the rows")
    return scan_of(df, needed_columns(query), query.time)


def scan_of(df: DataFrame, columns: list[str], time: str | None) -> Reading:
    """How these columns of a DataFrame and its times are read."""
    if df.isStreaming:
        return _by_spark(df, "it is a stream")
    if str(df.sparkSession.conf.get(COLUMNAR_SCAN, "true")).lower() != "true":
        return _by_spark(df, f"{COLUMNAR_SCAN} is not true")
    names = columns if time is None else [*columns, time]
    found = plain_scan(df, list(dict.fromkeys(names)))
    return _by_spark(df, found) if isinstance(found, str) else Reading(found, found.describe())


def _by_spark(df: DataFrame, why: str) -> Reading:
    return Reading(df, f"with Spark's reader: {why}")
