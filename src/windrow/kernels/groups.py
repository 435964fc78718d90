"""Numbering the distinct codes of a batch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.kernels.columns import Column, Positions, read_only
from windrow.kernels.compiled import compiled

_DENSE = 4
"""Integers are marked, not sorted, if they span at most this many times their number."""


def number_groups(codes: Positions) -> tuple[Positions, Positions]:
    """The group of each code, and the code of each group: the distinct codes, ascending.

    Codes must not be negative. If a code and a position together fit into 63 bits, they are sorted
    as one number, which is several times faster than sorting positions by their code.

    Ordering: none. Time O(n log n), space O(n).

    >>> number_groups(np.array([7, 5, 7, 9]))
    (array([1, 0, 1, 2]), array([5, 7, 9]))
    """
    n = len(codes)
    ordered, order = sort_codes(codes)
    opens = np.ones(n, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=opens[1:])
    groups = np.empty(n, dtype=np.int64)
    groups[order] = np.cumsum(opens) - 1
    return groups, ordered[opens]


def sort_codes(codes: Positions) -> tuple[Positions, Positions]:
    """The codes in ascending order, and their positions; equal codes stay in order.

    >>> sort_codes(np.array([7, 5, 7]))
    (array([5, 7, 7]), array([1, 0, 2]))
    """
    n = len(codes)
    if (codes[1:] >= codes[:-1]).all():
        return codes, np.arange(n)
    bits = n.bit_length()
    if int(codes.max(initial=0)).bit_length() + bits > 63:
        order = np.argsort(codes, kind="stable")
        return codes[order], order
    packed: Column = codes << bits
    packed |= np.arange(n)
    packed.sort()
    return packed >> bits, packed & ((1 << bits) - 1)


@compiled
def gather_groups(groups: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of each of ``n`` groups, ascending, and where the groups begin and end.

    ``groups`` are numbers in [0, n). Group g has the positions from bound g to bound g + 1.

    Ordering: none. Time O(rows + n), space O(rows + n): counting sort.

    >>> gather_groups(np.array([1, 0, 1]), 3)
    (array([1, 0, 2]), array([0, 1, 3, 3]))
    """
    bounds = np.zeros(n + 1, np.int64)
    for i in range(len(groups)):
        bounds[groups[i] + 1] += 1
    for g in range(n):
        bounds[g + 1] += bounds[g]
    behind = bounds[:n].copy()
    positions = np.empty(len(groups), np.int64)
    for i in range(len(groups)):
        positions[behind[groups[i]]] = i
        behind[groups[i]] += 1
    return positions, bounds


def rank_values(values: Column) -> tuple[Positions, Column]:
    """The dense rank of each value, and the value of each rank: the distinct ones, ascending.

    NaN is greater than any other number and equal to itself.

    Ordering: none. Time O(n log n), or O(n) for integers that are close together; space O(n).

    >>> rank_values(np.array([0.5, np.nan, -1.0, np.nan]))
    (array([1, 2, 0, 2]), array([-1. ,  0.5,  nan]))
    """
    if values.dtype.kind == "i" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < _DENSE * len(values):
            return _rank_integers(values, low, high)
    order = np.argsort(values)
    ordered = values[order]
    newer, older = ordered[1:], ordered[:-1]
    opens = np.ones(len(values), dtype=np.bool_)
    opens[1:] = (newer != older) & ((newer == newer) | (older == older))
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.cumsum(opens) - 1
    return ranks, ordered[opens]


def _rank_integers(values: Column, low: int, high: int) -> tuple[Positions, Column]:
    """The same for integers from low to high, which are marked instead of sorted."""
    is_there = np.zeros(high - low + 1, np.bool_)
    ranks = np.empty(len(values), np.int64)
    _rank_marked(read_only(values), low, is_there, ranks)
    return ranks, np.flatnonzero(is_there) + low


@compiled
def _rank_marked(values: Column, low: int, is_there: Column, ranks: Positions) -> None:
    for i in range(values.shape[0]):
        is_there[values[i] - low] = True
    numbers = np.cumsum(is_there) - 1
    for i in range(values.shape[0]):
        ranks[i] = numbers[values[i] - low]
