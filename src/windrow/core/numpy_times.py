"""NumPy's times and durations as microseconds, exactly and of any size.

NumPy's own conversions between units wrap around silently, or overflow, by its version.
"""

from __future__ import annotations

import numpy as np

DAY = 86_400_000_000
"""The microseconds of a day."""
_MICROSECONDS = {"W": 7 * DAY, "D": DAY, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000}
_MICROSECONDS |= {"ms": 1_000, "us": 1, "generic": 1}
"""How many microseconds a unit has; a duration without a unit counts them."""
_DAYS_IN_400_YEARS = 146_097
_PER_MICROSECOND = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}
"""How many of the shorter units a microsecond has."""


def in_microseconds(value: np.datetime64 | np.timedelta64) -> tuple[int, bool]:
    """Whole microseconds, rounded down, and whether nothing was lost; raises ValueError if unknown.

    >>> in_microseconds(np.timedelta64(-1, "ns")), in_microseconds(np.datetime64("1970-01", "M"))
    ((-1, False), (0, True))
    """
    unit, step = np.datetime_data(value.dtype)
    number = int(value.astype(np.int64)) * step
    if unit in ("Y", "M") and isinstance(value, np.datetime64):
        cycles, month = divmod(number * 12 if unit == "Y" else number, 400 * 12)
        days = int(np.datetime64(month, "M").astype("M8[D]").astype(np.int64))
        return (cycles * _DAYS_IN_400_YEARS + days) * DAY, True
    if unit in _PER_MICROSECOND:
        micros, rest = divmod(number, _PER_MICROSECOND[unit])
        return micros, rest == 0
    if unit not in _MICROSECONDS:
        raise ValueError(f"the unit {unit!r} has no fixed length")
    return number * _MICROSECONDS[unit], True
