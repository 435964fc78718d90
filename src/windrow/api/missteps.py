"""What users try that a query does not have, and what they are told."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from windrow import functions
from windrow.core.durations import TimeUnit
from windrow.core.errors import UnknownName, nearest, warn

_STEPS_OF_OTHERS = {
    "groupBy": "key_by", "groupby": "key_by", "group_by": "key_by", "partitionBy": "key_by",
    "orderBy": "order_by", "sort": "order_by", "withWatermark": "event_time", "map": "apply",
    "over": "window", "rowsBetween": "window", "rangeBetween": "window", "reduce": "fold",
}  # fmt: skip
"""The step that does what a method of other libraries does."""
_NAMES_OF_OTHERS = {
    "read_parquet": "scan", "read_csv": "scan", "scan_parquet": "scan", "scan_csv": "scan",
    "from_pandas": "stream", "from_arrow": "stream", "from_polars": "stream", "Stream": "stream",
    "SlidingWindow": "TimeWindow", "TumblingWindow": "TimeWindow", "HoppingWindow": "TimeWindow",
    "RowWindow": "CountWindow", "RowsWindow": "CountWindow", "SparkSession": "local_spark",
}  # fmt: skip
"""What a name of other libraries is called here."""
_RESULTS = "call to_df() first: it returns a DataFrame. Or call collect() over tables and files."
_UNITS: tuple[tuple[TimeUnit, str], ...] = (
    ("s", "s|secs?|seconds?|unix"), ("ms", "ms|millis(econds?)?"), ("ns", "ns|nanos(econds?)?"),
)  # fmt: skip
_WORDS: dict[TimeUnit, str] = {"s": "seconds", "ms": "milliseconds", "ns": "nanoseconds"}
_SINCE_2001: dict[TimeUnit, int] = {"s": 10**9, "ms": 10**12, "ns": 10**18}
"""What an integer time is at least in a unit, if it is after 2001; until 2065 it is not thrice."""


def not_a_step(name: str, steps: list[str], what: str = "query") -> AttributeError:
    """The error for an unknown attribute of a query or a join.

    >>> print(not_a_step("show", ["key_by", "to_df"]))
    a query has no 'show'.
    Hint: call to_df() first: it returns a DataFrame. Or call collect() over tables and files.
    """
    if name.startswith("_"):
        return AttributeError(name)
    near = nearest(name, steps, _STEPS_OF_OTHERS)
    hint = f"did you mean {near}()?" if near in steps else _RESULTS
    return UnknownName(f"a {what} has no {name!r}", hint=hint)


def unknown_name(name: str, known: list[str]) -> AttributeError:
    """The error for a name that the package does not have.

    >>> print(unknown_name("sum", ["stream"]))
    windrow has no 'sum'.
    Hint: did you mean windrow.functions.sum?
    """
    if name.startswith("_"):
        return AttributeError(name)
    if name in functions.__all__:
        near: str | None = f"windrow.functions.{name}"
    else:
        near = nearest(name, known, _NAMES_OF_OTHERS)
    return UnknownName(f"windrow has no {name!r}", hint=near and f"did you mean {near}?")


def warn_of_unit_in_name(name: str) -> None:
    """Warn if the name of a column of microseconds tells another unit.

    >>> unit_in_name("sent_ms"), unit_in_name("items")
    ('ms', None)
    """
    unit = unit_in_name(name)
    if unit is not None:
        _warn_of_unit(name, unit, "its name tells another unit")


def unit_in_name(name: str) -> TimeUnit | None:
    """The unit other than microseconds that a name ends with."""
    for unit, words in _UNITS:
        if re.search(rf"[a-z0-9]_({words})$", name.lower()):
            return unit
    return None


def warn_of_unit_of_values(name: str, least: int, greatest: int) -> None:
    """Warn if integers taken for microseconds look like recent times in another unit."""
    for unit, since in _SINCE_2001.items():
        if since <= least and greatest < 3 * since:
            seconds = least // (since // 10**9)
            year = datetime.fromtimestamp(seconds, UTC).year
            _warn_of_unit(name, unit, f"{least} would be in {year} in {_WORDS[unit]}")


def _warn_of_unit(name: str, unit: TimeUnit, why: str) -> None:
    warn(
        f"event_time takes the integers of {name!r} for microseconds since 1970, but {why}. "
        f'If they are {_WORDS[unit]}, say event_time("{name}", unit="{unit}").'
    )
