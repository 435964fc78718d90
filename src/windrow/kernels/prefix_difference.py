"""Sums of ranges as differences of running sums."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windrow.kernels.block_scan import scan_sums
from windrow.kernels.columns import Column, Positions, as_column, as_ranges
from windrow.kernels.compensated import two_sum
from windrow.kernels.compiled import compiled

ROUNDING = 2.0**-52
TOLERANCE = 2.0**-40
"""A difference is not used if its possible error is a greater share of it."""


def sum_ranges(
    values: ArrayLike, lo: ArrayLike, hi: ArrayLike, lost: ArrayLike | None = None
) -> Column:
    """The sum of each range [lo, hi): the running sum at hi minus the one at lo.

    If the values are rounded sums of floats, ``lost`` is what rounding has lost of each.

    Sums of int64 are exact modulo 2**64. The running sums of float64 carry their rounding errors,
    and a bound on the error that remains. If the bound says that a difference may be wrong in its
    12th digit (sums that nearly cancel, tiny values after huge ones, NaN, infinities or an overflow
    anywhere in the column), the range is summed by itself with a block scan. So a value only
    affects the ranges that contain it. An empty range gives 0.

    Ordering: none; floats that need a block scan are faster if lo and hi are non-decreasing.
    Algebra: invertible.
    Time O(n + ranges), space O(n).
    T. Ogita, S. Rump and S. Oishi, Accurate sum and dot product, 2005.

    >>> sum_ranges([1e16, 1.0, 2.0, np.nan], [0, 1, 2], [2, 3, 4])
    array([1.e+16, 3.e+00,    nan])
    """
    column = as_column(values)
    first, last = as_ranges(lo, hi, len(column))
    if column.dtype.kind == "f":
        return _sum_floats(column, None if lost is None else as_column(lost), first, last)
    running = np.zeros(len(column) + 1, dtype=np.int64)
    np.cumsum(column, out=running[1:])
    return running[last] - running[first]


def _sum_floats(
    values: Column, values_lost: Column | None, lo: Positions, hi: Positions
) -> NDArray[np.float64]:
    head = np.empty(len(values) + 1, dtype=np.float64)
    lost = np.empty(len(values) + 1, dtype=np.float64)
    unknown = _run_sums(values, values_lost, head, lost)
    results = np.empty(len(lo), dtype=np.float64)
    doubtful = np.empty(len(lo), dtype=np.bool_)
    _subtract(head, lost, unknown, lo, hi, results, doubtful)
    if doubtful.any():
        results[doubtful], _ = scan_sums(values, values_lost, lo[doubtful], hi[doubtful])
    return results


@compiled
def _run_sums(values: Column, values_lost: Any, head: Column, lost: Column) -> float:
    """Fill the running sums and their rounding errors; return a bound on the remaining error."""
    total, total_lost, unknown = 0.0, 0.0, 0.0
    head[0], lost[0] = total, total_lost
    for i in range(values.shape[0]):
        total, rounding = two_sum(total, values[i])
        total_lost, rounding = two_sum(total_lost, rounding)
        unknown += abs(rounding)
        if values_lost is not None:
            total_lost, rounding = two_sum(total_lost, values_lost[i])
            unknown += abs(rounding)
        head[i + 1], lost[i + 1] = total, total_lost
    return unknown


@compiled
def _subtract(
    head: Column,
    lost: Column,
    unknown: float,
    lo: Positions,
    hi: Positions,
    results: Column,
    doubtful: NDArray[np.bool_],
) -> None:
    for r in range(lo.shape[0]):
        if lo[r] == hi[r]:
            results[r], doubtful[r] = 0.0, False
            continue
        difference, rounding = two_sum(head[hi[r]], -head[lo[r]])
        difference_lost = lost[hi[r]] - lost[lo[r]]
        small = rounding + difference_lost
        results[r] = difference + small
        error = unknown + ROUNDING * (abs(difference_lost) + abs(small))
        # Written so that a NaN error or result is doubtful, too.
        doubtful[r] = not (error <= TOLERANCE * abs(results[r]))
