"""Exact quantiles, modes and distinct counts of ranges, by a histogram that slides along.

One sort replaces the values with their ranks. A histogram of ranks then follows the ranges: each
tuple is added once and removed once, however many ranges it lies in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windrow.kernels.columns import Column, Positions, as_column, as_ranges
from windrow.kernels.compiled import compiled
from windrow.kernels.count_tree import find_by_sum, find_maximum, follow, level_starts
from windrow.kernels.groups import rank_values


def quantile_ranges(
    values: ArrayLike, lo: ArrayLike, hi: ArrayLike, fractions: ArrayLike
) -> NDArray[np.float64]:
    """The exact quantiles of each range [lo, hi): one row per range, one column per fraction.

    As in Spark's ``percentile``, a quantile is at position ``fraction * (n - 1)`` of the n sorted
    values; between two of them it is ``below + share * (above - below)``, in the arithmetic of
    floats. NaN is greater than any other number. An empty range gives NaN.

    Ordering: lo and hi non-decreasing. Any other order gives correct results, but each step costs
    the distance it moves.
    Algebra: only an order of the values.
    Time O(n log n + (n + ranges) log n), space O(n).
    After M. Juhola, J. Katajainen and T. Raita, Comparison of algorithms for standard median
    filtering, 1991.

    >>> quantile_ranges([4, 1, 3, 5], [0, 1], [3, 4], [0.0, 0.5, 0.75])
    array([[1. , 3. , 3.5],
           [1. , 3. , 4. ]])
    """
    column = as_column(values)
    first, last = as_ranges(lo, hi, len(column))
    wanted = np.ascontiguousarray(fractions, dtype=np.float64)
    if not ((wanted >= 0.0) & (wanted <= 1.0)).all():
        raise ValueError(f"fractions of a quantile must be in [0, 1]; got {wanted.tolist()}")
    ranks, distinct = rank_values(column)
    results = np.full((len(first), len(wanted)), np.nan)
    _slide_quantiles(ranks, distinct.astype(np.float64), first, last, wanted, results)
    return results


def mode_ranges(values: ArrayLike, lo: ArrayLike, hi: ArrayLike) -> Column:
    """The most frequent value of each range [lo, hi), the smallest if there are several.

    NaN is greater than any other number and equal to itself. An empty range gives NaN, or 0
    among int64.

    Ordering: lo and hi non-decreasing. Any other order gives correct results, but each step costs
    the distance it moves.
    Algebra: only an order of the values.
    Time O(n log n + (n + ranges) log n), space O(n).

    >>> mode_ranges([4, 1, 4, 1, 1], [0, 0, 2], [3, 4, 5])
    array([4, 1, 1])
    """
    column = as_column(values)
    first, last = as_ranges(lo, hi, len(column))
    ranks, distinct = rank_values(column)
    nothing: Any = column.dtype.type(0 if column.dtype.kind == "i" else np.nan)
    results = np.full(len(first), nothing)
    _slide_modes(ranks, distinct, first, last, results)
    return results


def count_distinct_ranges(values: ArrayLike, lo: ArrayLike, hi: ArrayLike) -> Positions:
    """How many different values each range [lo, hi) holds; NaN is equal to itself.

    Ordering: lo and hi non-decreasing. Any other order gives correct results, but each step costs
    the distance it moves.
    Algebra: only equality of the values.
    Time O(n log n + ranges), space O(n).

    >>> count_distinct_ranges([4, 1, 4, 1, 3], [0, 2, 5], [3, 5, 5])
    array([2, 3, 0])
    """
    column = as_column(values)
    first, last = as_ranges(lo, hi, len(column))
    ranks, distinct = rank_values(column)
    results = np.zeros(len(first), dtype=np.int64)
    _slide_distinct(ranks, len(distinct), first, last, results)
    return results


@compiled
def _slide_quantiles(
    ranks: Positions,
    distinct: Column,
    lo: Positions,
    hi: Positions,
    fractions: Column,
    results: Column,
) -> None:
    starts = level_starts(distinct.shape[0])
    tree = np.zeros(starts[-1], dtype=np.int64)
    low, high = 0, 0
    for r in range(lo.shape[0]):
        follow(ranks, tree, starts, False, low, high, lo[r], hi[r])
        low, high = lo[r], hi[r]
        if low == high:
            continue
        for f in range(fractions.shape[0]):
            position = fractions[f] * (high - low - 1)
            lower, upper = int(np.floor(position)), int(np.ceil(position))
            below = find_by_sum(tree, starts, lower)
            above = below if upper == lower else find_by_sum(tree, starts, upper)
            if below == above:
                results[r, f] = distinct[below]
            else:
                step = distinct[above] - distinct[below]
                results[r, f] = distinct[below] + (position - lower) * step


@compiled
def _slide_modes(
    ranks: Positions, distinct: Column, lo: Positions, hi: Positions, results: Column
) -> None:
    starts = level_starts(distinct.shape[0])
    tree = np.zeros(starts[-1], dtype=np.int64)
    low, high = 0, 0
    for r in range(lo.shape[0]):
        follow(ranks, tree, starts, True, low, high, lo[r], hi[r])
        low, high = lo[r], hi[r]
        if low < high:
            results[r] = distinct[find_maximum(tree, starts)]


@compiled
def _slide_distinct(
    ranks: Positions, n_distinct: int, lo: Positions, hi: Positions, results: Positions
) -> None:
    starts = np.array([0, n_distinct])
    counts = np.zeros(n_distinct, dtype=np.int64)
    low, high, present = 0, 0, 0
    for r in range(lo.shape[0]):
        present += follow(ranks, counts, starts, False, low, high, lo[r], hi[r])
        low, high = lo[r], hi[r]
        results[r] = present
