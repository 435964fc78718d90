"""Binary search within a segment of an array."""

from __future__ import annotations

from typing import Any

from windrow.kernels.columns import Column
from windrow.kernels.compiled import compiled


@compiled
def first_at_least(axis: Column, lo: int, hi: int, value: Any) -> int:
    """The first position in [lo, hi) whose value is at least ``value``, else hi.

    Ordering: the segment ascending. Time O(log distance from lo): the search gallops, so answers
    near lo, such as those of consecutive windows, are found at once.

    >>> import numpy as np
    >>> first_at_least(np.array([1, 3, 3, 7]), 0, 4, 3)
    1
    """
    step = 1
    while lo + step < hi and axis[lo + step] < value:
        lo += step
        step *= 2
    hi = min(hi, lo + step)
    while lo < hi:
        middle = (lo + hi) // 2
        if axis[middle] < value:
            lo = middle + 1
        else:
            hi = middle
    return lo


@compiled
def first_above(axis: Column, lo: int, hi: int, value: Any) -> int:
    """The first position in [lo, hi) whose value is above ``value``, else hi.

    Ordering: the segment ascending. Time O(log distance from lo).

    >>> import numpy as np
    >>> first_above(np.array([1, 3, 3, 7]), 0, 4, 3)
    3
    """
    step = 1
    while lo + step < hi and axis[lo + step] <= value:
        lo += step
        step *= 2
    hi = min(hi, lo + step)
    while lo < hi:
        middle = (lo + hi) // 2
        if axis[middle] <= value:
            lo = middle + 1
        else:
            hi = middle
    return lo
