"""The pane of a tuple: a stretch of time, or of a key's tuples, that windows share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from windrow.kernels.columns import Column, Positions, as_column, read_only


def assign_panes(times: ArrayLike, length: int, origin: int = 0) -> Positions:
    """The pane of each time or rank: pane p is [origin + p*length, origin + (p+1)*length).

    Ordering: none. Time O(n), space O(n). J. Li et al., No pane, no gain, 2005.

    >>> assign_panes([-11, -10, -1, 0, 9, 10], length=10)
    array([-2, -1, -1,  0,  0,  1])
    """
    return (as_times(times) - origin) // check_length(length)


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
