"""How many combinations ranges of partials cost, and which algorithm the algebra chooses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import windrow as wr
from windrow.engine.columns.arrays import Int64s
from windrow.engine.evaluate.partial_ranges import Known, combine_partials, is_exact

SLIDING = np.arange(200), np.arange(200) + 50
"""250 tuples, each in up to 50 ranges."""
BACKWARD = SLIDING[0][::-1].copy(), SLIDING[1][::-1].copy()


class Counted(wr.Aggregate[Any, Any, Any]):
    """Counts what is asked of it."""

    def __init__(self, combine: Callable[[Any, Any], Any]) -> None:
        super().__init__("x")
        self._combine = combine
        self.calls: Counter[str] = Counter()

    def lift(self, value: Any) -> Any:
        return value

    def combine(self, a: Any, b: Any) -> Any:
        self.calls["combine"] += 1
        return self._combine(a, b)

    def lower(self, partial: Any) -> Any:
        return partial


class Sum(Counted, wr.Invertible[Any, Any, Any]):
    def __init__(self) -> None:
        super().__init__(lambda a, b: a + b)

    def subtract(self, whole: Any, older: Any) -> Any:
        self.calls["subtract"] += 1
        return whole - older


class Greatest(Counted, wr.Idempotent[Any, Any, Any]):
    def __init__(self) -> None:
        super().__init__(max)


class Trail(Counted):
    def __init__(self) -> None:
        super().__init__(lambda a, b: a + b)


def combined(function: Counted, values: list[Any], lo: Int64s, hi: Int64s) -> list[Any]:
    partials: list[Known] = [None if v is None else (v,) for v in values]
    return [p and p[0] for p in combine_partials(function, partials, lo, hi)]


@pytest.mark.parametrize(("lo", "hi"), [SLIDING, BACKWARD], ids=["forward", "backward"])
def test_invertible_combines_once_per_tuple_and_subtracts_once_per_range(
    lo: Int64s, hi: Int64s
) -> None:
    function = Sum()
    found = combined(function, list(range(250)), lo, hi)
    assert found == [sum(range(a, b)) for a, b in zip(lo, hi, strict=True)]
    assert function.calls == {"combine": 248, "subtract": 199}


def test_ranges_that_share_nothing_are_not_subtracted() -> None:
    function = Sum()
    lo = np.array([0, 3, 8])
    assert combined(function, list(range(10)), lo, np.array([3, 6, 10])) == [3, 12, 17]
    assert function.calls == {"combine": 5}


@pytest.mark.parametrize(
    "values",
    [
        [1e16, 1.0, 2.0, 3.0],
        [math.inf, 1.0, 2.0, 3.0],
        [1, math.nan, 2, 3],
        [np.float64(0.5), 1, 2, 3],
        [1j, 1, 2, 3],
    ],
    ids=repr,
)
def test_what_is_not_exact_is_never_subtracted(values: list[Any]) -> None:
    function = Sum()
    found = combined(function, values, np.array([0, 1, 2]), np.array([2, 3, 4]))
    assert function.calls["subtract"] == 0
    assert found[-1] == 5


def test_decimals_beyond_the_context_are_not_subtracted() -> None:
    function = Sum()
    values = [Decimal(10) ** 40, Decimal("0.1"), Decimal("0.2"), Decimal("0.3")]
    found = combined(function, values, np.array([0, 1, 2]), np.array([2, 3, 4]))
    assert found[1:] == [Decimal("0.3"), Decimal("0.5")]
    assert function.calls["subtract"] == 0


def test_tuples_of_exact_numbers_are_exact() -> None:
    assert is_exact((1, (Decimal("0.1"), True)))
    assert not is_exact((1, (Decimal("0.1"), 0.5)))
    assert not is_exact(Decimal("Infinity"))
    assert not is_exact({"a": 1})
    assert not is_exact(np.float64(1.0))


def test_idempotent_combines_once_per_range_and_level_where_ranges_go_back() -> None:
    function = Greatest()
    values = [(i * 37) % 101 for i in range(250)]
    assert combined(function, values, *BACKWARD) == [
        max(values[a:b]) for a, b in zip(*BACKWARD, strict=True)
    ]
    assert function.calls["combine"] == sum(250 - 2**level + 1 for level in range(1, 6)) + 200


@pytest.mark.parametrize("function", [Trail(), Greatest()], ids=["any", "idempotent"])
def test_ranges_in_order_take_two_combinations_per_tuple_and_one_per_range(
    function: Counted,
) -> None:
    combined(function, list(range(250)), *SLIDING)
    assert function.calls["combine"] <= 2 * 250 + 200


def test_order_is_kept_where_ranges_go_back_or_lie_in_each_other() -> None:
    lo, hi = np.array([0, 1, 0, 3, 2, 2]), np.array([4, 3, 4, 5, 5, 3])
    found = combined(Trail(), list("abcde"), lo, hi)
    assert found == ["abcd", "bc", "abcd", "de", "cde", "c"]


def test_windows_that_start_over_as_landmark_windows_do() -> None:
    lo, hi = np.array([0, 0, 4, 4, 9]), np.array([2, 4, 6, 7, 10])
    assert combined(Trail(), list("0123456789"), lo, hi) == ["01", "0123", "45", "456", "9"]


def test_ranges_without_a_value_have_no_partial() -> None:
    lo, hi = np.array([0, 1, 2, 3]), np.array([1, 3, 2, 4])
    for function in (Sum(), Greatest(), Trail()):
        assert combined(function, [1, None, None, 2], lo, hi) == [1, None, None, 2]


def test_no_ranges() -> None:
    nothing = np.empty(0, np.int64)
    for function in (Sum(), Greatest(), Trail()):
        assert combined(function, [], nothing, nothing) == []
