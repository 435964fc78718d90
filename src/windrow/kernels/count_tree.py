"""A histogram of ranks that knows its sums, or its maxima, level by level.

Level 0 holds one count per rank. Level k+1 holds the sum or the maximum of each run of 64 entries
of level k. All levels lie in one array. A change touches one entry per level. A search reads at
most 64 entries per level, which are neighbours in memory, whereas a Fenwick tree would touch log2 n
scattered ones.
"""

from __future__ import annotations

import numpy as np

from windrow.kernels.columns import Positions
from windrow.kernels.compiled import compiled

FANOUT = 64


@compiled
def level_starts(n: int) -> Positions:
    """Where each level of a tree over n ranks starts, and where the last one ends.

    >>> level_starts(200)
    array([  0, 200, 204])
    """
    starts = [0, n]
    while n > FANOUT:
        n = (n + FANOUT - 1) // FANOUT
        starts.append(starts[-1] + n)
    return np.array(starts, dtype=np.int64)


@compiled
def add_to_sums(tree: Positions, starts: Positions, rank: int, change: int) -> None:
    """Add to the count of a rank in a tree of sums. Time O(log n).

    >>> starts = level_starts(100)
    >>> tree = np.zeros(starts[-1], dtype=np.int64)
    >>> add_to_sums(tree, starts, 70, 1)
    >>> tree[starts[1] :]
    array([0, 1])
    """
    for level in range(starts.shape[0] - 1):
        tree[starts[level] + rank] += change
        rank //= FANOUT


@compiled
def find_by_sum(tree: Positions, starts: Positions, position: int) -> int:
    """The rank at a position of the sorted values, from 0, in a tree of sums. Time O(log n).

    >>> starts = level_starts(100)
    >>> tree = np.zeros(starts[-1], dtype=np.int64)
    >>> for rank in (5, 70, 70, 99):
    ...     add_to_sums(tree, starts, rank, 1)
    >>> [find_by_sum(tree, starts, position) for position in range(4)]
    [5, 70, 70, 99]
    """
    entry = 0
    for level in range(starts.shape[0] - 2, -1, -1):
        at = starts[level] + entry
        while position >= tree[at]:
            position -= tree[at]
            at += 1
        entry = at - starts[level]
        if level > 0:
            entry *= FANOUT
    return entry


@compiled
def add_to_maxima(tree: Positions, starts: Positions, rank: int, change: int) -> None:
    """Add 1 or -1 to the count of a rank in a tree of maxima. Time O(64 log n), mostly O(log n).

    >>> starts = level_starts(100)
    >>> tree = np.zeros(starts[-1], dtype=np.int64)
    >>> for rank, change in ((70, 1), (70, 1), (3, 1), (70, -1)):
    ...     add_to_maxima(tree, starts, rank, change)
    >>> tree[starts[1] :]
    array([1, 1])
    """
    was = tree[rank]
    now = was + change
    tree[rank] = now
    for level in range(1, starts.shape[0] - 1):
        first = starts[level - 1] + rank // FANOUT * FANOUT
        rank //= FANOUT
        above = starts[level] + rank
        if now > tree[above]:
            was, tree[above] = tree[above], now
        elif was == tree[above]:
            # The maximum may have been this entry alone: look at its neighbours.
            now = tree[first : min(first + FANOUT, starts[level])].max()
            if now == was:
                return
            tree[above] = now
        else:
            return


@compiled
def find_maximum(tree: Positions, starts: Positions) -> int:
    """The smallest rank with the greatest count in a tree of maxima. Time O(log n).

    >>> starts = level_starts(100)
    >>> tree = np.zeros(starts[-1], dtype=np.int64)
    >>> for rank in (70, 70, 3):
    ...     add_to_maxima(tree, starts, rank, 1)
    >>> find_maximum(tree, starts)
    70
    """
    top = starts.shape[0] - 2
    maximum = tree[starts[top] : starts[top + 1]].max()
    entry = 0
    for level in range(top, -1, -1):
        at = starts[level] + entry
        while tree[at] != maximum:
            at += 1
        entry = at - starts[level]
        if level > 0:
            entry *= FANOUT
    return entry


@compiled
def follow(
    ranks: Positions,
    tree: Positions,
    starts: Positions,
    of_maxima: bool,
    low: int,
    high: int,
    new_low: int,
    new_high: int,
) -> int:
    """Turn the histogram of ranks[low:high] into that of ranks[new_low:new_high].

    Returns the change in the number of ranks that are present. Time O(log n) per tuple that is in
    only one of the two ranges.

    >>> starts = level_starts(3)
    >>> tree = np.zeros(starts[-1], dtype=np.int64)
    >>> follow(np.array([0, 2, 2, 1]), tree, starts, False, 0, 0, 1, 4), tree
    (2, array([0, 1, 2]))
    """
    if new_low >= high or new_high <= low:
        change = _change(ranks, tree, starts, of_maxima, low, high, -1)
        return change + _change(ranks, tree, starts, of_maxima, new_low, new_high, 1)
    change = _change(ranks, tree, starts, of_maxima, high, new_high, 1)
    change += _change(ranks, tree, starts, of_maxima, new_low, low, 1)
    change += _change(ranks, tree, starts, of_maxima, low, new_low, -1)
    return change + _change(ranks, tree, starts, of_maxima, new_high, high, -1)


@compiled
def _change(
    ranks: Positions,
    tree: Positions,
    starts: Positions,
    of_maxima: bool,
    begin: int,
    end: int,
    change: int,
) -> int:
    """Add the change to the count of each of ranks[begin:end], which may be empty."""
    present = 0
    for i in range(begin, end):
        rank = ranks[i]
        present -= tree[rank] > 0
        if of_maxima:
            add_to_maxima(tree, starts, rank, change)
        else:
            add_to_sums(tree, starts, rank, change)
        present += tree[rank] > 0
    return present
