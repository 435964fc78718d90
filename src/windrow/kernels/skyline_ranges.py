"""Skylines of sliding ranges; points that can never enter a skyline again are pruned."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from windrow.kernels.columns import Positions, as_ranges
from windrow.kernels.compiled import compiled
from windrow.kernels.skyline import DOMINATED, DOMINATES, Points, compare, orient


def skyline_ranges(
    points: ArrayLike, lo: ArrayLike, hi: ArrayLike, larger_is_better: Collection[int] = ()
) -> tuple[Positions, Positions]:
    """The skyline of each range [lo, hi): ``members[bounds[r]:bounds[r+1]]``, ascending.

    A point that a younger one dominates is dropped, because it leaves every range before its
    dominator does. Each remaining point remembers its youngest older dominator. It is in the
    skyline of a range if that dominator lies before lo. NaN and equal points are treated as in
    :mod:`windrow.kernels.skyline`.

    Ordering: lo and hi non-decreasing. Any other order gives correct results, but each range that
    goes back starts from scratch.
    Time O((n + ranges) c d) for c points left at a time, space O(n d) plus the results.
    De Matteis 2016, section 4.2, describes the pruning; X. Lin, Y. Yuan, W. Wang and H. Lu,
    Stabbing the sky, 2005.

    >>> members, bounds = skyline_ranges([[1, 4], [2, 2], [3, 3], [4, 1]], [0, 1, 2], [2, 3, 4])
    >>> members, bounds
    (array([0, 1, 1, 2, 3]), array([0, 2, 3, 5]))
    """
    oriented = orient(points, larger_is_better)
    first, last = as_ranges(lo, hi, len(oriented))
    return _slide(oriented, first, last)


@compiled
def _slide(points: Points, lo: Positions, hi: Positions) -> tuple[Positions, Positions]:
    left = np.empty(points.shape[0], dtype=np.int64)
    dominator = np.empty(points.shape[0], dtype=np.int64)
    members = np.empty(64, dtype=np.int64)
    bounds = np.zeros(lo.shape[0] + 1, dtype=np.int64)
    n_left, n_members, low, high = 0, 0, 0, 0
    for r in range(lo.shape[0]):
        if lo[r] < hi[r]:
            if lo[r] < low or hi[r] < high:
                n_left, high = 0, lo[r]
            low = lo[r]
            n_left = _expire(left, n_left, low)
            for i in range(max(low, high), hi[r]):
                n_left = _arrive(points, left, n_left, dominator, i)
            high = hi[r]
            if n_members + n_left > members.shape[0]:
                grown = np.empty(2 * (n_members + n_left), dtype=np.int64)
                grown[:n_members] = members[:n_members]
                members = grown
            for c in range(n_left):
                if dominator[left[c]] < low:
                    members[n_members] = left[c]
                    n_members += 1
        bounds[r + 1] = n_members
    return members[:n_members].copy(), bounds


@compiled
def _expire(left: Positions, n_left: int, low: int) -> int:
    """Drop the points before low; return how many are left."""
    n_kept = 0
    for c in range(n_left):
        if left[c] >= low:
            left[n_kept] = left[c]
            n_kept += 1
    return n_kept


@compiled
def _arrive(points: Points, left: Positions, n_left: int, dominator: Positions, i: int) -> int:
    """Drop the points that point i dominates and add it; return how many are left."""
    n_kept = 0
    youngest = -1
    for c in range(n_left):
        relation = compare(points[left[c]], points[i])
        if relation == DOMINATED:
            continue
        if relation == DOMINATES:
            youngest = left[c]
        left[n_kept] = left[c]
        n_kept += 1
    left[n_kept] = i
    dominator[i] = youngest
    return n_kept + 1
