"""The polynomial that fits a window's points best."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from windrow.core.aggregate import Commutative
from windrow.core.calls import checks_call
from windrow.core.checks import whole
from windrow.core.errors import WindrowError, received
from windrow.functions.columnar import Columnar, Int64s, Values, skip_nulls
from windrow.functions.types import require_numeric

Points = tuple[tuple[int, Any, Any], ...]
"""``(position, y, x)`` in order of position; y and x are ints or floats."""
_HIGHEST = 100
"""Beyond this degree, and in fact long before it, float64 cannot hold a useful fit."""


class PolynomialFit(Commutative[Any, Points, list[float] | None], Columnar):
    """Runs of points; positions keep them in order, however they are combined."""

    takes_decimals = "floats"
    returns = "array<double>"
    takes_position = True

    def __init__(self, y: str, x: str, degree: int) -> None:
        super().__init__(y, x)
        given = whole(degree)
        if given is None or not 0 <= given <= _HIGHEST:
            raise WindrowError(
                f"polynomial_fit degree must be a whole number from 0 to {_HIGHEST}",
                received("degree", degree),
                "1 is a straight line.",
            )
        self.degree = given

    def result_type(self, *inputs: str) -> str:
        require_numeric("polynomial_fit", *inputs)
        return self.returns

    def lift(self, value: Any) -> Points:
        position, *point = value
        y, x = (v if isinstance(v, int) else float(v) for v in point)
        return ((position, y, x),)

    def combine(self, a: Points, b: Points) -> Points:
        return self.combine_all((a, b))

    def combine_all(self, partials: Sequence[Points]) -> Points:
        return tuple(sorted(chain.from_iterable(partials), key=lambda point: point[0]))

    def lower(self, partial: Points) -> list[float] | None:
        _, y, x = zip(*partial, strict=True)
        whole = Values(np.array(y)), Values(np.array(x))
        fit: list[float] | None
        (fit,) = self.over_ranges(whole, np.array([0]), np.array([len(x)])).to_list()
        return fit

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        from windrow.kernels.polynomial_fit import fit_ranges

        (y, x), lo, hi = skip_nulls(columns, lo, hi)
        fits = fit_ranges(x, y, lo, hi, self.degree)
        return Values.of_objects([None if fit[0] != fit[0] else fit for fit in fits.tolist()])


@checks_call
def polynomial_fit(y: str, x: str, degree: int) -> PolynomialFit:
    """The coefficients, in ascending powers of ``x``, of the least-squares polynomial for ``y``.

    The fit uses the Levenberg-Marquardt method. The result is null if there are at most ``degree``
    distinct x, or if a coordinate is not finite. Points with a null coordinate are skipped.

    The coefficient of ``x**k`` is exact to 1e-9 of itself or of ``max(|y|) / |x|**k``, whichever is
    greater, if ``(|x| / half the width of the window) ** degree`` is at most 1e18, as for
    microseconds since 1970 in windows of four seconds at degree 2. To compute values of a
    polynomial so far from 0, a double has too few digits: subtract a nearby constant from x before
    the fit.

    >>> fit = polynomial_fit("y", "x", degree=2).over([(1, 0), (2, 1), (5, 2), (10, 3)])
    >>> [round(c, 6) + 0.0 for c in fit]
    [1.0, 0.0, 1.0]
    """
    return PolynomialFit(y, x, degree)
