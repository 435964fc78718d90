from __future__ import annotations

from typing import Any

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
