"""Ranges in any order and of any length: tables of runs whose lengths are powers of two.

Each level of the table is built, answers its ranges and is dropped. A level that no range needs is
never built. So the space is that of one level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from windrow.kernels.columns import Column, Positions, as_column, as_ranges
from windrow.kernels.operators import Operator, identity
from windrow.kernels.segmented_scan import Combine, Partials, combine_across, fill_empty


def overlapping_ranges(
    values: ArrayLike, lo: ArrayLike, hi: ArrayLike, operator: Operator
) -> Column:
    """The minimum or maximum of each range [lo, hi), by the sparse table of overlapping runs.

    NaN is greater than any other number, as in Spark: max is NaN if any value is, min only if all
    are. An empty range gives the operator's identity.

    Ordering: none.
    Algebra: associative and idempotent, because the two runs that cover a range may overlap.
    Time O(n log longest range + ranges), space O(n + ranges).
    M. Bender and M. Farach-Colton, The LCA problem revisited, 2000.

    >>> overlapping_ranges([4, 1, 3, 5], [2, 0, 1], [4, 4, 3], "min")
    array([3, 1, 1])
    """
    if operator == "add":
        raise ValueError("overlapping ranges need an idempotent operator; got operator='add'")
    choose = np.fmin if operator == "min" else np.maximum
    column = as_column(values)
    neutral = (identity(operator, column.dtype),)
    return overlapping_ranges_with((column,), lo, hi, lambda a, b: (choose(a[0], b[0]),), neutral)[
        0
    ]


def disjoint_ranges_with(
    partials: Partials, lo: ArrayLike, hi: ArrayLike, combine: Combine, identity: Sequence[Any]
) -> Partials:
    """Each range [lo, hi) under any associative function of columns, combined left to right.

    ``combine(older, newer)`` takes and returns one array per column. ``identity`` is the result of
    an empty range.

    Ordering: none.
    Algebra: associative, not necessarily commutative.
    Time O(n log longest range + ranges), space O(n + ranges).
    Known from competitive programming; the scans are those of N. Alon and B. Schieber, Optimal
    preprocessing for answering on-line product queries, 1987.

    >>> last_of = lambda a, b: (b[0],)
    >>> disjoint_ranges_with((np.array([4, 1, 3, 5]),), [2, 0, 1], [4, 1, 3], last_of, (0,))
    (array([5, 4, 3]),)
    """
    first, last = as_ranges(lo, hi, len(partials[0]))
    occupied = np.flatnonzero(first < last)
    results = tuple(c[first[occupied]] for c in partials)
    by_level, bounds = _group(_levels_apart(first[occupied], last[occupied]))
    positions = np.arange(len(partials[0]))
    for level in range(1, len(bounds) - 1):
        which = by_level[bounds[level] : bounds[level + 1]]
        if not len(which):
            continue
        low, high = first[occupied[which]], last[occupied[which]]
        block = 1 << (level - 1)
        middle = (high - 1) // block * block
        answers = combine_across(partials, low, high, middle, positions % block == 0, combine)
        for result, answer in zip(results, answers, strict=True):
            result[which] = answer
    return fill_empty(len(first), occupied, results, identity)


def overlapping_ranges_with(
    partials: Partials, lo: ArrayLike, hi: ArrayLike, combine: Combine, identity: Sequence[Any]
) -> Partials:
    """Each range [lo, hi) under any associative and idempotent function of columns.

    Ordering: none.
    Algebra: associative and idempotent.
    Time O(n log longest range + ranges), space O(n + ranges).

    >>> union = lambda a, b: (a[0] | b[0],)
    >>> overlapping_ranges_with((np.array([4, 1, 3, 5]),), [2, 0], [4, 4], union, (0,))
    (array([7, 7]),)
    """
    first, last = as_ranges(lo, hi, len(partials[0]))
    occupied = np.flatnonzero(first < last)
    results = tuple(c[first[occupied]] for c in partials)
    by_level, bounds = _group(_bit_length(last[occupied] - first[occupied]))
    runs = partials
    for level in range(1, len(bounds) - 1):
        length = 1 << (level - 1)
        if level > 1:
            older = tuple(c[: -length // 2] for c in runs)
            runs = combine(older, tuple(c[length // 2 :] for c in runs))
        which = by_level[bounds[level] : bounds[level + 1]]
        low, high = first[occupied[which]], last[occupied[which]]
        older, newer = tuple(c[low] for c in runs), tuple(c[high - length] for c in runs)
        for result, answer in zip(results, combine(older, newer), strict=True):
            result[which] = answer
    return fill_empty(len(first), occupied, results, identity)


def _bit_length(numbers: Positions) -> Positions:
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64)


def _levels_apart(lo: Positions, hi: Positions) -> Positions:
    """Bits in which the first and the last position differ; 0 for single ones."""
    return _bit_length(lo ^ (hi - 1))


def _group(levels: Positions) -> tuple[Positions, Positions]:
    """The ranges in order of their level, and where each level from 0 up starts among them."""
    by_level = np.argsort(levels.astype(np.int8), kind="stable")
    highest = int(levels.max(initial=-1))
    bounds = np.searchsorted(levels[by_level], np.arange(highest + 2))
    return by_level, bounds
