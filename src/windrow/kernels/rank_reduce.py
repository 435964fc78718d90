"""Partials of every pane of every key, where a pane is a number of tuples of a key."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windrow.kernels.columns import Column, Positions, as_column, read_only
from windrow.kernels.compiled import compiled
from windrow.kernels.pane_reduce import PanePartials, Wanted, add_value, allocate, partials_of
from windrow.kernels.panes import check_length


def reduce_rank_panes(
    keys: Positions,
    next_rank: NDArray[np.int64],
    counts: NDArray[np.int64],
    values: ArrayLike | None = None,
    *,
    length: int,
    valid: ArrayLike | None = None,
    wanted: Collection[Wanted] = (),
) -> PanePartials:
    """Like ``reduce_panes`` over ranks: a key's tuples have ranks from ``next_rank[key]`` on.

    Every key counts what is left of its pane, so no tuple costs a division. ``counts`` has the
    number of the batch's tuples per key, from ``count_keys``, which also checks the codes.

    Ordering: the tuples of a key in order. Algebra: associative and commutative.
    Time O(n + keys), space O(n / length + keys).

    >>> keys, next_rank = np.array([0, 1, 0, 0]), np.array([1, 0])
    >>> counts = count_keys(keys, 2)
    >>> batch = reduce_rank_panes(keys, next_rank, counts, [7, 1, 2, 4], length=2, wanted={"sum"})
    >>> batch.keys, batch.panes, batch.sums
    (array([0, 0, 1]), array([0, 1, 0]), array([7, 6, 1]))
    """
    column = as_column(keys if values is None else values)
    mask = None if valid is None else read_only(np.ascontiguousarray(valid, dtype=np.bool_))
    check_length(length)
    first_pane, into = np.divmod(next_rank, length)
    room = np.where(counts > 0, (into + counts + length - 1) // length, 0)
    first_cell = np.cumsum(room) - room
    n_cells = int(room.sum())
    _, *tables = allocate(n_cells, column.dtype, mask is not None, wanted)
    _reduce(keys, first_cell.copy(), length - into, length, column, mask, *tables)
    own = np.repeat(np.arange(len(next_rank)), room)
    panes = np.arange(n_cells) + (first_pane - first_cell)[own]
    end = (next_rank + counts)[own]
    rows = np.minimum((panes + 1) * length, end) - np.maximum(panes * length, next_rank[own])
    return partials_of(own, panes, rows, *tables)


def count_keys(keys: Positions, n_keys: int) -> NDArray[np.int64]:
    """How often each code in [0, n_keys) occurs.

    >>> count_keys(np.array([0, 2, 0]), 3)
    array([2, 0, 1])
    """
    counts = np.zeros(n_keys, np.int64)
    if not _count(keys, counts):
        raise ValueError(f"key codes must be in [0, {n_keys})")
    return counts


@compiled
def _count(keys: Positions, counts: Positions) -> bool:
    for i in range(keys.shape[0]):
        if not 0 <= keys[i] < counts.shape[0]:
            return False
        counts[keys[i]] += 1
    return True


@compiled
def _reduce(
    keys: Column,
    cell_of: Positions,
    left_of: Positions,
    length: int,
    values: Column,
    valid: Any,
    counts: Any,
    sums: Any,
    lost: Any,
    minima: Any,
    maxima: Any,
) -> None:
    # Numba drops the branches of the arguments that are None: each combination is its own loop.
    # Unsigned indices save the check for negative ones, which makes this three times as fast.
    for i in range(keys.shape[0]):
        key = np.uint64(keys[i])
        cell = np.uint64(cell_of[key])
        left = left_of[key] - 1
        if left == 0:
            left = length
            cell_of[key] += 1
        left_of[key] = left
        if valid is not None:
            if not valid[i]:
                continue
            counts[cell] += 1
        add_value(values[i], cell, sums, lost, minima, maxima)
