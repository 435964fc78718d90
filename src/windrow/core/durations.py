"""Durations and instants as int64 microseconds, the only unit of time inside Windrow."""

from __future__ import annotations

import operator
import re
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

import numpy as np

from windrow.core.errors import WindrowError, received
from windrow.core.numpy_times import in_microseconds

Duration: TypeAlias = str | timedelta | int | np.timedelta64
"""``"10 ms"``, ``"1 hour 30 minutes"``, a ``timedelta``, or whole microseconds."""

TimeUnit: TypeAlias = Literal["s", "ms", "us", "ns"]
"""The unit of times that are integers."""
MICROSECONDS_PER: dict[TimeUnit, int] = {"s": 1_000_000, "ms": 1_000, "us": 1}
"""How many microseconds each unit has; nanoseconds are shorter than one."""
NANOSECONDS = 1_000
"""How many nanoseconds one microsecond has."""

_UNITS = {
    1: ("us", "µs", "μs", "usec", "usecs", "microsecond", "microseconds"),
    1_000: ("ms", "msec", "msecs", "millisecond", "milliseconds"),
    1_000_000: ("s", "sec", "secs", "second", "seconds"),
    60_000_000: ("m", "min", "mins", "minute", "minutes"),
    3_600_000_000: ("h", "hr", "hrs", "hour", "hours"),
    86_400_000_000: ("d", "day", "days"),
    604_800_000_000: ("w", "week", "weeks"),
}
_MICROSECONDS = {name: factor for factor, names in _UNITS.items() for name in names}
_WRITTEN = {
    86_400_000_000: "day",
    3_600_000_000: "h",
    60_000_000: "min",
    1_000_000: "s",
    1_000: "ms",
    1: "us",
}
_PART = re.compile(r"([+-]?\d+)\s*([^\W\d_]+)\s*")
INT64_MAX = 2**63 - 1


def microseconds(value: object, what: str = "duration") -> int:
    """The duration in microseconds; it may be negative, since an origin may be.

    >>> microseconds("10 ms"), microseconds("1 hour 30 minutes"), microseconds(250)
    (10000, 5400000000, 250)
    """
    if isinstance(value, timedelta):
        micros = value // timedelta(microseconds=1)
    elif isinstance(value, np.timedelta64):
        micros = _from_numpy(value, what)
    elif isinstance(value, str):
        micros = _parse(value, what)
    else:
        micros = _whole(value, what)
    if abs(micros) > INT64_MAX:
        raise WindrowError(f"{what} must fit 64-bit microseconds", received(what, value))
    return micros


def instant(value: object, what: str = "instant") -> int:
    """A point in time in microseconds since 1970-01-01 UTC; a naive datetime is taken as UTC.

    >>> instant(datetime(1970, 1, 1, 0, 0, 1)), instant("-5 ms")
    (1000000, -5000)
    """
    if isinstance(value, datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    if isinstance(value, np.datetime64):
        return microseconds(_from_numpy(value, what), what)
    return microseconds(value, what)


def in_words(micros: int) -> str:
    """The duration as a user writes it, in the largest unit of which it is a whole number.

    >>> in_words(10_000_000), in_words(1_500_000), in_words(86_400_000_000), in_words(0)
    ('10 s', '1500 ms', '1 day', '0 s')
    """
    if micros == 0:
        return "0 s"
    factor, unit = next((f, unit) for f, unit in _WRITTEN.items() if micros % f == 0)
    count = micros // factor
    return f"{count} {unit}{'s' if unit == 'day' and abs(count) != 1 else ''}"


def _parse(text: str, what: str) -> int:
    total, position = 0, 0
    stripped = text.strip()
    while match := _PART.match(stripped, position):
        number, unit = match.groups()
        factor = _MICROSECONDS.get(unit.lower())
        if factor is None:
            raise WindrowError(
                f"{what} has an unknown unit {unit!r}", received(what, text), _unit_hint(unit)
            )
        total += int(number) * factor
        position = match.end()
    if position == 0 or position != len(stripped):
        raise WindrowError(
            f"{what} must be written as whole numbers with units",
            received(what, text),
            'write it as "10 ms", "1 second" or "1 hour 30 minutes" ("1500 ms", not "1.5 s").',
        )
    return total


def _unit_hint(unit: str) -> str:
    if unit.lower().rstrip("s") in ("month", "mon", "mo", "quarter", "year", "yr", "y"):
        return "months and years have no fixed length; use days."
    return "units are us, ms, s, min, hours, days and weeks."


def _from_numpy(value: np.timedelta64 | np.datetime64, what: str) -> int:
    if np.isnat(value):
        raise WindrowError(f"{what} must be a duration", received(what, value))
    try:
        micros, is_whole = in_microseconds(value)
    except ValueError as e:
        hint = "months and years have no fixed length; use days."
        raise WindrowError(f"{what} must have a fixed length", received(what, value), hint) from e
    if not is_whole:
        raise WindrowError(f"{what} must be whole microseconds", received(what, value))
    return micros


def _whole(value: object, what: str) -> int:
    if isinstance(value, bool):
        raise WindrowError(f"{what} must be a duration", received(what, value))
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise WindrowError(
            f"{what} must be a duration",
            received(what, value),
            'write it as "10 ms", a timedelta, or whole microseconds.',
        ) from None
