"""What users may tell the planner."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core.statistics import Statistics
from windrow.engine.state.identity import describe

TABLE = pa.table({"k": ["a", "b"], "t": [1, 2], "x": [1, 2]})
QUERY = wr.stream(TABLE).key_by("k").event_time("t").window(wr.TimeWindow(2)).agg(s=wf.sum("x"))


def test_hints_reach_the_planner() -> None:
    hinted = QUERY.hint(keys=1000, skew=0.16, rate=200_000, cost="20 us")
    expected = Statistics(keys=1000, skew=0.16, rate=200_000, cost=20)
    assert hinted.window_query().hints == expected


def test_a_later_hint_adds_to_earlier_ones() -> None:
    hinted = QUERY.hint(keys=1000, skew=0.16).hint(keys=10, cost="1 ms")
    assert hinted.hints == Statistics(keys=10, skew=0.16, cost=1000)


def test_hints_change_neither_results_nor_the_identity_of_state() -> None:
    hinted = QUERY.hint(keys=2, skew=0.5, rate=1, cost="1 s")
    assert hinted.collect() == QUERY.collect()
    pattern = wr.KeyFarm(8)
    assert describe(hinted.window_query(), pattern) == describe(QUERY.window_query(), pattern)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "hint needs at least one of keys, skew, rate, cost and hot_keys"),
        ({"hot_keys": ["a"]}, "must map keys to their shares of the rows"),
        ({"hot_keys": {"a": 0.7, "b": 0.7}}, "together up to 1; got hot_keys="),
        ({"skew": 0.1, "hot_keys": {"a": 0.5}}, "at least the share of 'a', 0.5; got skew=0.1"),
        ({"hot_keys": {1: 0.5}}, "'k' is of type string; got 1"),
        ({"skew": 1.5}, "skew must be the share of the rows .* up to 1; got skew=1.5"),
        ({"keys": 4, "skew": 0.1}, "most frequent of 4 keys has at least 1/4 of the rows"),
        ({"cost": 0}, "cost must be a positive duration"),
        ({"rate": float("inf")}, "rate must be a positive number of rows per second"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(wr.WindrowError, match=message):
        QUERY.hint(**given)


def test_frequent_keys_are_named_with_their_shares() -> None:
    hinted = QUERY.hint(hot_keys={"a": 0.1, "b": 0.6})
    assert hinted.hints == Statistics(skew=0.6, hot_keys=(("b", 0.6), ("a", 0.1)))
    assert hinted.hints.known == {"skew": 0.6}
