"""Ranges of associative functions by suffix and prefix scans that meet at block boundaries.

Van Herk, Gil and Werman cut the sequence into blocks of the window's length, so that each window
is the end of one block and the start of the next. Here the ranges place the boundaries: a range
that starts after the last boundary puts the next one at its own end. So ranges may differ in
length, and those cut short at the end of a key cost no more than the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windrow.kernels.columns import Column, Positions, as_column, as_ranges, read_only
from windrow.kernels.compensated import SHRINK, sum_with_loss, two_sum
from windrow.kernels.compiled import compiled
from windrow.kernels.operators import CODES, Operator, combine, identity
from windrow.kernels.segmented_scan import Combine, Partials, combine_across, fill_empty
from windrow.kernels.sparse_table import disjoint_ranges_with


def scan_ranges(values: ArrayLike, lo: ArrayLike, hi: ArrayLike, operator: Operator) -> Column:
    """The sum, minimum or maximum of each range [lo, hi).

    Sums of int64 are exact modulo 2**64. Sums of float64 carry their rounding errors along, do
    not depend on values outside the range, and overflow only if the result does. NaN is
    greater than any other number, as in Spark: max is NaN if any value is, min only if all are.
    An empty range gives the operator's identity.

    Ordering: lo and hi non-decreasing. Any other order gives correct results, but each range that
    goes back costs its length.
    Algebra: associative.
    Time O(n + ranges), space O(longest range).
    M. van Herk, 1992; J. Gil and M. Werman, Computing 2-D min, median and max filters, 1993. The
    boundaries follow the ranges as in the two-stacks algorithm: K. Tangwongsan, M. Hirzel and
    S. Schneider, Low-latency sliding-window aggregation in worst-case constant time, 2017.

    >>> scan_ranges([4, 1, 3, 5], [0, 1, 2], [3, 4, 4], "max")
    array([4, 5, 5])
    """
    column = as_column(values)
    first, last = as_ranges(lo, hi, len(column))
    if operator == "add" and column.dtype.kind == "f":
        return scan_sums(column, None, first, last)[0]
    neutral = identity(operator, column.dtype)
    results = np.empty(len(first), dtype=column.dtype)
    _scan(column, first, last, CODES[operator], neutral, results)
    return results


def scan_ranges_with(
    partials: Partials, lo: ArrayLike, hi: ArrayLike, combine: Combine, identity: Sequence[Any]
) -> Partials:
    """Each range [lo, hi) under any associative function of columns, combined left to right.

    ``combine(older, newer)`` takes and returns one array per column. ``identity`` is the result of
    an empty range.

    Ordering: lo and hi non-decreasing; any other order uses the disjoint sparse table.
    Algebra: associative, not necessarily commutative.
    Time O(n + ranges) in O(log longest range) vectorised calls, space O(n).

    >>> first_of = lambda a, b: (a[0],)
    >>> scan_ranges_with((np.array([4, 1, 3, 5]),), [0, 1, 2], [3, 4, 4], first_of, (0,))
    (array([4, 1, 3]),)
    """
    n = len(partials[0])
    first, last = as_ranges(lo, hi, n)
    occupied = np.flatnonzero(first < last)
    first, last = first[occupied], last[occupied]
    if (np.diff(first) < 0).any() or (np.diff(last) < 0).any():
        return disjoint_ranges_with(partials, lo, hi, combine, identity)
    if not len(occupied):
        return fill_empty(len(np.asarray(lo)), occupied, tuple(c[:0] for c in partials), identity)
    anchor = _place_anchors(first, last)
    opens = np.zeros(n + 1, dtype=np.bool_)
    opens[anchor] = True
    results = combine_across(partials, first, last, anchor, opens[:n], combine)
    return fill_empty(len(np.asarray(lo)), occupied, results, identity)


@compiled
def _place_anchors(lo: Positions, hi: Positions) -> Positions:
    anchors = np.empty(lo.shape[0], dtype=np.int64)
    anchor = np.int64(-1)
    for r in range(lo.shape[0]):
        if lo[r] > anchor:
            anchor = hi[r]
        anchors[r] = anchor
    return anchors


@compiled
def longest_of(lo: Positions, hi: Positions) -> int:
    longest = 0
    for r in range(lo.shape[0]):
        longest = max(longest, hi[r] - lo[r])
    return longest


@compiled
def _scan(
    values: Column, lo: Positions, hi: Positions, code: int, neutral: Any, results: Column
) -> None:
    behind = np.empty(longest_of(lo, hi) + 1, dtype=values.dtype)
    start, anchor, reached, ahead = 0, -1, 0, neutral
    for r in range(lo.shape[0]):
        low, high = lo[r], hi[r]
        if low == high:
            results[r] = neutral
            continue
        if low > anchor or low < start or high < reached:
            start, anchor, reached, ahead = low, high, high, neutral
            behind[high - low] = neutral
            total = neutral
            for i in range(high - 1, low - 1, -1):
                total = combine(code, values[i], total)
                behind[i - low] = total
        for i in range(reached, high):
            ahead = combine(code, ahead, values[i])
        reached = high
        results[r] = combine(code, behind[low - start], ahead)


def scan_sums(
    values: Column, lost: Column | None, lo: Positions, hi: Positions
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sum of each range [lo, hi) of floats, and what rounding it has lost.

    ``lost`` is what the values themselves have lost, if they are sums.

    >>> values, lo, hi = as_column([1e16, 1.0, 2.0]), *as_ranges([0, 1], [2, 3], 3)
    >>> scan_sums(values, None, lo, hi)
    (array([1.e+16, 3.e+00]), array([1., 0.]))
    """
    sums, sums_lost = np.empty(len(lo)), np.empty(len(lo))
    _scan_sums(values, lost, read_only(lo), read_only(hi), sums, sums_lost)
    broken = np.flatnonzero(~np.isfinite(sums))
    if len(broken):
        # A partial may have overflowed although the sum does not; shrunk values cannot overflow.
        shrunk, shrunk_lost = np.empty(len(broken)), np.empty(len(broken))
        small_lost = None if lost is None else as_column(lost * SHRINK)
        small = as_column(values * SHRINK)
        ranges = read_only(lo[broken]), read_only(hi[broken])
        _scan_sums(small, small_lost, *ranges, shrunk, shrunk_lost)
        with np.errstate(over="ignore"):
            sums[broken], sums_lost[broken] = shrunk / SHRINK, shrunk_lost / SHRINK
    return sums, sums_lost


