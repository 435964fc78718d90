"""Arithmetic with twice the digits of a float: a number is a pair, the rounded value and the rest.

T. Dekker, A floating-point technique for extending the available precision, 1971. Operations are
exact to about 31 digits. A value that is not finite, or an overflow, gives NaN.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from windrow.kernels.columns import Column, read_only
from windrow.kernels.compensated import two_sum
from windrow.kernels.compiled import compiled

SPLITTER = 2.0**27 + 1.0
LARGEST_BELOW_2_63 = float(2**63 - 1024)


def as_pairs(values: ArrayLike) -> tuple[Column, Column]:
    """Integers or floats as pairs, without loss.

    >>> as_pairs([2**60 + 1])
    (array([1.1529215e+18]), array([1.]))
    """
    column = np.ascontiguousarray(values)
    if column.dtype.kind == "f":
        high = column.astype(np.float64, copy=False)
        return read_only(high), read_only(np.zeros(len(high)))
    whole = column.astype(np.int64, copy=False)
    high = np.minimum(whole.astype(np.float64), LARGEST_BELOW_2_63)
    return read_only(high), read_only((whole - high.astype(np.int64)).astype(np.float64))


@compiled
def quick_two_sum(a: float, b: float) -> tuple[float, float]:
    """The rounded sum and its rounding error, where a is not the smaller one."""
    total = a + b
    return total, b - (total - a)


@compiled
def two_product(a: float, b: float) -> tuple[float, float]:
    """The rounded product and its rounding error.

    >>> two_product(2.0**30 + 1.0, 2.0**30 + 1.0)
    (1.1529215067543306e+18, 1.0)
    """
    product = a * b
    wide = SPLITTER * a
    a_high = wide - (wide - a)
    a_low = a - a_high
    wide = SPLITTER * b
    b_high = wide - (wide - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@compiled
def add(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    """The sum of two pairs.

    >>> add(1e16, 1.0, -1e16, 0.5)
    (1.5, 0.0)
    """
    high, low = two_sum(a, b)
    rest, rest_low = two_sum(a_low, b_low)
    high, low = quick_two_sum(high, low + rest)
    return quick_two_sum(high, low + rest_low)


@compiled
def multiply(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    """The product of two pairs.

    >>> multiply(3.0, 0.0, 0.5, 0.0)
    (1.5, 0.0)
    """
    high, low = two_product(a, b)
    return quick_two_sum(high, low + (a * b_low + a_low * b))


@compiled
def divide(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    """The quotient of two pairs.

    >>> divide(3.0, 0.0, 2.0, 0.0)
    (1.5, 0.0)
    """
    first = a / b
    product, product_low = multiply(b, b_low, first, 0.0)
    rest, rest_low = add(a, a_low, -product, -product_low)
    second = rest / b
    product, product_low = multiply(b, b_low, second, 0.0)
    rest, _ = add(rest, rest_low, -product, -product_low)
    high, low = quick_two_sum(first, second)
    return add(high, low, rest / b, 0.0)
