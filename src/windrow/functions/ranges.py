"""Which kernel answers a question about ranges; kernels are imported when the first one is asked.

So ``import windrow.functions`` stays quick and does not load Numba.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from windrow.functions.columnar import Int64s

Partials = tuple[NDArray[Any], ...]


def are_ordered(lo: Int64s, hi: Int64s) -> bool:
    """Whether both ends never go back, as sliding windows do.

    >>> are_ordered(np.array([0, 1]), np.array([3, 3]))
    True
    """
    return bool((lo[1:] >= lo[:-1]).all() and (hi[1:] >= hi[:-1]).all())


def reduce_ranges(
    values: NDArray[Any], lo: Int64s, hi: Int64s, operation: Literal["sum", "min", "max"]
) -> NDArray[Any]:
    """The sum, least or greatest value of each range.

    Sums are differences of running sums; extremes come from a block scan where the ranges are in
    order, from a sparse table elsewhere.

    >>> reduce_ranges(np.array([4, 1, 3]), np.array([0, 1]), np.array([2, 3]), "max")
    array([4, 3])
    """
    if operation == "sum":
        from windrow.kernels.prefix_difference import sum_ranges

        return sum_ranges(values, lo, hi)
    if are_ordered(lo, hi):
        from windrow.kernels.block_scan import scan_ranges

        return scan_ranges(values, lo, hi, operation)
    from windrow.kernels.sparse_table import overlapping_ranges

    return overlapping_ranges(values, lo, hi, operation)


def combine_ranges(
    partials: Partials,
    lo: Int64s,
    hi: Int64s,
    combine: Callable[[Any, Any], Any],
    identity: Sequence[Any],
) -> Partials:
    """Each range under an associative function of columns; ``identity`` for the empty ones.

    A block scan where the ranges are in order, a disjoint sparse table elsewhere. ``combine`` may
    meet what NumPy would warn of, such as infinities.

    >>> add = lambda a, b: (a[0] + b[0],)
    >>> combine_ranges((np.array([4, 1, 3]),), np.array([0, 1]), np.array([2, 3]), add, (0,))
    (array([5, 4]),)
    """
    from windrow.kernels.block_scan import scan_ranges_with

    with np.errstate(all="ignore"):
        return scan_ranges_with(partials, lo, hi, combine, identity)
