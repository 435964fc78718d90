"""Exact quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

from windrow.core.aggregate import Commutative
from windrow.core.calls import checks_call
from windrow.core.checks import number
from windrow.core.errors import WindrowError, received
from windrow.functions.columnar import Columnar, Int64s, Values, skip_nulls
from windrow.functions.ordering import sort_key
from windrow.functions.types import require_numeric

Ordered = tuple[Any, ...]
"""The values in ascending order."""


class Quantile(Commutative[Any, Ordered, float], Columnar):
    """Sorted runs of values, merged into the sorted window."""

    takes_decimals = "floats"
    function = "quantile"

    def __init__(self, column: str, q: float) -> None:
        super().__init__(column)
        given = number(q)
        if given is None or not 0 <= given <= 1:
            raise WindrowError(
                "quantile q must be a number from 0 to 1", received("q", q), "0.5 is the median."
            )
        self.q = float(given)

    def result_type(self, *inputs: str) -> str:
        require_numeric(self.function, *inputs)
        return "double"

    native_since = (4, 3)  # before, Spark's formula gave other results beside infinities

    def native(self, *inputs: str) -> str | None:
        return f"percentile(cast({{0}} as double), {self.q!r}D)"

    def lift(self, value: Any) -> Ordered:
        return (value,)

    def combine(self, a: Ordered, b: Ordered) -> Ordered:
        return self.combine_all((a, b))

    def combine_all(self, partials: Sequence[Ordered]) -> Ordered:
        return tuple(sorted(chain.from_iterable(partials), key=sort_key))

    def lower(self, partial: Ordered) -> float:
        position = self.q * (len(partial) - 1)
        below, above = partial[math.floor(position)], partial[math.ceil(position)]
        if sort_key(below) == sort_key(above):
            return float(below)
        lower = float(below)
        return lower + (position - math.floor(position)) * (float(above) - lower)

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        from windrow.kernels.order_statistics import quantile_ranges

        (values,), lo, hi = skip_nulls(columns, lo, hi)
        return Values.where(lo < hi, quantile_ranges(values, lo, hi, [self.q])[:, 0])


class Median(Quantile):
    """The quantile at one half."""

    function = "median"

    def __init__(self, column: str) -> None:
        super().__init__(column, 0.5)


@checks_call
def quantile(column: str, q: float) -> Quantile:
    """The exact q-quantile, a double, as in Spark's ``percentile``.

    It is the value at position ``p = q * (n - 1)`` of the n values in order. Between two different
    values it is ``below + (p - floor(p)) * (above - below)``, in the arithmetic of doubles: NaN
    just above -infinity, infinity just below infinity. NaN is greater than any other number.

    >>> quantile("x", 0.25).over([4, 1, None, 2])
    1.5
    """
    return Quantile(column, q)


@checks_call
def median(column: str) -> Median:
    """The exact median, a double; for an even number of values, the mean of the middle two.

    >>> median("x").over([4, 1, 3, 2])
    2.5
    """
    return Median(column)
