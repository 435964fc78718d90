"""The arithmetic mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.core.aggregate import Commutative, Invertible
from windrow.core.calls import checks_call
from windrow.functions.columnar import Values
from windrow.functions.reducible import Reducible, Reduction
from windrow.functions.types import require_numeric

SumAndCount = tuple[Any, int]


class Mean(Invertible[Any, SumAndCount, float], Commutative[Any, SumAndCount, float], Reducible):
    """The sum, in float64 as in Spark, divided by the count."""

    reductions = Reduction("count", 0), Reduction("sum", 0, as_float=True)

    def result_type(self, *inputs: str) -> str:
        require_numeric("mean", *inputs)
        return "double"

    def native(self, *inputs: str) -> str | None:
        return "avg(cast({0} as double))"

    def lift(self, value: Any) -> SumAndCount:
        return value, 1

    def combine(self, a: SumAndCount, b: SumAndCount) -> SumAndCount:
        return a[0] + b[0], a[1] + b[1]

    def subtract(self, whole: SumAndCount, older: SumAndCount) -> SumAndCount:
        return whole[0] - older[0], whole[1] - older[1]

    def lower(self, partial: SumAndCount) -> float:
        return float(partial[0] / partial[1])

    def lower_reductions(self, partials: Sequence[NDArray[Any]]) -> Values:
        counts, sums = partials
        return Values.where(counts > 0, sums / np.maximum(counts, 1))


@checks_call
def mean(column: str) -> Mean:
    """The mean, a double.

    >>> mean("x").over([1, None, 2])
    1.5
    """
    return Mean(column)
