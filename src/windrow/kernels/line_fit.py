"""Straight lines fitted to ranges by least squares, from sums that carry twice as many digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windrow.kernels.block_scan import longest_of
from windrow.kernels.columns import Column, Positions, as_ranges
from windrow.kernels.compiled import compiled
from windrow.kernels.double_double import add, as_pairs, divide, multiply

Sums = tuple[float, ...]
"""The number of points; one of the points, x and y; and the sums of dx, dy, dx*dx, dx*dy and dy*dy,
where dx and dy are the distances from that point. All but the number are pairs of floats.

Distances from a point of its own keep the sums of a range small, however far its points are from
zero. That loses at most as many digits as the number of points has."""
LENGTH = 15


def line_ranges(
    x: ArrayLike, y: ArrayLike, lo: ArrayLike, hi: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Slope, intercept and r2 of each range [lo, hi), and whether it has two different x.

    Integers are taken as they are, not rounded to floats.

    Ordering: lo and hi non-decreasing. Any other order gives correct results, but each range that
    goes back costs its length.
    Algebra: associative and commutative.
    Time O(n + ranges), space O(longest range + ranges).
    The scan is that of :mod:`windrow.kernels.block_scan`.

    >>> line_ranges([0, 1, 2], [1.0, 3.0, 5.0], [0, 2], [3, 3])
    (array([[ 2.,  1.,  1.],
           [nan, nan, nan]]), array([ True, False]))
    """
    points = (*as_pairs(x), *as_pairs(y))
    first, last = as_ranges(lo, hi, len(points[0]))
    lines, are_known = np.full((len(first), 3), np.nan), np.zeros(len(first), np.bool_)
    _scan(*points, first, last, lines, are_known)
    return lines, are_known


@compiled
def sums_of_point(x: float, x_low: float, y: float, y_low: float) -> Sums:
    """The sums of a single point."""
    # An infinity minus itself is NaN, and the sums stay NaN from then on.
    xx, yy = x - x, y - y
    return (1.0, x, x_low, y, y_low, 0.0, 0.0, 0.0, 0.0, xx, 0.0, xx + yy, 0.0, yy, 0.0)


@compiled
def combine_sums(a: Sums, b: Sums) -> Sums:
    """The sums of the points of both; the distances are from the point of ``a``."""
    if a[0] == 0.0:
        return b
    if b[0] == 0.0:
        return a
    dx, dx_low = add(b[1], b[2], -a[1], -a[2])
    dy, dy_low = add(b[3], b[4], -a[3], -a[4])
    # The sums of b about the point of a.
    shift, shift_low = multiply(dx, dx_low, b[0], 0.0)
    sx, sx_low = add(b[5], b[6], shift, shift_low)
    shift, shift_low = multiply(dy, dy_low, b[0], 0.0)
    sy, sy_low = add(b[7], b[8], shift, shift_low)
    both, both_low = add(b[5], b[6], sx, sx_low)
    shift, shift_low = multiply(dx, dx_low, both, both_low)
    xx, xx_low = add(b[9], b[10], shift, shift_low)
    shift, shift_low = multiply(dx, dx_low, b[7], b[8])
    xy, xy_low = add(b[11], b[12], shift, shift_low)
    shift, shift_low = multiply(dy, dy_low, sx, sx_low)
    xy, xy_low = add(xy, xy_low, shift, shift_low)
    both, both_low = add(b[7], b[8], sy, sy_low)
    shift, shift_low = multiply(dy, dy_low, both, both_low)
    yy, yy_low = add(b[13], b[14], shift, shift_low)
    sx, sx_low = add(a[5], a[6], sx, sx_low)
    sy, sy_low = add(a[7], a[8], sy, sy_low)
    xx, xx_low = add(a[9], a[10], xx, xx_low)
    xy, xy_low = add(a[11], a[12], xy, xy_low)
    yy, yy_low = add(a[13], a[14], yy, yy_low)
    sums = (sx, sx_low, sy, sy_low, xx, xx_low, xy, xy_low, yy, yy_low)
    return (a[0] + b[0], a[1], a[2], a[3], a[4], *sums)


@compiled
def line_of(sums: Sums) -> tuple[bool, float, float, float]:
    """Whether there are two different x; then slope, intercept and r2.

    >>> line_of(combine_sums(sums_of_point(0.0, 0.0, 1.0, 0.0), sums_of_point(1.0, 0.0, 3.0, 0.0)))
    (True, 2.0, 1.0, 1.0)
    """
    n = sums[0]
    if n < 2.0:
        return False, 0.0, 0.0, 0.0
    mean_x, mean_x_low = divide(sums[5], sums[6], n, 0.0)
    mean_y, mean_y_low = divide(sums[7], sums[8], n, 0.0)
    # The sums of squares and products about the means.
    less, less_low = multiply(mean_x, mean_x_low, sums[5], sums[6])
    xx, xx_low = add(sums[9], sums[10], -less, -less_low)
    less, less_low = multiply(mean_x, mean_x_low, sums[7], sums[8])
    xy, xy_low = add(sums[11], sums[12], -less, -less_low)
    less, less_low = multiply(mean_y, mean_y_low, sums[7], sums[8])
    yy, yy_low = add(sums[13], sums[14], -less, -less_low)
    if xx == 0.0:
        return False, 0.0, 0.0, 0.0
    slope, slope_low = divide(xy, xy_low, xx, xx_low)
    x, x_low = add(sums[1], sums[2], mean_x, mean_x_low)
    y, y_low = add(sums[3], sums[4], mean_y, mean_y_low)
    rise, rise_low = multiply(slope, slope_low, x, x_low)
    intercept, _ = add(y, y_low, -rise, -rise_low)
    if yy == 0.0:
        return True, slope, intercept, 1.0
    share, share_low = multiply(slope, slope_low, xy, xy_low)
    r2, _ = divide(share, share_low, yy, yy_low)
    return True, slope, intercept, r2


@compiled
def _at(rows: Column, i: int) -> Sums:
    r = rows[i]
    low = (r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7])
    return (*low, r[8], r[9], r[10], r[11], r[12], r[13], r[14])


@compiled
def _scan(
    x: Column,
    x_low: Column,
    y: Column,
    y_low: Column,
    lo: Positions,
    hi: Positions,
    lines: Column,
    are_known: NDArray[np.bool_],
) -> None:
    behind = np.zeros((longest_of(lo, hi) + 1, LENGTH))
    nothing = _at(behind, 0)
    start, anchor, reached, ahead = 0, -1, 0, nothing
    for r in range(lo.shape[0]):
        low, high = lo[r], hi[r]
        if low == high:
            continue
        if low > anchor or low < start or high < reached:
            start, anchor, reached, ahead = low, high, high, nothing
            behind[high - low] = 0.0
            total = nothing
            for i in range(high - 1, low - 1, -1):
                point = sums_of_point(x[i], x_low[i], y[i], y_low[i])
                total = combine_sums(total, point)
                for j in range(LENGTH):
                    behind[i - low, j] = total[j]
        for i in range(reached, high):
            point = sums_of_point(x[i], x_low[i], y[i], y_low[i])
            ahead = combine_sums(ahead, point)
        reached = high
        whole = combine_sums(_at(behind, low - start), ahead)
        are_known[r], slope, intercept, r2 = line_of(whole)
        if are_known[r]:
            lines[r, 0], lines[r, 1], lines[r, 2] = slope, intercept, r2
