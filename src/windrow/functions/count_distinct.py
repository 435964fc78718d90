"""The number of distinct values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.core.aggregate import Commutative, Idempotent
from windrow.core.calls import checks_call
from windrow.core.errors import WindrowError
from windrow.functions.columnar import Columnar, Int64s, Values, skip_nulls
from windrow.functions.ordering import distinct_key
from windrow.functions.types import require_orderable

Seen = frozenset[Any]
"""The distinct keys of the values, or of the combinations of values."""


class CountDistinct(Commutative[Any, Seen, int], Idempotent[Any, Seen, int], Columnar):
    """Sets of values."""

    returns = "bigint"
    empty = 0
    takes_codes = True

    def __init__(self, *columns: str) -> None:
        super().__init__(*columns)
        if not columns:
            raise WindrowError(
                "count_distinct needs a column", hint='for example count_distinct("user").'
            )

    def result_type(self, *inputs: str) -> str:
        for type_name in inputs:
            require_orderable("count_distinct", type_name)
        return self.returns

    def native(self, *inputs: str) -> str | None:
        columns = ", ".join(f"{{{i}}}" for i in range(len(inputs)))
        return f"count(DISTINCT {columns})"

    def lift(self, value: Any) -> Seen:
        values = value if len(self.columns) > 1 else (value,)
        return frozenset([tuple(map(distinct_key, values))])

    def combine(self, a: Seen, b: Seen) -> Seen:
        return a | b

    def combine_all(self, partials: Sequence[Seen]) -> Seen:
        return frozenset().union(*partials)

    def lower(self, partial: Seen) -> int:
        return len(partial)

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        from windrow.kernels.order_statistics import count_distinct_ranges

        arrays, lo, hi = skip_nulls(columns, lo, hi)
        return Values(count_distinct_ranges(_number_tuples(arrays), lo, hi))


def _number_tuples(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """A column whose values are equal where those of all given columns are."""
    numbers, *others = columns
    for column in others:
        _, ours = np.unique(numbers, return_inverse=True)
        distinct, theirs = np.unique(column, return_inverse=True)
        numbers = ours * max(len(distinct), 1) + theirs
    return numbers


@checks_call
def count_distinct(*columns: str) -> CountDistinct:
    """The number of distinct values of a column, or of distinct combinations of several columns.

    Rows with a null in any of the columns do not count. NaN equals NaN, -0.0 equals 0.0.

    >>> count_distinct("x").over([3, 1, None, 3])
    2
    >>> count_distinct("x", "y").over([(3, 1), (3, 2), (3, None), (3, 1)])
    2
    """
    return CountDistinct(*columns)
