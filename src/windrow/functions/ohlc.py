"""Open, high, low and close: a window's first, greatest, least and last value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from windrow.core.aggregate import Commutative, Idempotent
from windrow.core.calls import checks_call
from windrow.functions.columnar import (
    Columnar,
    Int64s,
    Kept,
    Values,
    distinct_positions,
    skip_null_positions,
    skip_nulls,
    take,
)
from windrow.functions.extreme_positions import extreme_positions
from windrow.functions.extremes import Max, Min
from windrow.functions.position import First, Last, Positioned
from windrow.functions.ranges import reduce_ranges
from windrow.functions.types import require_orderable

FIELDS = ("open", "high", "low", "close")

Bar = tuple[Positioned, Any, Any, Positioned]
"""Open and close with their positions, high and low without."""


class Ohlc(
    Commutative[Positioned, Bar, dict[str, Any]], Idempotent[Positioned, Bar, Any], Columnar
):
    """The functions first, max, min and last in one."""

    takes_position = True
    returns_values_of = 0
    keeps_few = True

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self._parts = First(column), Max(column), Min(column), Last(column)

    def result_type(self, *inputs: str) -> str:
        require_orderable("ohlc", inputs[0])
        return f"struct<{','.join(f'{field}:{inputs[0]}' for field in FIELDS)}>"

    def lift(self, value: Positioned) -> Bar:
        return value, value[1], value[1], value

    def combine(self, a: Bar, b: Bar) -> Bar:
        first, high, low, last = self._parts
        return (
            first.combine(a[0], b[0]),
            high.combine(a[1], b[1]),
            low.combine(a[2], b[2]),
            last.combine(a[3], b[3]),
        )

    def lower(self, partial: Bar) -> dict[str, Any]:
        (_, first), high, low, (_, last) = partial
        return {"open": first, "high": high, "low": low, "close": last}

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        (values,), lo, hi = skip_nulls(columns, lo, hi)
        found = lo < hi
        fields = (
            take(values, lo, found).values,
            reduce_ranges(values, lo, hi, "max"),
            reduce_ranges(values, lo, hi, "min"),
            take(values, hi - 1, found).values,
        )
        bars = zip(found.tolist(), *(field.tolist() for field in fields), strict=True)
        return Values.of_objects(
            [dict(zip(FIELDS, bar, strict=True)) if ok else None for ok, *bar in bars]
        )

    def kept(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Kept:
        (prices,) = columns
        at, first, last = skip_null_positions(prices, lo, hi)
        found = first < last
        high, _ = extreme_positions(self, prices, lo, hi, "max")
        low, _ = extreme_positions(self, prices, lo, hi, "min")
        ends = (take(at, position, found).values for position in (first, last - 1))
        return distinct_positions(found, *ends, high, low)


@checks_call
def ohlc(column: str) -> Ohlc:
    """The first, greatest, least and last value, as open, high, low and close.

    Nulls are skipped; NaN is greater than any other number.

    >>> ohlc("price").over([3, 5, None, 1, 4])
    {'open': 3, 'high': 5, 'low': 1, 'close': 4}
    """
    return Ohlc(column)
