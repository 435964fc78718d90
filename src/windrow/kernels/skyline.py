"""Skylines: the points that no other point dominates.

A point dominates another if it is at least as good in every dimension and better in one. Smaller
is better, except in the dimensions named by ``larger_is_better``. NaN is the worst value of its
dimension, as bad as an infinity. Equal points do not dominate each other, so all of them are kept.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windrow.kernels.columns import Positions, read_only
from windrow.kernels.compiled import compiled

Points = NDArray[np.float64]

DOMINATES, DOMINATED, NEITHER = 1, -1, 0


def skyline(points: ArrayLike, larger_is_better: Collection[int] = ()) -> Positions:
    """The positions of the points of the skyline, ascending.

    Points are visited by increasing sum of coordinates, ties by the coordinates. No point is
    dominated by a later one, so each is only compared with the skyline so far, and a point that
    enters the skyline stays.

    Ordering: none. Time O(n log n + n s d) for s points in the skyline, though one of the first
    points dominates most others; space O(n d).
    J. Chomicki, P. Godfrey, J. Gryz and D. Liang, Skyline with presorting, 2003.

    >>> skyline([[1, 4], [2, 2], [3, 3], [4, 1], [1, 4]])
    array([0, 1, 3, 4])
    >>> skyline([[1, 4], [2, 2], [3, 3], [4, 1]], larger_is_better={0})
    array([3])
    """
    oriented = orient(points, larger_is_better)
    return np.flatnonzero(_filter(oriented, _visiting_order(oriented)))


def orient(points: ArrayLike, larger_is_better: Collection[int] = ()) -> Points:
    """The points with signs changed so that smaller is better in every dimension, NaN the worst.

    >>> orient([[1.0, np.nan]], larger_is_better={0})
    array([[-1., inf]])
    """
    oriented = np.array(points, dtype=np.float64, order="C")
    if oriented.ndim != 2:
        raise ValueError(f"points must be an array of n rows and d columns; got {oriented.shape}")
    for dimension in larger_is_better:
        if not 0 <= dimension < oriented.shape[1]:
            raise ValueError(
                f"larger_is_better must name dimensions below {oriented.shape[1]}; got {dimension}"
            )
        np.negative(oriented[:, dimension], out=oriented[:, dimension])
    oriented[np.isnan(oriented)] = np.inf
    return read_only(oriented)


@compiled
def compare(p: Points, q: Points) -> int:
    """Whether p dominates q, is dominated by q, or neither.

    >>> compare(np.array([1.0, 2.0]), np.array([1.0, 3.0])) == DOMINATES
    True
    """
    better, worse = False, False
    for j in range(p.shape[0]):
        if p[j] < q[j]:
            better = True
        elif p[j] > q[j]:
            worse = True
        if better and worse:
            return NEITHER
    if better:
        return DOMINATES
    return DOMINATED if worse else NEITHER


def _visiting_order(points: Points) -> Positions:
    n, d = points.shape
    score = np.zeros(n)
    for dimension in range(d):
        # Clipped because infinities of both signs have no sum; rounding keeps sums in order.
        score += np.clip(points[:, dimension], -1e300, 1e300)
    order = np.argsort(score)
    if (np.diff(score[order]) > 0).all():
        return order
    return np.lexsort((*points.T[::-1], score))


@compiled
def _filter(points: Points, order: Positions) -> NDArray[np.bool_]:
    n, d = points.shape
    kept = np.zeros(n, dtype=np.bool_)
    front, n_front = np.empty((n, d)), 0
    for i in order:
        dominated = False
        for s in range(n_front):
            if compare(front[s], points[i]) == DOMINATES:
                dominated = True
                break
        if not dominated:
            kept[i] = True
            front[n_front] = points[i]
            n_front += 1
    return kept
