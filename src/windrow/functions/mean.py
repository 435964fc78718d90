"""Arithmetic mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.core.aggregate import Commutative, Invertible
from windrow.functions.columnar import Int64s, Values
from windrow.functions.reducible import COUNT_AND_SUM, Reducible
from windrow.functions.types import require_numeric

SumAndCount = tuple[Any, int]


class Mean(Invertible[Any, SumAndCount, float], Commutative[Any, SumAndCount, float], Reducible):
    """The sum over the count; only numbers so great that their sum overflows are rounded first."""

    reductions = COUNT_AND_SUM

    def result_type(self, *inputs: str) -> str:
        require_numeric("mean", *inputs)
        return "double"

    def lift(self, value: Any) -> SumAndCount:
        return value, 1

    def combine(self, a: SumAndCount, b: SumAndCount) -> SumAndCount:
        return a[0] + b[0], a[1] + b[1]

    def subtract(self, whole: SumAndCount, older: SumAndCount) -> SumAndCount:
        return whole[0] - older[0], whole[1] - older[1]

    def lower(self, partial: SumAndCount) -> float:
        return float(partial[0] / partial[1])

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        (column,) = columns
        if column.values.dtype.kind == "i" and _may_overflow(column.values, lo, hi):
            columns = [Values(column.values.astype(np.float64), column.valid)]
        return super().over_ranges(columns, lo, hi)

    def lower_reductions(self, partials: Sequence[NDArray[Any]]) -> Values:
        counts, sums = partials
        return Values.where(counts > 0, sums / np.maximum(counts, 1))


def _may_overflow(values: NDArray[Any], lo: Int64s, hi: Int64s) -> bool:
    if not len(values) or not len(lo):
        return False
    greatest = max(-int(values.min()), int(values.max()))
    return greatest * int((hi - lo).max()) >= 2**63


def mean(column: str) -> Mean:
    """The mean, a double.

    >>> mean("x").over([1, None, 2])
    1.5
    """
    return Mean(column)
