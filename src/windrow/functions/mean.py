"""The arithmetic mean."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.core.aggregate import Commutative, Invertible
from windrow.core.calls import checks_call
from windrow.core.decimals import DECIMAL_DIGITS
from windrow.functions.columnar import Values
from windrow.functions.exact_sum import Total, added, lifted, negated, total
from windrow.functions.reducible import Reducible, Reduction
from windrow.functions.sum import or_overflow
from windrow.functions.types import MOST_DIGITS, decimal_digits, decimal_type, require_numeric

SumAndCount = tuple[Total, int]


MORE_DIGITS = 4
"""How many digits the mean of decimals has behind their last one, as in Spark."""
EXACT_SCALE = MOST_DIGITS + 1
"""Spark rounds the mean of decimals to this scale before it rounds it to that of the result."""


class Mean(Invertible[Any, SumAndCount, Any], Commutative[Any, SumAndCount, Any], Reducible):
    """The sum, in float64 as in Spark, divided by the count. Sums of decimals are exact."""

    reductions = Reduction("count", 0), Reduction("sum", 0, as_float=True)
    takes_decimals = "exactly"

    def result_type(self, *inputs: str) -> str:
        require_numeric("mean", *inputs)
        digits = decimal_digits(inputs[0])
        if digits is None:
            return "double"
        return decimal_type(digits[0] + MORE_DIGITS, digits[1] + MORE_DIGITS)

    def native(self, *inputs: str) -> str | None:
        if decimal_digits(inputs[0]) is None:
            return "avg(cast({0} as double))"
        return or_overflow("avg", inputs[0])

    def lift(self, value: Any) -> SumAndCount:
        return lifted(value), 1

    def combine(self, a: SumAndCount, b: SumAndCount) -> SumAndCount:
        return added(a[0], b[0]), a[1] + b[1]

    def subtract(self, whole: SumAndCount, older: SumAndCount) -> SumAndCount:
        return added(whole[0], negated(older[0])), whole[1] - older[1]

    def lower(self, partial: SumAndCount) -> Any:
        whole, count = total(partial[0]), partial[1]
        return _divided(whole, count) if isinstance(whole, Decimal) else float(whole / count)

    def lower_reductions(self, partials: Sequence[NDArray[Any]]) -> Values:
        counts, sums = partials
        return Values.where(counts > 0, sums / np.maximum(counts, 1))

    def lower_decimals(self, partials: Sequence[NDArray[Any]], scale: int) -> Values:
        from windrow.kernels.wide_integers import divide_wide

        counts, sums = partials
        finer = min(scale + MORE_DIGITS, MOST_DIGITS)
        means = divide_wide(sums, counts, finer - scale, EXACT_SCALE - finer)
        return Values.where(counts > 0, means, finer)


def _divided(whole: Decimal, count: int) -> Decimal:
    """The quotient of Decimals, rounded as in Spark."""
    exponent = whole.as_tuple().exponent
    assert isinstance(exponent, int)
    finer = min(MORE_DIGITS - exponent, MOST_DIGITS)
    with localcontext(prec=DECIMAL_DIGITS, rounding=ROUND_HALF_UP):
        exact = (whole / count).quantize(Decimal(1).scaleb(-EXACT_SCALE))
        return exact.quantize(Decimal(1).scaleb(-finer))


@checks_call
def mean(column: str) -> Mean:
    """The mean, a double; of ``decimal(p,s)`` a ``decimal(p+4,s+4)``, as Spark's ``avg``.

    A mean of decimals that needs more than 38 digits is an error.

    >>> mean("x").over([1, None, 2])
    1.5
    """
    return Mean(column)
