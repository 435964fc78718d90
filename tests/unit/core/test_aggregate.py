from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

from windrow import functions as wf
from windrow.core import Aggregate, Commutative, Idempotent, Invertible


class Longest(Aggregate[str, str, int]):
    returns = "int"
    empty = 0

    def lift(self, value: str) -> str:
        return value

    def combine(self, a: str, b: str) -> str:
        return a if len(a) >= len(b) else b

    def lower(self, partial: str) -> int:
        return len(partial)


def test_custom_aggregate_skips_nulls_and_has_an_empty_value() -> None:
    assert Longest("word").over(["ab", None, "abcd", "a"]) == 4
    assert Longest("word").over([None]) == 0
    assert Longest("word").columns == ("word",)


def test_tuples_with_any_null_are_skipped() -> None:
    class Dot(Commutative[tuple[float, float], float, float]):
        def lift(self, value: tuple[float, float]) -> float:
            return value[0] * value[1]

        def combine(self, a: float, b: float) -> float:
            return a + b

        def lower(self, partial: float) -> float:
            return partial

    assert Dot("a", "b").over([(1, 2), (3, None), (4, 5)]) == 22


def test_what_may_be_done_is_read_from_the_type() -> None:
    assert isinstance(wf.sum("x"), Invertible)
    assert isinstance(wf.max("x"), Idempotent)
    assert not isinstance(wf.max("x"), Invertible)
    assert isinstance(wf.first("x"), Commutative)
    assert not isinstance(Longest("word"), Commutative)


def test_subtract_takes_the_older_part_out() -> None:
    functions: list[Any] = [wf.sum("x"), wf.mean("x"), wf.count("x")]
    for function in functions:
        older, newer = function.lift(3), function.lift(4)
        assert function.subtract(function.combine(older, newer), older) == newer


class Weighted(Commutative[float, float, float]):
    def __init__(
        self, column: str, weight: float = 1.0, *, kinds: Any = (), by: Any = None
    ) -> None:
        super().__init__(column)
        self.weight, self._kinds, self.by = weight, kinds, by

    def lift(self, value: float) -> float:
        return self.weight * value

    def combine(self, a: float, b: float) -> float:
        return a + b

    def lower(self, partial: float) -> float:
        return partial


def test_parameters_other_than_the_default_are_shown() -> None:
    assert repr(Weighted("x")) == "Weighted('x')"
    assert repr(Weighted("x", 2.0, kinds=("a",))) == "Weighted('x', weight=2.0, kinds=('a',))"


def test_identity_holds_what_json_can_hold() -> None:
    given = Weighted("x", 2.0, kinds={"b", "a"}, by=len)
    assert json.loads(json.dumps(given.identity())) == {
        "class": "Weighted",
        "columns": ["x"],
        "parameters": {"weight": 2.0, "kinds": ["a", "b"], "by": "len"},
    }
    assert Weighted("x", by=np.arange(3)).identity()["parameters"] == {"by": [0, 1, 2]}
    assert Weighted("x", by=object()).identity()["parameters"] == {"by": "object"}
    assert copy.copy(given).identity() == given.identity()


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (wf.count(), "Count()"),
        (wf.count_distinct("x", "y"), "CountDistinct('x', 'y')"),
        (wf.first("x"), "First('x')"),
        (wf.first("x", ignore_nulls=True), "First('x', ignore_nulls=True)"),
        (wf.last("x", ignore_nulls=True), "Last('x', ignore_nulls=True)"),
        (wf.arg_min("x", by="y"), "ArgMin('x', 'y')"),
        (wf.median("x"), "Median('x')"),
        (wf.quantile("x", 0.5), "Quantile('x', q=0.5)"),
        (wf.top_k("x", 3), "TopK('x', k=3)"),
        (wf.top_k("x", 3, by="y"), "TopK('x', k=3, by='y')"),
        (wf.polynomial_fit("y", "x", 2), "PolynomialFit('y', 'x', degree=2)"),
        (wf.skyline("x", "y"), "Skyline('x', 'y', maximise=(False, False))"),
    ],
)
def test_functions_of_the_library_show_their_parameters(function: Any, shown: str) -> None:
    assert repr(function) == shown


def test_functions_that_differ_have_identities_that_differ() -> None:
    functions: list[Any] = [
        wf.first("x"),
        wf.first("y"),
        wf.last("x"),
        wf.first("x", ignore_nulls=True),
        wf.quantile("x", 0.5),
        wf.quantile("x", 0.9),
        wf.median("x"),
        wf.top_k("x", 1),
        wf.top_k("x", 2),
        wf.top_k("x", 2, by="y"),
        wf.skyline("x"),
        wf.skyline("x", maximise=True),
        wf.polynomial_fit("y", "x", 1),
        wf.polynomial_fit("y", "x", 2),
    ]
    seen = {json.dumps(f.identity(), sort_keys=True) for f in functions}
    assert len(seen) == len(functions)