@compiled
def _scan_sums(
    values: Column, lost: Any, lo: Positions, hi: Positions, sums: Column, sums_lost: Column
) -> None:
    # Like _scan, but each running sum comes with the sum of its rounding errors.
    longest = longest_of(lo, hi)
    behind = np.empty(longest + 1, dtype=np.float64)
    behind_lost = np.empty(longest + 1, dtype=np.float64)
    start, anchor, reached, ahead, ahead_lost = 0, -1, 0, 0.0, 0.0
    for r in range(lo.shape[0]):
        low, high = lo[r], hi[r]
        if low == high:
            sums[r] = sums_lost[r] = 0.0
            continue
        if low > anchor or low < start or high < reached:
            start, anchor, reached, ahead, ahead_lost = low, high, high, 0.0, 0.0
            behind[high - low] = behind_lost[high - low] = 0.0
            total, total_lost = 0.0, 0.0
            for i in range(high - 1, low - 1, -1):
                total, rounding = two_sum(values[i], total)
                total_lost += rounding
                if lost is not None:
                    total_lost += lost[i]
                behind[i - low], behind_lost[i - low] = total, total_lost
        for i in range(reached, high):
            ahead, rounding = two_sum(ahead, values[i])
            ahead_lost += rounding
            if lost is not None:
                ahead_lost += lost[i]
        reached = high
        older, older_lost = behind[low - start], behind_lost[low - start]
        sums[r], sums_lost[r] = sum_with_loss(older, older_lost, ahead, ahead_lost)
