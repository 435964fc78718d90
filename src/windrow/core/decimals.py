"""The context in which Decimals are computed, so that no digit is lost."""

from __future__ import annotations

from contextlib import AbstractContextManager
from decimal import Context, localcontext

DECIMAL_DIGITS = 128
"""The digits that Decimals are computed with, whatever the context of the thread.

Enough for sums of products of two 38-digit columns over any number of tuples."""


def wide_decimals() -> AbstractContextManager[Context]:
    """Compute with all digits inside: Python's own context rounds to 28.

    >>> from decimal import Decimal
    >>> with wide_decimals():
    ...     print(Decimal(10) ** 30 + 1)
    1000000000000000000000000000001
    """
    return localcontext(prec=DECIMAL_DIGITS)
