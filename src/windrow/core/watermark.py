"""The watermark: how far time has moved, in microseconds, and its two extremes."""

from __future__ import annotations

import numpy as np

BEGINNING = np.iinfo(np.int64).min // 2
"""Before every time: no watermark yet, or no tuple seen."""
END_OF_STREAM = np.iinfo(np.int64).max // 2
"""After every time: nothing more will come."""


def final_watermark(greatest: int, delay: int) -> int:
    """The watermark of a stream whose greatest time this is, in whole milliseconds.

    >>> final_watermark(5_999, 1_000), final_watermark(-1, 0)
    (4000, -1000)
    """
    return (greatest - delay) // 1000 * 1000
