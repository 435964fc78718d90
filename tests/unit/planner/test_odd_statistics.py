"""Hints and inputs at the edge of what may be: the planner always chooses, by finite numbers."""

from __future__ import annotations

import json
import math
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core.statistics import Statistics
from windrow.patterns.windows import window_stages
from windrow.planner.choice import choose, weigh
from windrow.planner.decision import Decision
from windrow.planner.plans import Resources

TABLE = pa.table({"k": ["a"], "t": [1], "x": [1.0], "d": [1.0]})
MODELS = [
    wr.TimeWindow("1 s", "10 ms"),
    wr.TimeWindow("1 s", "10 s"),
    wr.CountWindow(1),
    wr.SlideByTupleWindow("1 s", 100),
    wr.SlideByTimeWindow(100, "1 s"),
    wr.DeltaWindow("d", 5, 1),
    wr.SessionWindow("30 min"),
    wr.LandmarkWindow("1 day", "1 s"),
]
FUNCTIONS: dict[str, Any] = {
    "sum": lambda query: query.agg(s=wf.sum("x")),
    "median": lambda query: query.agg(m=wf.median("x")),
    "apply": lambda query: query.apply(lambda w: {"n": len(w)}, "n bigint"),
}
HINTS: list[dict[str, Any]] = [
    {"keys": 1, "skew": 1.0},
    {"keys": 10**9},
    {"skew": 1e-9},
    {"rate": 1e-300},
    {"rate": 1e300},
    {"cost": "1 us"},
    {"cost": "1 h"},
    {"keys": 10**9, "rate": 1e15, "cost": "1000 days"},
    {"hot_keys": {"a": 1.0}},
    {"hot_keys": {"a": 1e-9}},
    {"keys": 16, "hot_keys": {str(i): 1 / 16 for i in range(16)}},
]


def query_of(model: wr.WindowModel, function: str, hints: dict[str, Any]) -> Any:
    windows = wr.stream(TABLE).key_by("k").event_time("t").window(model)
    return FUNCTIONS[function](windows).hint(**hints).window_query()


@pytest.mark.parametrize("hints", HINTS, ids=str)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_odd_hints_give_a_plan_and_finite_predictions(function: str, hints: dict[str, Any]) -> None:
    for model in MODELS:
        query = query_of(model, function, hints)
        for cores in (1, 2, 64):
            for is_stream in (False, True):
                on = Resources(cores, is_stream)
                for rows in (0, 1, 10**12):
                    weighed = weigh(query, on, Statistics(rows=rows))
                    assert choose(query, on, Statistics(rows=rows)).plan == weighed[0].plan
                    for p in weighed:
                        numbers = (p.seconds, p.rows_per_second, p.latency, p.held, p.bytes)
                        assert all(0 <= number < math.inf for number in numbers), p


@pytest.mark.parametrize("hints", HINTS, ids=str)
def test_odd_hints_are_explained_as_valid_json(hints: dict[str, Any]) -> None:
    query = query_of(MODELS[0], "apply", hints)
    on = Resources(2)
    choice = choose(query, on)
    decision = Decision(query, choice, window_stages(query, choice.pattern, "tasks"), on, "here")
    text = json.dumps(decision.as_data(), allow_nan=False)
    assert json.loads(text)["plans"][0]["is_chosen"]
    assert "plans" in decision.explain_cost()


@pytest.mark.parametrize("cores", [1, 64])
def test_one_core_has_one_plan_and_many_have_a_worker_each(cores: int) -> None:
    query = query_of(MODELS[0], "apply", {"keys": 10**6, "rate": 1e9, "cost": "1 ms"})
    plans = [p.plan.pattern for p in weigh(query, Resources(cores))]
    assert (len(plans) == 1) == (cores == 1)
    assert plans[0] == (wr.WinSeq() if cores == 1 else wr.KeyFarm(cores))
