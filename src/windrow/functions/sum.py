"""The sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from windrow.core.aggregate import Commutative, Invertible
from windrow.core.calls import checks_call
from windrow.core.types import FLOATS, INTEGERS
from windrow.functions.columnar import Values
from windrow.functions.exact_sum import Total, added, lifted, negated, total
from windrow.functions.reducible import COUNT_AND_SUM, Reducible
from windrow.functions.types import (
    MOST_DIGITS,
    decimal_digits,
    decimal_type,
    require_numeric,
)

OVERFLOW = "a result in decimals needs more digits than its type has"


class Sum(Invertible[Any, Total, Any], Commutative[Any, Total, Any], Reducible):
    """Sums; those of int64 columns wrap modulo 2**64, as in Java. Those of decimals are exact."""

    reductions = COUNT_AND_SUM
    takes_decimals = "exactly"

    def result_type(self, *inputs: str) -> str:
        require_numeric("sum", *inputs)
        if inputs[0] in INTEGERS:
            return "bigint"
        if inputs[0] in FLOATS:
            return "double"
        digits = decimal_digits(inputs[0])
        assert digits is not None
        return decimal_type(digits[0] + 10, digits[1])

    def native(self, *inputs: str) -> str | None:
        return or_overflow("sum", inputs[0])

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

    def lower_decimals(self, partials: Sequence[NDArray[Any]], scale: int) -> Values:
        counts, sums = partials
        return Values.where(counts > 0, sums, scale)


def or_overflow(function: str, type_name: str) -> str:
    """The template of Spark's ``sum`` or ``avg``; an overflow of decimals is always an error.

    Without this, ``spark.sql.ansi.enabled`` would decide between an error and null.

    >>> or_overflow("sum", "decimal(20,2)")
    'sum({0})'
    """
    digits = decimal_digits(type_name)
    if digits is None or digits[0] + 10 <= MOST_DIGITS:
        return f"{function}({{0}})"
    tried = f"try_{function}({{0}})"
    return f"if(count({{0}}) > 0 and {tried} is null, raise_error('{OVERFLOW}'), {tried})"


@checks_call
def sum(column: str) -> Sum:
    """The sum: a long for integers, a double for floats, a wider decimal for decimals.

    The sum of ``decimal(p,s)`` is exact and has ``p + 10`` digits, at most 38. A sum that needs
    more is an error.

    >>> sum("x").over([1, None, 2])
    3
    """
    return Sum(column)
