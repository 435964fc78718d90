"""Errors of users' functions read the same whether windows are computed whole or in pieces."""

from __future__ import annotations

from typing import Any

import pytest

import windrow as wr
from windrow.patterns import Pattern

PATTERNS: list[Pattern] = [
    wr.WinSeq(),
    wr.WinFarm(2, workers="agnostic"),
    wr.PaneFarm(1, 1),
    wr.WinMapReduce(1, 1),
]
every_pattern = pytest.mark.parametrize("pattern", PATTERNS, ids=str)


class Failing(wr.Commutative[int, int, Any]):
    returns = "int"

    def lift(self, value: int) -> int:
        return value

    def combine(self, a: int, b: int) -> int:
        return a + b

    def lower(self, partial: int) -> Any:
        return partial


class FailingToLift(Failing):
    def lift(self, value: int) -> int:
        raise ZeroDivisionError("boom")


class FailingToCombine(Failing):
    def combine(self, a: int, b: int) -> int:
        raise ZeroDivisionError("boom")


class FailingToLower(Failing):
    def lower(self, partial: int) -> Any:
        raise ZeroDivisionError("boom")


def query(pattern: Pattern) -> wr.Query:
    stream = wr.stream({"k": ["a", "a"], "t": [1, 2], "x": [1, 2]}).key_by("k").event_time("t")
    return stream.window(wr.TimeWindow(10, 5)).using(pattern)


@every_pattern
@pytest.mark.parametrize("function", [FailingToLift, FailingToCombine, FailingToLower])
def test_an_aggregate_that_fails_is_named(pattern: Pattern, function: type[Failing]) -> None:
    with pytest.raises(wr.WindrowError, match=r"Failing.*key 'a'.*ZeroDivisionError: boom"):
        query(pattern).agg(b=function("x")).collect()


@every_pattern
def test_a_partial_that_fails_is_named(pattern: Pattern) -> None:
    def broken(w: wr.Window) -> dict[str, Any]:
        raise ZeroDivisionError("boom")

    decomposed = query(pattern).decompose(
        partial=broken, combine=lambda parts: {"n": 0}, partial_returns="n int", returns="n int"
    )
    with pytest.raises(wr.WindrowError, match=r"key 'a'.*ZeroDivisionError: boom"):
        decomposed.collect()


@every_pattern
@pytest.mark.parametrize("name", ["window_id", "t"])
def test_fields_of_partials_may_have_any_name(pattern: Pattern, name: str) -> None:
    decomposed = query(pattern).decompose(
        partial=lambda w: {name: len(w)},
        combine=lambda parts: {"n": sum(p[name] for p in parts)},
        partial_returns=f"{name} bigint",
        returns="n bigint",
    )
    assert decomposed.collect()["n"].to_pylist() == [2, 2]


def test_fields_of_partials_must_not_be_named_like_keys() -> None:
    with pytest.raises(wr.WindrowError, match="differ from the key columns"):
        query(wr.PaneFarm(1, 1)).decompose(
            partial=lambda w: {"k": 1},
            combine=lambda parts: {"n": 1},
            partial_returns="k bigint",
            returns="n bigint",
        )
