"""The least values of each range."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from windrow.kernels.columns import Positions, as_ranges
from windrow.kernels.compiled import compiled


def least_of_ranges(values: Positions, lo: ArrayLike, hi: ArrayLike, k: int) -> Positions:
    """The k least values of each range [lo, hi), ascending; all of them if it has fewer.

    Ordering: none. Time O(log k) per value of a range at worst, O(1) for most if they come in
    random order; space O(k) plus the results.

    >>> least_of_ranges(np.array([4, 1, 3, 2]), [0, 3], [3, 4], 2)
    array([1, 3, 2])
    """
    first, last = as_ranges(lo, hi, len(values))
    bounds = np.zeros(len(first) + 1, np.int64)
    np.cumsum(np.minimum(last - first, k), out=bounds[1:])
    least = np.empty(bounds[-1], np.int64)
    _select(values, first, last, bounds, least)
    return least


@compiled
def _select(
    values: Positions, lo: Positions, hi: Positions, bounds: Positions, least: Positions
) -> None:
    for r in range(lo.shape[0]):
        heap = least[bounds[r] : bounds[r + 1]]
        n = heap.shape[0]
        if n == 0:
            continue
        # A descending run is a heap with the greatest of the least values at its top.
        heap[:] = np.sort(values[lo[r] : lo[r] + n])[::-1]
        for i in range(lo[r] + n, hi[r]):
            if values[i] < heap[0]:
                _replace_top(heap, values[i])
        heap.sort()


@compiled
def _replace_top(heap: Positions, value: int) -> None:
    """Replace the greatest value of a heap."""
    at, n = 0, heap.shape[0]
    while 2 * at + 1 < n:
        child = 2 * at + 1
        if child + 1 < n and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value
