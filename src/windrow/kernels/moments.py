"""The moments of ranges that hardly overlap, such as panes and tumbling windows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windrow.kernels.columns import Column, Positions, as_column, as_ranges
from windrow.kernels.compiled import compiled

Moments = tuple[NDArray[np.float64], ...]
"""The number of values, one of the values, the distance of the mean from that value, and the sum of
squared distances from the mean."""


def moments_of_ranges(values: ArrayLike, lo: ArrayLike, hi: ArrayLike) -> Moments:
    """The moments of each range [lo, hi) of floats; zeros for an empty range.

    NaN or an infinity makes the sum of squares NaN.

    Ordering: none. Time O(length of all ranges), space O(ranges).
    B. P. Welford, Note on a method for calculating corrected sums of squares and products, 1962.

    >>> moments_of_ranges([1.0, 3.0, 5.0], [0, 2], [3, 3])
    (array([3., 1.]), array([1., 5.]), array([2., 0.]), array([8., 0.]))
    """
    column = as_column(values)
    first, last = as_ranges(lo, hi, len(column))
    found = tuple(np.zeros(len(first)) for _ in range(4))
    _add_up(column, first, last, *found)
    return found


@compiled
def _add_up(
    values: Column,
    lo: Positions,
    hi: Positions,
    counts: Column,
    origins: Column,
    means: Column,
    squares: Column,
) -> None:
    for r in range(lo.shape[0]):
        if lo[r] == hi[r]:
            continue
        origin, mean, total = values[lo[r]], 0.0, 0.0
        for i in range(lo[r], hi[r]):
            distance = values[i] - origin
            change = distance - mean
            mean += change / (i - lo[r] + 1)
            total += change * (distance - mean)
        counts[r], origins[r], means[r], squares[r] = hi[r] - lo[r], origin, mean, total
