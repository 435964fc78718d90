"""The most frequent value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from windrow.core.aggregate import Commutative
from windrow.core.calls import checks_call
from windrow.functions.columnar import Columnar, Int64s, Values, skip_nulls
from windrow.functions.ordering import distinct_key, keyed_value
from windrow.functions.types import require_orderable

Counts = Mapping[tuple[bool, Any], int]
"""How often each value occurs, by its distinct key."""


class Mode(Commutative[Any, Counts, Any], Columnar):
    """Counts of the distinct values."""

    returns_values_of = 0

    def result_type(self, *inputs: str) -> str:
        require_orderable("mode", inputs[0])
        return inputs[0]

    def native(self, *inputs: str) -> str | None:
        return "mode({0}, true)"

    def lift(self, value: Any) -> Counts:
        return {distinct_key(value): 1}

    def combine(self, a: Counts, b: Counts) -> Counts:
        return self.combine_all((a, b))

    def combine_all(self, partials: Sequence[Counts]) -> Counts:
        counts: dict[tuple[bool, Any], int] = {}
        for partial in partials:
            for key, count in partial.items():
                counts[key] = counts.get(key, 0) + count
        return counts

    def lower(self, partial: Counts) -> Any:
        most = max(partial.values())
        return keyed_value(min(key for key, count in partial.items() if count == most))

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        from windrow.kernels.order_statistics import mode_ranges

        (values,), lo, hi = skip_nulls(columns, lo, hi)
        return Values.where(lo < hi, mode_ranges(values, lo, hi))


@checks_call
def mode(column: str) -> Mode:
    """The most frequent value; the smallest one if there are several.

    NaN equals NaN and is greater than any other number; -0.0 equals 0.0.

    >>> mode("x").over([3, 1, None, 1, 3, 2])
    1
    """
    return Mode(column)
