"""The inputs of range kernels: value columns and ranges, checked before compiled code runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Column = NDArray[Any]
Positions = NDArray[np.int64]


def as_column(values: ArrayLike) -> Column:
    """The values as a contiguous, read-only int64 or float64 array, without a copy if possible.

    All inputs get one array type, including the read-only buffers of Arrow, so that each kernel is
    compiled once.

    >>> as_column([True, False]).dtype, as_column(np.float32([0.5])).dtype
    (dtype('int64'), dtype('float64'))
    """
    array = np.asarray(values)
    if array.dtype.kind == "b" or (array.dtype.kind in "iu" and array.dtype != np.uint64):
        wanted: np.dtype[Any] = np.dtype(np.int64)
    elif array.dtype.kind == "f":
        wanted = np.dtype(np.float64)
    else:
        raise TypeError(f"a value column must hold int64 or float64; got dtype={array.dtype}")
    return read_only(np.ascontiguousarray(array, dtype=wanted))


def read_only(array: Column) -> Column:
    """A read-only view of the array."""
    view = array.view()
    view.flags.writeable = False
    return view


def as_ranges(lo: ArrayLike, hi: ArrayLike, n: int) -> tuple[Positions, Positions]:
    """The ranges [lo, hi) as int64 positions; raises unless 0 <= lo <= hi <= n.

    >>> as_ranges([0, 2], [3, 2], n=3)
    (array([0, 2]), array([3, 2]))
    """
    first = read_only(np.ascontiguousarray(lo, dtype=np.int64))
    last = read_only(np.ascontiguousarray(hi, dtype=np.int64))
    if first.ndim != 1 or first.shape != last.shape:
        raise ValueError(f"lo and hi must have the same length; got {first.shape} and {last.shape}")
    if first.size and (first.min() < 0 or last.max() > n or (first > last).any()):
        wrong = int(np.argmax((first < 0) | (last > n) | (first > last)))
        raise ValueError(
            f"a range must satisfy 0 <= lo <= hi <= {n}; got [{first[wrong]}, {last[wrong]})"
        )
    return first, last
