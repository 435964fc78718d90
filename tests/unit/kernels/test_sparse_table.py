from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from windrow.kernels.columns import as_column
from windrow.kernels.operators import Operator, identity
from windrow.kernels.segmented_scan import Partials
from windrow.kernels.sparse_table import (
    disjoint_ranges_with,
    overlapping_ranges,
    overlapping_ranges_with,
)

NAN, INF = math.nan, math.inf

CHOOSE = {"add": np.add, "min": np.fmin, "max": np.maximum}


def disjoint_ranges(values: ArrayLike, lo: ArrayLike, hi: ArrayLike, operator: Operator) -> Any:
    column, choose = as_column(values), CHOOSE[operator]
    neutral = (identity(operator, column.dtype),)
    return disjoint_ranges_with((column,), lo, hi, lambda a, b: (choose(a[0], b[0]),), neutral)[0]


VALUES = [4, 1, 3, 5, 2]
LO = [2, 0, 1, 4, 3, 0]
HI = [5, 2, 2, 5, 3, 5]


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("add", [10, 5, 1, 2, 0, 15]),
        ("min", [2, 1, 1, 2, 2**63 - 1, 1]),
        ("max", [5, 4, 1, 2, -(2**63), 5]),
    ],
)
def test_ranges_of_any_order_and_length(operator: Operator, expected: list[int]) -> None:
    assert disjoint_ranges(VALUES, LO, HI, operator).tolist() == expected
    if operator != "add":
        assert overlapping_ranges(VALUES, LO, HI, operator).tolist() == expected


@pytest.mark.parametrize("reduce", [disjoint_ranges, overlapping_ranges])
def test_nan_is_greater_than_any_number(reduce: object) -> None:
    assert callable(reduce)
    values = [1.0, NAN, INF, 2.0]
    lo, hi = [0, 1, 1, 2, 3], [2, 2, 3, 4, 3]
    np.testing.assert_equal(reduce(values, lo, hi, "min"), [1.0, NAN, INF, 2.0, NAN])
    np.testing.assert_equal(reduce(values, lo, hi, "max"), [NAN, NAN, NAN, INF, -INF])


def test_overlapping_runs_refuse_to_add() -> None:
    with pytest.raises(ValueError, match="idempotent operator; got operator='add'"):
        overlapping_ranges(VALUES, LO, HI, "add")


def test_every_pair_of_bounds_of_a_length_that_is_no_power_of_two() -> None:
    values = np.random.default_rng(5).integers(-9, 9, 37)
    pairs = [(a, b) for a in range(38) for b in range(a, 38)]
    lo, hi = np.array(pairs).T
    assert disjoint_ranges(values, lo, hi, "add").tolist() == [sum(values[a:b]) for a, b in pairs]
    widths = hi > lo
    expected = [max(values[a:b]) for a, b in pairs if a < b]
    assert overlapping_ranges(values, lo, hi, "max")[widths].tolist() == expected


def test_function_that_does_not_commute_is_combined_in_order() -> None:
    def join(a: Partials, b: Partials) -> Partials:
        return (a[0] + b[0],)

    letters = (np.array(list("abcdefg"), dtype=object),)
    results = disjoint_ranges_with(letters, [1, 0, 6, 3], [7, 4, 7, 3], join, ("",))
    assert results[0].tolist() == ["bcdefg", "abcd", "g", ""]


def test_several_columns_are_combined_together() -> None:
    def widen(a: Partials, b: Partials) -> Partials:
        return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])

    column = np.array(VALUES)
    low, high = overlapping_ranges_with((column, column), LO, HI, widen, (0, -1))
    assert low.tolist() == [2, 1, 1, 2, 0, 1]
    assert high.tolist() == [5, 4, 1, 2, -1, 5]


def test_no_values_give_no_results() -> None:
    assert disjoint_ranges(np.empty(0), [], [], "add").tolist() == []
    assert overlapping_ranges(np.empty(0), [0], [0], "max").tolist() == [-INF]
