"""Sums of floats with their rounding errors: the rounded sum, and what rounding has lost."""

from __future__ import annotations

from math import isfinite

from windrow.kernels.compiled import compiled

SHRINK = 2.0**-64
"""Scales values so that no sum of fewer than 2**63 of them overflows."""


@compiled
def two_sum(a: float, b: float) -> tuple[float, float]:
    """The rounded sum and its rounding error, which together are exactly a + b.

    D. Knuth, The Art of Computer Programming, volume 2, 4.2.2.

    >>> two_sum(1e16, 1.0)
    (1e+16, 1.0)
    """
    total = a + b
    virtual = total - a
    return total, (a - (total - virtual)) + (b - virtual)


@compiled
def sum_with_loss(head: float, lost: float, other: float, other_lost: float) -> tuple[float, float]:
    """The sum of two sums that carry their rounding errors, with its own rounding error.

    If a head is not finite, its rounding error means nothing. Then the heads alone decide, by the
    rules of IEEE arithmetic, and nothing is lost.

    >>> sum_with_loss(1e16, 1.0, -1e16, 0.5)
    (1.5, 0.0)
    """
    total, rounding = two_sum(head, other)
    if not isfinite(total):
        return total, 0.0
    return two_sum(total, rounding + (lost + other_lost))
