"""Integers in as few bytes as they fit, for messages and stored chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.kernels.columns import Positions, as_column, read_only
from windrow.kernels.compiled import compiled

_NARROWEST, _WIDEST = 2**8 - 1, 2**32 - 1


def shortened(values: Positions) -> tuple[NDArray[Any], int, bool] | None:
    """Unsigned integers that stand for the values, the least value, and whether they are steps.

    They are differences from the least value or, if the values ascend and get shorter that way,
    steps from the previous value. None if the values need more than four bytes either way.

    Ordering: none. Time O(n), space O(n).

    >>> shortened(np.array([1_000, 1_300, 1_700])), shortened(np.array([7, 5]))
    ((array([  0, 300, 700], dtype=uint16), 1000, False), (array([2, 0], dtype=uint8), 5, False))
    >>> shortened(np.arange(0, 10_000_000, 10))[0].max(), shortened(np.array([0, 2**40]))
    (np.uint8(10), None)
    """
    column = as_column(values)
    low, high, step = (int(found) for found in _extent(column))
    if high - low > _WIDEST:
        return None
    is_steps = high - low > _NARROWEST and 0 <= step < (high - low) >> 8
    short = np.empty(len(column), np.min_scalar_type(step if is_steps else high - low))
    if is_steps:
        _steps(column, short)
    else:
        _above(column, low, short)
    return short, low, is_steps


def lengthened(short: NDArray[Any], low: int, is_steps: bool) -> Positions:
    """The values that ``shortened`` integers stand for. Time O(n).

    >>> lengthened(np.array([0, 3, 4], np.uint8), 1_000, True)
    array([1000, 1003, 1007])
    """
    short, values = read_only(short), np.empty(len(short), np.int64)
    if is_steps:
        _add_steps(short, low, values)
    else:
        _add_low(short, low, values)
    return values


@compiled
def _extent(values: Positions) -> tuple[int, int, int]:
    """The least and the greatest value, and the longest step; -1 if the values do not ascend."""
    low = high = before = values[0]
    longest = 0
    ascends = True
    for i in range(values.shape[0]):
        value = values[i]
        low, high = min(low, value), max(high, value)
        # A step beyond 63 bits is negative, and such values are too far apart anyway.
        longest = max(longest, value - before)
        ascends &= value >= before
        before = value
    return low, high, longest if ascends else -1


@compiled
def _steps(values: Positions, short: NDArray[Any]) -> None:
    before = values[0]
    for i in range(values.shape[0]):
        short[i] = values[i] - before
        before = values[i]


@compiled
def _above(values: Positions, low: int, short: NDArray[Any]) -> None:
    for i in range(values.shape[0]):
        short[i] = values[i] - low


@compiled
def _add_steps(short: NDArray[Any], low: int, values: Positions) -> None:
    value = np.int64(low)
    for i in range(short.shape[0]):
        value += np.int64(short[i])
        values[i] = value


@compiled
def _add_low(short: NDArray[Any], low: int, values: Positions) -> None:
    for i in range(short.shape[0]):
        values[i] = np.int64(short[i]) + low
