"""The least and the greatest value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from windrow.core.aggregate import Commutative, Idempotent
from windrow.core.calls import checks_call
from windrow.functions.columnar import Int64s, Kept, Values
from windrow.functions.extreme_positions import extreme_positions
from windrow.functions.ordering import is_less
from windrow.functions.reducible import COUNT_AND_MAX, COUNT_AND_MIN, Reducible
from windrow.functions.types import require_orderable


class _Extreme(Commutative[Any, Any, Any], Idempotent[Any, Any, Any], Reducible):
    returns_values_of = 0
    keeps_few = True
    operation: ClassVar[Literal["min", "max"]]

    def result_type(self, *inputs: str) -> str:
        require_orderable(self.name.lower(), inputs[0])
        return inputs[0]

    def lift(self, value: Any) -> Any:
        return value

    def lower(self, partial: Any) -> Any:
        return partial

    def lower_reductions(self, partials: Sequence[NDArray[Any]]) -> Values:
        counts, extremes = partials
        return Values.where(counts > 0, extremes)

    def kept(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Kept:
        best, found = extreme_positions(self, columns[0], lo, hi, self.operation)
        return best[found], found.astype(np.int64)


class Min(_Extreme):
    """The least value."""

    reductions = COUNT_AND_MIN
    operation = "min"

    def native(self, *inputs: str) -> str | None:
        return "min({0})"

    def combine(self, a: Any, b: Any) -> Any:
        return b if is_less(b, a) else a


class Max(_Extreme):
    """The greatest value."""

    reductions = COUNT_AND_MAX
    operation = "max"
    gives_newest = True

    def native(self, *inputs: str) -> str | None:
        return "max({0})"

    def combine(self, a: Any, b: Any) -> Any:
        return b if is_less(a, b) else a


@checks_call
def min(column: str) -> Min:
    """The least value; NaN counts as greater than any number, as in Spark.

    >>> min("x").over([3, 1, None])
    1
    """
    return Min(column)


@checks_call
def max(column: str) -> Max:
    """The greatest value; NaN counts as greater than any number, as in Spark.

    >>> max("x").over([3, 1, None])
    3
    """
    return Max(column)
