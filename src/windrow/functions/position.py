"""The first and the last value of a window, in the order of its rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from windrow.core.aggregate import Commutative, Idempotent
from windrow.core.calls import checks_call
from windrow.core.checks import is_bool
from windrow.functions.columnar import (
    Columnar,
    Int64s,
    Kept,
    Values,
    skip_null_positions,
    skip_nulls,
    take,
)

Positioned = tuple[int, Any]
"""A value and the position of its row, the position first."""


class _Positional(
    Commutative[Positioned, Positioned, Any], Idempotent[Positioned, Positioned, Any], Columnar
):
    takes_position = True
    returns_values_of = 0
    keeps_few = True

    def __init__(self, column: str, ignore_nulls: bool = False) -> None:
        super().__init__(column)
        self.ignore_nulls = is_bool(ignore_nulls, f"{self.name.lower()} ignore_nulls")
        self.skips_nulls = self.ignore_nulls

    def result_type(self, *inputs: str) -> str:
        return inputs[0]

    def lift(self, value: Positioned) -> Positioned:
        return value

    def lower(self, partial: Positioned) -> Any:
        return partial[1]

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        (column,) = columns
        if self.skips_nulls:
            (values,), lo, hi = skip_nulls(columns, lo, hi)
            return take(values, self._choose(lo, hi), lo < hi)
        chosen = self._choose(lo, hi)
        valid = np.ones(len(lo), dtype=np.bool_) if column.valid is None else column.valid[chosen]
        return Values.where(valid, column.values[chosen])

    def kept(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Kept:
        if not self.skips_nulls:
            return self._choose(lo, hi), np.ones(len(lo), np.int64)
        at, lo, hi = skip_null_positions(columns[0], lo, hi)
        found = lo < hi
        return at[self._choose(lo, hi)[found]], found.astype(np.int64)

    @abstractmethod
    def _choose(self, lo: Int64s, hi: Int64s) -> Int64s:
        """The position in each range whose value is the result."""


class First(_Positional):
    """The oldest row's value."""

    def native(self, *inputs: str) -> str | None:
        return None if self.ignore_nulls else "min_by({0}, {order})"

    def combine(self, a: Positioned, b: Positioned) -> Positioned:
        return b if b[0] < a[0] else a

    def _choose(self, lo: Int64s, hi: Int64s) -> Int64s:
        return lo


class Last(_Positional):
    """The newest row's value."""

    gives_newest = True

    def native(self, *inputs: str) -> str | None:
        return None if self.ignore_nulls else "max_by({0}, {order})"

    def combine(self, a: Positioned, b: Positioned) -> Positioned:
        return b if b[0] > a[0] else a

    def _choose(self, lo: Int64s, hi: Int64s) -> Int64s:
        return hi - 1


@checks_call
def first(column: str, ignore_nulls: bool = False) -> First:
    """The oldest row's value; as in Spark, nulls count unless ``ignore_nulls`` is set.

    >>> first("x").over([None, 2]), first("x", ignore_nulls=True).over([None, 2])
    (None, 2)
    """
    return First(column, ignore_nulls)


@checks_call
def last(column: str, ignore_nulls: bool = False) -> Last:
    """The newest row's value; as in Spark, nulls count unless ``ignore_nulls`` is set.

    >>> last("x").over([1, 2])
    2
    """
    return Last(column, ignore_nulls)
