"""The number of rows, or of the non-null values of a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from windrow.core.aggregate import Commutative, Invertible
from windrow.core.calls import checks_call
from windrow.functions.columnar import Values
from windrow.functions.reducible import Reducible, Reduction


class Count(Invertible[Any, int, int], Commutative[Any, int, int], Reducible):
    """The number of rows, or of non-null values."""

    returns = "bigint"
    empty = 0
    takes_codes = True

    def native(self, *inputs: str) -> str | None:
        return "count({0})" if self.columns else "count(1)"

    def lift(self, value: Any) -> int:
        return 1

    def combine(self, a: int, b: int) -> int:
        return a + b

    def subtract(self, whole: int, older: int) -> int:
        return whole - older

    def lower(self, partial: int) -> int:
        return partial

    @property
    def reductions(self) -> tuple[Reduction, ...]:
        return (Reduction("count", 0 if self.columns else None),)

    def lower_reductions(self, partials: Sequence[NDArray[Any]]) -> Values:
        return Values(partials[0])


@checks_call
def count(column: str | None = None) -> Count:
    """The number of rows, or of rows where ``column`` is not null.

    >>> count().over([(), (), ()]), count("x").over([1, None])
    (3, 1)
    """
    return Count() if column is None else Count(column)
