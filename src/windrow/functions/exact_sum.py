"""Sums of Python numbers: integers and Decimals as they are, floats with what rounding has lost."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from typing import Any

from windrow.core.decimals import DECIMAL_DIGITS

Total = Any
"""An int or a Decimal, or ``(sum, lost)`` of floats."""

_EXACT = Context(prec=DECIMAL_DIGITS)


def lifted(value: Any) -> Total:
    """The sum of one value."""
    return (value, 0.0) if isinstance(value, float) else value


def added(a: Total, b: Total) -> Total:
    """The sum of two sums.

    The error of a sum of floats is that of twice as many digits, as in the kernels.

    >>> total(added(added(lifted(1e16), lifted(1.0)), lifted(-1e16)))
    1.0
    """
    if isinstance(a, Decimal):
        return _EXACT.add(a, b)
    if not isinstance(a, tuple) or not isinstance(b, tuple):
        return a + b
    head = a[0] + b[0]
    if not math.isfinite(head):
        return head, 0.0
    virtual = head - a[0]
    rounding = (a[0] - (head - virtual)) + (b[0] - virtual)
    return head, a[1] + b[1] + rounding


def negated(a: Total) -> Total:
    """The sum of the values with the opposite sign."""
    if isinstance(a, Decimal):
        return a.copy_negate()
    return tuple(-part for part in a) if isinstance(a, tuple) else -a


def total(a: Total) -> Any:
    """The sum as one number."""
    return a[0] + a[1] if isinstance(a, tuple) else a
