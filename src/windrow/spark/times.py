"""Event time as int64 microseconds, in Spark's own expressions."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.core.durations import INT64_MAX, MICROSECONDS_PER, NANOSECONDS, TimeUnit

_DAY = 86_400_000_000


def microseconds_of(time: Column, kind: str, unit: TimeUnit = "us") -> Column:
    """A time column of this type in microseconds since 1970; ``unit`` is that of integers."""
    if kind == "timestamp":
        return F.unix_micros(time)
    if kind in ("timestamp_ntz", "date"):
        day = F.date_diff(time.cast("date"), F.lit("1970-01-01").cast("date")).cast("bigint")
        if kind == "date":
            return day * _DAY
        # Field by field: differences of such times would follow the session's time zone.
        seconds = (F.hour(time) * 60 + F.minute(time)).cast("bigint") * 60
        fraction = (F.date_part(F.lit("SECOND"), time) * 1_000_000).cast("bigint")
        return day * _DAY + seconds * 1_000_000 + fraction
    return _scaled(time.cast("bigint"), unit)


def _scaled(time: Column, unit: TimeUnit) -> Column:
    if unit == "us":
        return time
    if unit == "ns":
        # Spark's integer division rounds towards zero.
        below = F.when(time % NANOSECONDS < 0, 1).otherwise(0)
        return F.call_function("div", time, F.lit(NANOSECONDS)) - below
    factor = MICROSECONDS_PER[unit]
    limit = INT64_MAX // factor
    rule = f"event times in {unit} must fit 64-bit microseconds; got "
    failed = F.raise_error(F.concat(F.lit(rule), time.cast("string"))).cast("bigint")
    return F.when(time.isNull() | time.between(-limit, limit), time * factor).otherwise(failed)


def timestamp_of(microseconds: Column, kind: str) -> Column:
    """Microseconds as a window bound: with a time zone where the event time has one."""
    if kind == "timestamp":
        return F.timestamp_micros(microseconds)
    epoch = F.lit("1970-01-01").cast("timestamp_ntz")
    return F.timestamp_add("MICROSECOND", microseconds, epoch)
