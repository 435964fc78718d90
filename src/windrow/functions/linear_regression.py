"""The straight line through a window's points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from windrow.core.aggregate import Commutative
from windrow.core.calls import checks_call
from windrow.functions.columnar import Columnar, Int64s, Values, skip_nulls
from windrow.functions.ranges import combine_ranges
from windrow.functions.types import require_numeric

Moments = tuple[Any, ...]
"""The number of points; one x value and the distance of the mean x from it; the same for y; and the
sums of dx*dx, dx*dy and dy*dy, where dx and dy are the distances from the means. Each may also be a
column. Means are kept as distances for the reason given in :mod:`windrow.functions.variance`."""

Line = dict[str, float]


class LinearRegression(Commutative[Any, Moments, Line | None], Columnar):
    """Centred moments, combined as by Chan, Golub and LeVeque: no large products are subtracted.

    NaN or an infinity among the values makes every result that depends on it NaN.
    """

    returns = "struct<slope:double,intercept:double,r2:double>"

    def result_type(self, *inputs: str) -> str:
        require_numeric("linear_regression", *inputs)
        return self.returns

    def lift(self, value: Any) -> Moments:
        y, x = map(float, value)
        # An infinity minus itself is NaN, and the sums stay NaN from then on.
        dx, dy = x - x, y - y
        return 1, x, 0.0, y, 0.0, dx, dx + dy, dy

    def combine(self, a: Moments, b: Moments) -> Moments:
        n = a[0] + b[0]
        share = b[0] / n
        weight = a[0] * share
        dx, dy = (b[1] - a[1]) + (b[2] - a[2]), (b[3] - a[3]) + (b[4] - a[4])
        return (
            n,
            a[1],
            a[2] + dx * share,
            a[3],
            a[4] + dy * share,
            a[5] + b[5] + dx * dx * weight,
            a[6] + b[6] + dx * dy * weight,
            a[7] + b[7] + dy * dy * weight,
        )

    def lower(self, partial: Moments) -> Line | None:
        n, some_x, from_x, some_y, from_y, xx, xy, yy = partial
        if n < 2 or xx == 0:
            return None
        slope = xy / xx
        intercept = (some_y - slope * some_x) + (from_y - slope * from_x)
        return {"slope": slope, "intercept": intercept, "r2": 1.0 if yy == 0 else slope * xy / yy}

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        arrays, lo, hi = skip_nulls(columns, lo, hi)
        y, x = (array.astype(np.float64) for array in arrays)
        with np.errstate(invalid="ignore"):
            dx, dy = x - x, y - y
        ones, zeros = np.ones(len(x), dtype=np.int64), np.zeros(len(x))
        lifted = ones, x, zeros, y, zeros, dx, dx + dy, dy
        moments = combine_ranges(self, lifted, lo, hi, self.combine, (0,) * len(lifted))
        windows = zip(*(column.tolist() for column in moments), strict=True)
        return Values.of_objects([self.lower(window) for window in windows])


@checks_call
def linear_regression(y: str, x: str) -> LinearRegression:
    """The least-squares line of ``y`` over ``x``: slope, intercept and r2.

    The result is null if there are fewer than two distinct x, as in Spark's ``regr_slope``. r2 is 1
    if all y are equal, as in Spark's ``regr_r2``. Points with a null coordinate are skipped.

    >>> linear_regression("y", "x").over([(1.0, 0), (3.0, 1), (5.0, 2), (None, 3)])
    {'slope': 2.0, 'intercept': 1.0, 'r2': 1.0}
    """
    return LinearRegression(y, x)
