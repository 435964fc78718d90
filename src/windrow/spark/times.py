"""Event time as int64 microseconds, in Spark's own expressions."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F


def microseconds_of(time: Column, kind: str) -> Column:
    """A time column of this type in microseconds since 1970."""
    if kind == "timestamp":
        return F.unix_micros(time)
    if kind in ("timestamp_ntz", "date"):
        epoch = F.lit("1970-01-01").cast("timestamp_ntz")
        return F.timestamp_diff("MICROSECOND", epoch, time.cast("timestamp_ntz"))
    return time.cast("bigint")


def timestamp_of(microseconds: Column, kind: str) -> Column:
    """Microseconds as a window bound: with a time zone where the event time has one."""
    if kind == "timestamp":
        return F.timestamp_micros(microseconds)
    epoch = F.lit("1970-01-01").cast("timestamp_ntz")
    return F.timestamp_add("MICROSECOND", microseconds, epoch)
