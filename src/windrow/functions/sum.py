"""The sum."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from windrow.core.aggregate import Commutative, Invertible
from windrow.core.calls import checks_call
from windrow.functions.columnar import Values
from windrow.functions.reducible import COUNT_AND_SUM, Reducible
from windrow.functions.types import FLOATS, INTEGERS, require_numeric


class Sum(Invertible[Any, Any, Any], Commutative[Any, Any, Any], Reducible):
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

    def lift(self, value: Any) -> Any:
        return value

    def combine(self, a: Any, b: Any) -> Any:
        return a + b

    def subtract(self, whole: Any, older: Any) -> Any:
        return whole - older

    def lower(self, partial: Any) -> Any:
        return partial

    def lower_reductions(self, partials: Sequence[NDArray[Any]]) -> Values:
        counts, sums = partials
        return Values.where(counts > 0, sums)


@checks_call
def sum(column: str) -> Sum:
    """The sum: a long for integers, a double for floats, a wider decimal for decimals.

    >>> sum("x").over([1, None, 2])
    3
    """
    return Sum(column)
