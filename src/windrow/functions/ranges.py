"""Chooses the kernel that reduces ranges of values or of partials.

Kernels are imported when they are first used, so ``import windrow.functions`` does not load Numba.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from windrow.core.aggregate import Aggregate, Idempotent
from windrow.functions.columnar import Int64s

Partials = tuple[NDArray[Any], ...]


def are_ordered(lo: Int64s, hi: Int64s) -> bool:
    """Whether lo and hi never decrease, as is the case for sliding windows.

    >>> are_ordered(np.array([0, 1]), np.array([3, 3]))
    True
    """
    return bool((lo[1:] >= lo[:-1]).all() and (hi[1:] >= hi[:-1]).all())


def reduce_ranges(
    values: NDArray[Any],
    lo: Int64s,
    hi: Int64s,
    operation: Literal["sum", "min", "max"],
    lost: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """The sum, least or greatest value of each range.

    Wide integers are only summed, in 256 bits. If the values are rounded sums, ``lost`` is what
    rounding has lost of each. Sums are differences of running sums. Extremes come from a block scan
    if the ranges are in order, and otherwise from the overlapping sparse table, since they are
    idempotent.

    >>> reduce_ranges(np.array([4, 1, 3]), np.array([0, 1]), np.array([2, 3]), "max")
    array([4, 3])
    """
    if values.dtype.kind == "V":
        from windrow.kernels.wide_integers import sum_wide_ranges

        return sum_wide_ranges(values, lo, hi)
    if operation == "sum":
        from windrow.kernels.prefix_difference import sum_ranges

        return sum_ranges(values, lo, hi, lost)
    if are_ordered(lo, hi):
        from windrow.kernels.block_scan import scan_ranges

        return scan_ranges(values, lo, hi, operation)
    from windrow.kernels.sparse_table import overlapping_ranges

    return overlapping_ranges(values, lo, hi, operation)


def sum_ranges_with_loss(
    values: NDArray[Any], lo: Int64s, hi: Int64s, lost: NDArray[Any] | None = None
) -> Partials:
    """The sum of each range of floats, and what rounding has lost of it.

    If the values are rounded sums, ``lost`` is what rounding has lost of each.

    >>> sum_ranges_with_loss(np.array([1e16, 1.0]), np.array([0]), np.array([2]))
    (array([1.e+16]), array([1.]))
    """
    from windrow.kernels.block_scan import scan_sums
    from windrow.kernels.columns import as_column, as_ranges

    of_values = None if lost is None else as_column(lost)
    return scan_sums(as_column(values), of_values, *as_ranges(lo, hi, len(values)))


def combine_ranges(
    function: Aggregate[Any, Any, Any],
    partials: Partials,
    lo: Int64s,
    hi: Int64s,
    combine: Callable[[Any, Any], Any],
    identity: Sequence[Any],
) -> Partials:
    """The combined partials of each range; ``identity`` for an empty range.

    ``partials`` are columns, and ``combine`` is the function's own in a form for columns. Ranges in
    order use a block scan. Other ranges use the overlapping sparse table if the function is
    Idempotent, and the disjoint one if not. NumPy's warnings, such as for infinities, are silenced.
    """
    with np.errstate(all="ignore"):
        if isinstance(function, Idempotent) and not are_ordered(lo, hi):
            from windrow.kernels.sparse_table import overlapping_ranges_with

            return overlapping_ranges_with(partials, lo, hi, combine, identity)
        from windrow.kernels.block_scan import scan_ranges_with

        return scan_ranges_with(partials, lo, hi, combine, identity)
