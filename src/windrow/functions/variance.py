"""The sample variance and standard deviation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from windrow.core.aggregate import Commutative
from windrow.core.calls import checks_call
from windrow.functions.columnar import Int64s, Values, skip_nulls
from windrow.functions.mergeable import Mergeable
from windrow.functions.ranges import Partials, combine_ranges
from windrow.functions.types import require_numeric

Moments = tuple[Any, Any, Any, Any]
"""The number of values, one of the values, the distance of the mean from that value, and the sum of
squared distances from the mean. Each may also be a column."""


class Var(Commutative[Any, Moments, float | None], Mergeable):
    """Moments, combined as by Chan, Golub and LeVeque: no large squares are subtracted.

    The mean is kept as its distance from one of the values. It is often much greater than the
    distances between values, so that rounding the mean itself would distort them.

    NaN or an infinity among the values makes the variance NaN, as in Spark.
    """

    takes_decimals = "floats"
    width = 4

    def result_type(self, *inputs: str) -> str:
        require_numeric(self.name.lower(), *inputs)
        return "double"

    def native(self, *inputs: str) -> str | None:
        return "var_samp(cast({0} as double))"

    def lift(self, value: Any) -> Moments:
        # An infinity minus itself is NaN, and the sum stays NaN from then on.
        return 1, float(value), 0.0, float(value) - float(value)

    def combine(self, a: Moments, b: Moments) -> Moments:
        n, distance = a[0] + b[0], (b[1] - a[1]) + (b[2] - a[2])
        shift = distance * b[0] / n
        return n, a[1], a[2] + shift, a[3] + b[3] + distance * shift * a[0]

    def lower(self, partial: Moments) -> float | None:
        n, _, _, squares = partial
        return None if n < 2 else float(squares / (n - 1))

    def lift_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Partials:
        (values,), lo, hi = skip_nulls(columns, lo, hi)
        floats = values.astype(np.float64)
        if int((hi - lo).sum()) <= len(floats):
            from windrow.kernels.moments import moments_of_ranges

            return moments_of_ranges(floats, lo, hi)
        with np.errstate(invalid="ignore"):
            lifted = np.ones(len(floats)), floats, np.zeros(len(floats)), floats - floats
        return self.merge_ranges(lifted, lo, hi)

    def merge_ranges(self, partials: Partials, lo: Int64s, hi: Int64s) -> Partials:
        return combine_ranges(self, partials, lo, hi, self.combine, (0.0, 0.0, 0.0, 0.0))

    def lower_columns(self, partials: Partials) -> Values:
        n, _, _, squares = partials
        return Values.where(n >= 2, squares / np.maximum(n - 1, 1))


class Stddev(Var):
    """The square root of the variance."""

    def native(self, *inputs: str) -> str | None:
        return "stddev_samp(cast({0} as double))"

    def lower(self, partial: Moments) -> float | None:
        variance = super().lower(partial)
        return None if variance is None else math.sqrt(variance)

    def lower_columns(self, partials: Partials) -> Values:
        variances = super().lower_columns(partials)
        return Values(np.sqrt(variances.values), variances.valid)


@checks_call
def var(column: str) -> Var:
    """The sample variance; null for a single value, as in Spark.

    >>> var("x").over([1, 2, 3])
    1.0
    """
    return Var(column)


@checks_call
def stddev(column: str) -> Stddev:
    """The sample standard deviation; null for a single value, as in Spark.

    >>> stddev("x").over([1, 2, 3])
    1.0
    """
    return Stddev(column)
