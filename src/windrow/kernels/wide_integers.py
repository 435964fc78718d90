"""Integers of 128 and 256 bits, as Arrow's decimals hold them: exact sums, means and conversion.

A column of them is an array of 16 or 32 opaque bytes per value: two or four words of 64 bits, the
lowest first, in two's complement. A decimal is such an integer times a power of ten.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windrow.kernels.columns import Column, Positions, as_ranges, read_only
from windrow.kernels.compiled import compiled
from windrow.kernels.double_double import add, divide

WIDER = np.dtype("V32")
"""The type of a column of integers of 256 bits."""
Words = NDArray[np.uint64]


def words_of(column: Column) -> Words:
    """The words of a column of wide integers, one row per value."""
    words = np.ascontiguousarray(column).view(np.uint64)
    return read_only(words.reshape(len(column), column.dtype.itemsize // 8))


def sum_wide_ranges(values: Column, lo: ArrayLike, hi: ArrayLike) -> Column:
    """The exact sum of each range [lo, hi), in 256 bits: the running sum at hi less the one at lo.

    Sums of fewer than 2**63 values of 38 digits never overflow. An empty range gives 0.

    Ordering: none. Algebra: invertible. Time O(n + ranges), space O(n).

    >>> ones = np.array([1, 0, 2, 0], np.uint64).view("V16")
    >>> words_of(sum_wide_ranges(ones, [0], [2]))
    array([[3, 0, 0, 0]], dtype=uint64)
    """
    first, last = as_ranges(lo, hi, len(values))
    sums = np.empty((len(first), 4), np.uint64)
    _sum_ranges(words_of(values), first, last, sums)
    return sums.view(WIDER).reshape(len(first))


@compiled
def _sum_ranges(values: Words, lo: Positions, hi: Positions, sums: Words) -> None:
    n, width = values.shape
    running = np.zeros((n + 1, 4), np.uint64)
    for i in range(n):
        # The sign fills the words that the value does not have.
        sign = np.uint64(0) - (values[i, width - 1] >> np.uint64(63))
        carry = np.uint64(0)
        for w in range(4):
            word = values[i, w] if w < width else sign
            partial = running[i, w] + word
            total = partial + carry
            carry = np.uint64(partial < word) | np.uint64(total < partial)
            running[i + 1, w] = total
    for r in range(lo.shape[0]):
        borrow = np.uint64(0)
        for w in range(4):
            word, less = running[hi[r], w], running[lo[r], w]
            partial = word - less
            sums[r, w] = partial - borrow
            borrow = np.uint64(word < less) | np.uint64(partial < borrow)


def divide_wide(
    sums: Column, counts: NDArray[np.int64], more_digits: int, spare_digits: int
) -> Column:
    """Each sum divided by its count, with ``more_digits`` behind the sum's last digit.

    Halves are rounded away from zero. As in Spark, the quotient is first rounded to
    ``spare_digits`` further digits, then to the wanted ones. The quotient for a count of 0 is 0.

    >>> sums = np.array([2, 0, 0, 0], np.uint64).view(WIDER)
    >>> words_of(divide_wide(sums, np.array([3]), 2, 20))
    array([[67,  0,  0,  0]], dtype=uint64)
    """
    quotients = np.zeros((len(sums), 4), np.uint64)
    # A quotient below a half is at least 1 / (2 * count) below it. 19 digits never round that up.
    tie = np.int64(10**spare_digits if spare_digits < 19 else 2**63 - 1)
    _divide(words_of(sums), counts, np.uint64(10**more_digits), tie, quotients)
    return quotients.view(WIDER).reshape(len(sums))


@compiled
def _divide(
    sums: Words, counts: NDArray[np.int64], factor: Any, tie: Any, quotients: Words
) -> None:
    one, half = np.uint64(1), np.uint64(32)
    low_half = np.uint64(2**32 - 1)
    number = np.empty(4, np.uint64)
    for r in range(sums.shape[0]):
        if counts[r] <= 0:
            continue
        count = np.uint64(counts[r])
        is_negative = sums[r, 3] >> np.uint64(63) == one
        number[:] = sums[r]
        if is_negative:
            _negate(number)
        carry = np.uint64(0)
        for w in range(4):
            low = (number[w] & low_half) * factor + carry
            high = (number[w] >> half) * factor + (low >> half)
            number[w] = (high << half) | (low & low_half)
            carry = high >> half
        top = 3
        while top > 0 and number[top] == 0:
            top -= 1
        rest = np.uint64(0)
        for w in range(top, -1, -1):
            word, quotient = number[w], np.uint64(0)
            for b in range(64):
                rest = (rest << one) | ((word >> np.uint64(63 - b)) & one)
                quotient <<= one
                if rest >= count:
                    rest -= count
                    quotient |= one
            number[w] = quotient
        below_half = np.int64(count - rest) - np.int64(rest)
        if below_half <= np.int64(count) // tie:
            for w in range(4):
                number[w] += one
                if number[w] != 0:
                    break
        if is_negative:
            _negate(number)
        quotients[r] = number


@compiled
def _negate(number: Words) -> None:
    carry = np.uint64(1)
    for w in range(4):
        number[w] = ~number[w] + carry
        carry = carry if number[w] == 0 else np.uint64(0)


def floats_of_wide(values: Column, scale: int) -> NDArray[np.float64]:
    """Integers of 128 bits divided by ``10**scale``, as the nearest floats.

    >>> floats_of_wide(np.array([3, 0], np.uint64).view("V16"), 1)
    array([0.3])
    """
    power = float(10**scale)
    floats = np.empty(len(values))
    _to_floats(words_of(values), power, float(10**scale - int(power)), floats)
    return floats


@compiled
def _to_floats(values: Words, power: float, power_low: float, floats: Column) -> None:
    half = np.uint64(32)
    low_half = np.uint64(2**32 - 1)
    for i in range(values.shape[0]):
        low, high = values[i, 0], values[i, 1]
        sign = 1.0
        if high >> np.uint64(63):
            sign = -1.0
            low = ~low + np.uint64(1)
            high = ~high + np.uint64(low == 0)
        a, a_low = add(float(high >> half) * 2.0**96, 0.0, float(high & low_half) * 2.0**64, 0.0)
        b = float(low >> half) * 2.0**32
        b, b_low = add(b, 0.0, float(low & low_half), 0.0)
        a, a_low = add(a, a_low, b, b_low)
        a, _ = divide(a, a_low, power, power_low)
        floats[i] = sign * a
