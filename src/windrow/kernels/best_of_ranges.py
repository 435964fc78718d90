"""The positions of the greatest or least values of ranges that hardly overlap, such as panes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from windrow.kernels.columns import Column, Positions, as_column, as_ranges
from windrow.kernels.compiled import compiled


def extreme_of_ranges(values: ArrayLike, lo: ArrayLike, hi: ArrayLike, sign: int) -> Positions:
    """The position of the greatest value of each range, or of the least if ``sign`` is -1.

    Of equal values it is the first; NaN is greater than any other number. An empty range gives 0.

    Ordering: none. Time O(length of all ranges), space O(ranges).

    >>> extreme_of_ranges([3, 7, 7, 1], [0, 2], [3, 4], 1)
    array([1, 2])
    """
    column = as_column(values)
    first, last = as_ranges(lo, hi, len(column))
    found = np.zeros(len(first), np.int64)
    _extremes(column, first, last, sign > 0, found)
    return found


@compiled
def _is_greater(a: float, b: float) -> bool:
    """Whether a comes behind b, with NaN behind all others.

    >>> _is_greater(np.nan, 2.0), _is_greater(np.nan, np.nan)
    (True, False)
    """
    return a > b or (a != a and b == b)


@compiled
def _extremes(
    values: Column, lo: Positions, hi: Positions, is_greatest: bool, found: Positions
) -> None:
    for r in range(lo.shape[0]):
        if lo[r] == hi[r]:
            continue
        best, at = values[lo[r]], lo[r]
        for i in range(lo[r] + 1, hi[r]):
            value = values[i]
            if _is_greater(value, best) if is_greatest else _is_greater(best, value):
                best, at = value, i
        found[r] = at


def greatest_of_ranges(values: ArrayLike, lo: ArrayLike, hi: ArrayLike, k: int) -> Positions:
    """The positions of the k greatest values of each range, ascending; all if it has fewer.

    Of equal values the first are chosen; NaN is greater than any other number.

    Ordering: none. Time O(length of all ranges) if values come in random order, and k times as much
    at worst; space O(k) plus the results.

    >>> greatest_of_ranges([4, 1, 4, 4, 2], [0, 3], [4, 5], 2)
    array([0, 2, 3, 4])
    """
    column = as_column(values)
    first, last = as_ranges(lo, hi, len(column))
    found = np.empty(int(np.minimum(last - first, k).sum()), np.int64)
    _greatest(column, first, last, k, found)
    return found


@compiled
def _greatest(values: Column, lo: Positions, hi: Positions, k: int, found: Positions) -> None:
    best = np.empty(k, np.int64)
    end = 0
    for r in range(lo.shape[0]):
        n = 0
        for i in range(lo[r], hi[r]):
            if n == k and not _is_greater(values[i], values[best[k - 1]]):
                continue
            place = n if n < k else k - 1
            while place > 0 and _is_greater(values[i], values[best[place - 1]]):
                best[place] = best[place - 1]
                place -= 1
            best[place] = i
            n = min(n + 1, k)
        found[end : end + n] = np.sort(best[:n])
        end += n
