"""The watermark: how far event time has advanced, in microseconds, and its two extremes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

BEGINNING = np.iinfo(np.int64).min // 2
"""Before every time: no watermark yet, or no tuple seen."""
END_OF_STREAM = np.iinfo(np.int64).max // 2
"""After every time: nothing more will come."""


Time = TypeVar("Time")


def final_watermark(
    greatest: Time, delay: int, remainder: Callable[[Any, int], Any] = operator.mod
) -> Time:
    """The last watermark of a stream with this greatest time, rounded down to whole milliseconds.

    ``remainder`` must never be negative; times that are expressions, not integers, need their own.

    >>> final_watermark(5_999, 1_000), final_watermark(-1, 0)
    (4000, -1000)
    """
    behind: Any = greatest - delay  # type: ignore[operator]
    watermark: Time = behind - remainder(behind, 1000)
    return watermark
