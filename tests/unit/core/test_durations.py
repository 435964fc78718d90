from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from windrow.core import WindrowError, instant, microseconds


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("1 us", 1),
        ("10 ms", 10_000),
        ("10ms", 10_000),
        ("1 second", 1_000_000),
        ("2 seconds", 2_000_000),
        (" 5 Minutes ", 300_000_000),
        ("1 hour 30 minutes", 5_400_000_000),
        ("1 day", 86_400_000_000),
        ("1 week", 604_800_000_000),
        ("-5 ms", -5_000),
        (timedelta(milliseconds=3), 3_000),
        (7, 7),
        (np.int64(7), 7),
        (np.timedelta64(2, "s"), 2_000_000),
        (np.timedelta64(3, "W"), 1_814_400_000_000),
        (np.timedelta64(5_000, "ns"), 5),
    ],
)
def test_durations_are_microseconds(written: Any, expected: int) -> None:
    assert microseconds(written) == expected


@pytest.mark.parametrize(
    "written",
    [
        "", "abc", "10", "ms", "1.5 s", "1 s and more", "1 parsec", "1 month", 1.5, None, True,
        [1], np.timedelta64("NaT"), np.timedelta64("NaT", "s"), np.timedelta64(1, "ns"), 2**64,
        np.timedelta64(10**18, "s"), np.timedelta64(10**15, "D"), np.timedelta64(1, "M"),
    ],
)  # fmt: skip
def test_what_is_no_duration_is_refused_with_its_value(written: Any) -> None:
    with pytest.raises(WindrowError) as e:
        microseconds(written, "TimeWindow length")
    assert "TimeWindow length" in str(e.value)
    assert f"length={written!r}" in str(e.value)


def test_months_are_refused_with_the_reason() -> None:
    with pytest.raises(WindrowError, match="no fixed length; use days"):
        microseconds("1 month")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (datetime(1970, 1, 1, 0, 0, 1), 1_000_000),
        (datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), 1_000_000),
        (datetime(1970, 1, 1, 1, 0, 0, tzinfo=timezone(timedelta(hours=1))), 0),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999), -1),
        (np.datetime64("1970-01-01T00:00:00.000003"), 3),
        (np.datetime64("1970-02"), 31 * 86_400_000_000),
        (np.datetime64("1600-03"), -135_080 * 86_400_000_000),
        (np.datetime64("2400", "Y"), 157_054 * 86_400_000_000),
        ("15 min", 900_000_000),
        (-4, -4),
    ],
)
def test_instants_count_from_1970_utc(written: Any, expected: int) -> None:
    assert instant(written) == expected


@pytest.mark.parametrize(
    "written", [np.datetime64("NaT", "ns"), np.datetime64(10**18, "s"), np.datetime64(10**18, "Y")]
)
def test_what_is_no_instant_is_refused(written: Any) -> None:
    with pytest.raises(WindrowError, match="origin must"):
        instant(written, "origin")
