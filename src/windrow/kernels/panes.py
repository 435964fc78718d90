"""The pane of a tuple: a stretch of time, or of a key's tuples, that windows share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windrow.kernels.columns import Column, Positions, as_column, read_only
from windrow.kernels.compiled import compiled


def assign_panes(times: ArrayLike, length: int, origin: int = 0) -> Positions:
    """The pane of each time or rank: pane p is [origin + p*length, origin + (p+1)*length).

    Ordering: none. Time O(n), space O(n). J. Li et al., No pane, no gain, 2005.

    >>> assign_panes([-11, -10, -1, 0, 9, 10], length=10)
    array([-2, -1, -1,  0,  0,  1])
    """
    return (as_times(times) - origin) // check_length(length)


def rank_tuples(keys: ArrayLike, next_rank: NDArray[np.int64]) -> Positions:
    """The rank of each tuple within its key, in order of arrival.

    ``next_rank[k]`` is the rank that the next tuple of key k takes; it moves on, so that the
    ranks of the next batch follow those of this one.

    Ordering: arrival. Time O(n), space O(n).

    >>> next_rank = np.array([0, 7])
    >>> rank_tuples([1, 0, 1], next_rank), next_rank
    (array([7, 0, 8]), array([1, 9]))
    """
    codes = as_keys(keys, len(next_rank))
    ranks = np.empty(len(codes), dtype=np.int64)
    _take_ranks(codes, next_rank, ranks)
    return ranks


def as_keys(keys: ArrayLike, n_keys: int) -> Column:
    """Key codes as a contiguous, read-only int32 or int64 array within [0, n_keys).

    >>> as_keys([0, 2], n_keys=3)
    array([0, 2])
    """
    codes = np.ascontiguousarray(keys)
    if codes.dtype != np.int32:
        codes = codes.astype(np.int64, copy=False)
    if len(codes) and not 0 <= codes.min() <= codes.max() < n_keys:
        raise ValueError(f"key codes must be in [0, {n_keys}); got {codes.min()} to {codes.max()}")
    return read_only(codes)


def as_times(times: ArrayLike) -> Positions:
    """Times or ranks as a contiguous, read-only int64 array.

    >>> as_times(np.array([3, 5], dtype=np.int32)).dtype
    dtype('int64')
    """
    instants = as_column(times)
    if instants.dtype.kind != "i":
        raise TypeError(f"times must be whole numbers; got dtype={np.asarray(times).dtype}")
    return instants


def check_length(length: int) -> int:
    """The pane's length, which must be positive."""
    if length <= 0:
        raise ValueError(f"a pane's length must be positive; got length={length}")
    return length


@compiled
def _take_ranks(keys: Column, next_rank: Positions, ranks: Positions) -> None:
    for i in range(keys.shape[0]):
        ranks[i] = next_rank[keys[i]]
        next_rank[keys[i]] += 1
