"""What statistics tell of the load of a query, and what is assumed where they tell nothing."""

from __future__ import annotations

import math
import random
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.own_aggregates import Total
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


def test_an_aggregate_in_python_is_lifted_once_per_row_and_a_fold_updated_once_per_window() -> None:
    def costs(query: Any, **known: Any) -> tuple[float, float]:
        found = load_of(query.window_query(), Statistics(**known), CONSTANTS)
        return found.per_row, found.per_window

    windows, c = BASE.window(wr.CountWindow(10, 5)), CONSTANTS
    assert costs(windows.agg(n=wf.count())) == (0, 0)
    assert costs(windows.agg(v=wf.var("x"))) == (c.of_few, 0)
    assert costs(windows.agg(m=wf.median("x"))) == (c.of_all, 0)
    assert costs(windows.agg(o=Total("x"))) == pytest.approx((c.of_few + c.lift, 0))
    two = {"o": Total("x"), "p": Total("x")}
    assert costs(windows.agg(**two, v=wf.var("x"))) == pytest.approx((c.of_few + 2 * c.lift, 0))
    # A known cost comes on top: it is that of lower, or of the kernel.
    assert costs(windows.agg(**two), cost=7.0) == pytest.approx((c.of_few + 2 * c.lift, 7))
    fold = windows.fold(lambda n, row: n + 1, 0, "n bigint")
    assert costs(fold) == (0, 10 * c.fold)
    assert costs(fold, cost=7.0) == (0, 7 + c.call)
