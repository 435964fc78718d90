"""The straight line through a window's points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from windrow.core.aggregate import Commutative
from windrow.core.calls import checks_call
from windrow.functions.columnar import Columnar, Int64s, Values, skip_nulls
from windrow.functions.types import require_numeric

Sums = tuple[float, ...]
"""What :mod:`windrow.kernels.line_fit` adds up for a line."""
Line = dict[str, float]

FIELDS = ("slope", "intercept", "r2")


class LinearRegression(Commutative[Any, Sums, Line | None], Columnar):
    """Sums of distances from one of the points, with twice the digits of a double.

    NaN or an infinity among the values makes every result that depends on it NaN.
    """

    takes_decimals = "floats"
    returns = "struct<slope:double,intercept:double,r2:double>"

    def result_type(self, *inputs: str) -> str:
        require_numeric("linear_regression", *inputs)
        return self.returns

    def lift(self, value: Any) -> Sums:
        from windrow.kernels.line_fit import sums_of_point

        y, x = map(as_pair, value)
        return sums_of_point(*x, *y)

    def combine(self, a: Sums, b: Sums) -> Sums:
        from windrow.kernels.line_fit import combine_sums

        return combine_sums(_current(a), _current(b))

    def lower(self, partial: Sums) -> Line | None:
        from windrow.kernels.line_fit import line_of

        is_known, *line = line_of(_current(partial))
        return dict(zip(FIELDS, line, strict=True)) if is_known else None

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        from windrow.kernels.line_fit import line_ranges

        (y, x), lo, hi = skip_nulls(columns, lo, hi)
        lines, are_known = line_ranges(x, y, lo, hi)
        found = (dict(zip(FIELDS, line, strict=True)) for line in lines.tolist())
        return Values.of_objects(
            [line if ok else None for line, ok in zip(found, are_known.tolist(), strict=True)]
        )


def as_pair(value: Any) -> tuple[float, float]:
    """A number as the nearest float and the rest.

    >>> as_pair(2**60 + 1)
    (1.152921504606847e+18, 1.0)
    """
    high = float(value)
    return (high, float(value - int(high))) if isinstance(value, int) else (high, 0.0)


def _current(partial: Sums) -> Sums:
    """The sums; older versions stored means and centred sums of squares, with fewer digits."""
    if len(partial) != 8:
        return partial
    n, x, mean_x, y, mean_y, xx, xy, yy = map(float, partial)
    sums = n * mean_x, n * mean_y
    about_point = (
        xx + mean_x * sums[0],
        xy + mean_x * sums[1],
        yy + mean_y * sums[1],
    )
    pairs = ((number, 0.0) for number in (x, y, *sums, *about_point))
    return (n, *(part for pair in pairs for part in pair))


@checks_call
def linear_regression(y: str, x: str) -> LinearRegression:
    """The least-squares line of ``y`` over ``x``: slope, intercept and r2.

    The result is null if there are fewer than two distinct x, as in Spark's ``regr_slope``. r2 is 1
    if all y are equal, as in Spark's ``regr_r2``. Points with a null coordinate are skipped. The
    line is computed with 31 digits, so times far from zero, such as those since 1970, lose nothing.

    >>> linear_regression("y", "x").over([(1.0, 0), (3.0, 1), (5.0, 2), (None, 3)])
    {'slope': 2.0, 'intercept': 1.0, 'r2': 1.0}
    """
    return LinearRegression(y, x)
