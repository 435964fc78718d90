"""The sum."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from windrow.core.aggregate import Commutative, Invertible
from windrow.functions.columnar import Values
from windrow.functions.exact_sum import Total, added, lifted, negated, total
from windrow.functions.reducible import COUNT_AND_SUM, Reducible
from windrow.functions.types import FLOATS, INTEGERS, require_numeric


class Sum(Invertible[Any, Total, Any], Commutative[Any, Total, Any], Reducible):
    """Sums; those of int64 columns wrap modulo 2**64, as in Java."""

    reductions = COUNT_AND_SUM

    def result_type(self, *inputs: str) -> str:
        require_numeric("sum", *inputs)
        if inputs[0] in INTEGERS:
            return "bigint"
        if inputs[0] in FLOATS:
            return "double"
        precision, scale = map(int, re.findall(r"\d+", inputs[0]))
        return f"decimal({min(precision + 10, 38)},{scale})"

    def native(self, *inputs: str) -> str | None:
        return "sum({0})"

    def lift(self, value: Any) -> Total:
        return lifted(value)

    def combine(self, a: Total, b: Total) -> Total:
        return added(a, b)

    def subtract(self, whole: Total, older: Total) -> Total:
        return added(whole, negated(older))

    def lower(self, partial: Total) -> Any:
        return total(partial)

    def lower_reductions(self, partials: Sequence[NDArray[Any]]) -> Values:
        counts, sums = partials
        return Values.where(counts > 0, sums)


def sum(column: str) -> Sum:
    """The sum: a long for integers, a double for floats, a wider decimal for decimals.

    >>> sum("x").over([1, None, 2])
    3
    """
    return Sum(column)
