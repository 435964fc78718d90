"""The watermark: how far time has moved, in microseconds, and its two extremes."""

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
    """The watermark of a stream whose greatest time this is, in whole milliseconds.

    ``remainder`` is that of times, never negative.

    >>> final_watermark(5_999, 1_000), final_watermark(-1, 0)
    (4000, -1000)
    """
    behind: Any = greatest - delay  # type: ignore[operator]
    watermark: Time = behind - remainder(behind, 1000)
    return watermark
