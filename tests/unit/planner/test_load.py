"""What statistics tell of the load of a query, and what is assumed where they tell nothing."""

from __future__ import annotations

import math
import random
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core.statistics import Statistics
from windrow.planner import load as assumed
from windrow.planner.constants import Constants
from windrow.planner.load import Load, load_of
from windrow.planner.plans import Resources, plans_for

TABLE = pa.table({"k": ["a"], "t": [1], "x": [1.0], "d": [1.0]})
BASE: Any = wr.stream(TABLE).key_by("k").event_time("t")
CONSTANTS = Constants(call=3.0, fold=2.0)


def load(model: wr.WindowModel, *, is_stream: bool = False, **known: Any) -> Load:
    query = BASE.window(model).agg(m=wf.median("x")).window_query()
    return load_of(query, Statistics(**known), CONSTANTS, is_stream=is_stream)


def per_window(query: Any, **known: Any) -> float:
    return load_of(query.window_query(), Statistics(**known), CONSTANTS).per_window


def test_a_session_of_independent_rows_ends_at_a_gap_by_chance() -> None:
    draw = random.Random(1)
    gaps = [draw.expovariate(0.001) for _ in range(200_000)]
    sessions = sum(gap > 4000 for gap in gaps)
    found = load(wr.SessionWindow("4 ms"), keys=10, rate=10_000, rows=200_000)
    assert found.rows_per_window == pytest.approx(math.exp(4))
    assert found.windows == pytest.approx(sessions, rel=0.05)
    assert found.windows_per_row == 1


def test_sessions_of_rare_or_frequent_rows_are_taken_to_be_bursts() -> None:
    rare = load(wr.SessionWindow("1 s"), keys=100, rate=1, rows=10**6)
    assert rare.rows_per_window == assumed.ROWS_APART
    frequent = load(wr.SessionWindow("1 s"), keys=100, rate=10**9, rows=10**6)
    assert frequent.rows_per_window == pytest.approx(1000)
    unknown = load(wr.SessionWindow("30 min"), keys=100)
    assert unknown.rows_per_window == assumed.ROWS_APART


def test_windows_by_an_attribute_overlap_as_length_and_slide_say() -> None:
    assert load(wr.DeltaWindow("d", 12, 3)).windows_per_row == pytest.approx(4)
    assert load(wr.DeltaWindow("d", 1, 3)).windows_per_row == pytest.approx(1)


def test_no_window_has_more_rows_than_its_key() -> None:
    found = load(wr.TimeWindow("1 day", "1 s"), keys=10, rate=1000, rows=20_000)
    assert found.rows_per_window == pytest.approx(2000)
    on_stream = load(wr.TimeWindow("1 day", "1 s"), is_stream=True, keys=10, rate=1000)
    assert on_stream.rows_per_window == pytest.approx(86_400 * 100)


def test_the_most_frequent_key_has_windows_by_its_rows_unless_time_tells_them() -> None:
    known: dict[str, Any] = {"keys": 100, "skew": 0.5, "rate": 1e6, "rows": 10**6}
    by_rank, by_time = load(wr.CountWindow(10), **known), load(wr.TimeWindow("1 ms"), **known)
    assert by_rank.windows_of_hot_key == pytest.approx(by_rank.windows / 2)
    assert by_time.windows_of_hot_key == pytest.approx(by_time.windows / 100)


def test_a_known_cost_is_that_of_the_function_without_its_call() -> None:
    windows = BASE.window(wr.CountWindow(10))
    whole = windows.apply(lambda w: {"n": 1}, "n bigint")
    assert per_window(whole, cost=20.0) == 23
    assert per_window(whole) == assumed.FUNCTION + 3
    fold = windows.fold(lambda n, row: n + 1, 0, "n bigint")
    assert per_window(fold) == pytest.approx(20)
    pieces = {"partial": lambda w: {"n": 1}, "combine": lambda parts: {"n": 1}}
    decomposed = windows.decompose(**pieces, partial_returns="n bigint", returns="n bigint")
    assert per_window(decomposed) == 2 * (assumed.FUNCTION + 3)


def batches(model: wr.WindowModel, *, is_stream: bool = False, **known: Any) -> set[int]:
    query = BASE.window(model).apply(lambda w: {"n": 1}, "n bigint").window_query()
    found = load_of(query, Statistics(**known), CONSTANTS, is_stream=is_stream)
    plans = [plan.pattern for plan in plans_for(query, Resources(2, is_stream), found)]
    return {p.batch for p in plans if isinstance(p, wr.WinFarm) and p.workers == "active"}


def test_batches_of_windows_are_weighed_if_each_worker_gets_several_of_the_frequent_key() -> None:
    known: dict[str, Any] = {"rate": 1e6, "rows": 10**6}
    assert batches(wr.CountWindow(40, 10), keys=1, **known) == {1, 32}
    assert batches(wr.CountWindow(40, 10), keys=1000, skew=0.5, **known) == {1, 32}
    assert batches(wr.CountWindow(40, 10), keys=1000, **known) == {1, 8}
    assert batches(wr.CountWindow(40, 10), keys=10_000, **known) == {1}
    assert batches(wr.CountWindow(10), keys=1, **known) == {1}


def test_similar_loads_have_the_same_batches() -> None:
    found = [batches(wr.TimeWindow("1 ms", "10 us"), keys=1, rate=r) for r in (1e6, 1.03e6, 1.3e6)]
    assert found == [{1, 512}] * 3
