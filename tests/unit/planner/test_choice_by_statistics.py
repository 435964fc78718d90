"""What the planner chooses if it knows the keys, the rate and the cost of the function."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core.statistics import Statistics
from windrow.engine.state.identity import describe
from windrow.engine.state.mismatch import refuse_mismatch
from windrow.patterns import WinFarm
from windrow.planner.choice import choose, weigh
from windrow.planner.constants import Constants
from windrow.planner.load import load_of
from windrow.planner.plans import STREAM_WORKERS, Plan, Resources, plans_for
from windrow.planner.predict import Prediction

TABLE = pa.table({"k": ["a"], "t": [1], "x": [1.0]})
BASE: Any = wr.stream(TABLE).key_by("k").event_time("t")
SLIDING = BASE.window(wr.TimeWindow("1 s", "10 ms"))
COUNTS = {"n": wf.count(), "s": wf.sum("x"), "m": wf.max("x")}


def whole(query: Any) -> Any:
    return query.apply(lambda w: {"n": len(w)}, "n bigint")


def predicted(query: Any, resources: Resources) -> dict[Plan, Prediction]:
    return {p.plan: p for p in weigh(query.window_query(), resources)}


def chosen(query: Any, resources: Resources) -> Plan:
    return choose(query.window_query(), resources).plan


def test_without_statistics_the_rules_choose() -> None:
    for resources in (Resources(2), Resources(2, native="panes"), Resources(2, is_stream=True)):
        query = SLIDING.agg(**COUNTS).window_query()
        for known in (Statistics(), Statistics(rows=10**9)):
            found = choose(query, resources, known)
            assert found.plan == Plan(wr.KeyFarm(resources.workers), resources.native)


def test_panes_with_less_than_a_row_are_not_computed_in_spark() -> None:
    query = BASE.window(wr.TimeWindow("2 s", "20 ms")).agg(**COUNTS)
    on = Resources(2, native="panes")
    assert chosen(query.hint(keys=500, rate=20_000), on) == Plan(wr.KeyFarm(2))
    assert chosen(query.hint(keys=500, rate=2_000_000), on) == Plan(wr.KeyFarm(2), "panes")


@pytest.mark.parametrize("hints", [{"keys": 1}, {"keys": 1000, "skew": 0.5}])
@pytest.mark.parametrize("is_stream", [False, True])
def test_an_expensive_function_of_a_frequent_key_is_spread_by_windows(
    hints: dict[str, Any], is_stream: bool
) -> None:
    query = whole(SLIDING).hint(**hints, rate=100_000, cost="20 ms")
    assert isinstance(chosen(query, Resources(2, is_stream=is_stream)).pattern, WinFarm)


@pytest.mark.parametrize(
    ("model", "rate", "is_stream"),
    [
        (wr.TimeWindow("1 s", "10 ms"), 1e6, False),
        (wr.TimeWindow("1 s", "10 ms"), 1e6, True),
        (wr.CountWindow(100, 10), 1e6, False),
        (wr.CountWindow(100, 10), 1e6, True),
        (wr.SessionWindow("1 s"), 2000, False),
    ],
)
def test_only_a_frequent_key_that_is_named_is_split(
    model: Any, rate: float, is_stream: bool
) -> None:
    query = whole(BASE.window(model)).hint(hot_keys={"a": 0.5}, keys=1000, rate=rate, cost="2 ms")
    on = Resources(2, is_stream=is_stream)
    found: Any = chosen(query, on).pattern
    assert isinstance(found, wr.KeyFarm)
    assert found.hot_keys == ("a",)
    alone = predicted(query, on)[Plan(wr.KeyFarm(on.workers))].seconds
    assert alone > 1.1 * predicted(query, on)[Plan(found)].seconds


def test_a_key_that_is_not_frequent_is_not_split() -> None:
    query = whole(SLIDING).hint(hot_keys={"a": 0.1}, keys=1000, rate=1e6, cost="2 ms")
    plans = predicted(query, Resources(2))
    assert not any(isinstance(p.pattern, wr.KeyFarm) and p.pattern.hot_keys for p in plans)


def test_a_cheap_function_is_not_worth_a_split() -> None:
    query = SLIDING.agg(**COUNTS).hint(hot_keys={"a": 0.2}, keys=1000, rate=1e6)
    assert chosen(query, Resources(2)) == Plan(wr.KeyFarm(2))


def test_an_expensive_function_of_equal_keys_is_spread_by_keys() -> None:
    query = whole(SLIDING).hint(keys=1000, rate=1_000_000, cost="200 us")
    assert chosen(query, Resources(2)) == Plan(wr.KeyFarm(2))


def test_windows_that_depend_on_other_rows_go_to_agnostic_workers() -> None:
    query = whole(BASE.window(wr.SessionWindow("1 s"))).hint(keys=100, skew=0.9, cost="2 ms")
    pattern: Any = chosen(query, Resources(4)).pattern
    assert isinstance(pattern, WinFarm)
    assert pattern.workers == "agnostic"


def test_an_expensive_function_in_pieces_shares_panes() -> None:
    query = SLIDING.decompose(
        partial=lambda w: {"n": len(w)},
        combine=lambda parts: {"n": sum(p["n"] for p in parts)},
        partial_returns="n bigint",
        returns="n bigint",
    ).hint(keys=1, rate=100_000, cost="2 ms")
    assert isinstance(chosen(query, Resources(2)).pattern, wr.PaneFarm)


def test_a_key_farm_is_predicted_to_scale_up_to_one_over_p_max() -> None:
    query = whole(SLIDING).hint(keys=10_000, skew=0.16, rate=10_000_000, cost="1 ms")
    farm = {n: predicted(query, Resources(n))[Plan(wr.KeyFarm(n))].seconds for n in (2, 4, 16, 64)}
    alone = predicted(query, Resources(1))[Plan(wr.WinSeq())].seconds
    assert alone / farm[2] == pytest.approx(1 / (0.16 + 0.84 / 2), rel=0.05)
    assert 5 < alone / farm[64] < 6.25


def test_hints_come_before_what_is_sampled() -> None:
    query = whole(SLIDING).hint(skew=0.001)
    sampled = Statistics(keys=1000, skew=0.9, rate=1e6, cost=500)
    assert choose(query.window_query(), Resources(2), sampled).pattern == wr.KeyFarm(2)


def test_without_hints_a_sample_decides() -> None:
    sampled = Statistics(keys=1000, skew=0.9, rate=1e6, cost=50_000, rows=10_000_000)
    unhinted = whole(SLIDING).window_query()
    assert isinstance(choose(unhinted, Resources(2), sampled).pattern, WinFarm)


def test_native_panes_are_weighed_against_tasks_that_read_files() -> None:
    on = Resources(2, reads_files=True, native="panes")
    query = BASE.window(wr.TimeWindow("2 s", "20 ms")).agg(**COUNTS).window_query()
    few = Statistics(keys=10, rate=100_000, rows=100_000_000)
    many = Statistics(keys=500, rate=20_000, rows=100_000_000)
    weighed = {p.plan: p.seconds for p in weigh(query, on, few)}
    assert Plan(wr.KeyFarm(2), "panes") in weighed
    assert choose(query, on, many).plan == Plan(wr.KeyFarm(2))
    assert choose(query, on).plan == Plan(wr.KeyFarm(2))


def test_the_reason_names_what_limits_a_plan() -> None:
    query = whole(SLIDING).hint(keys=1, rate=1_000_000, cost="20 ms")
    found = predicted(query, Resources(2))
    uneven = "the busiest of 2 workers has 100% of the work, 2.0 times its fair share"
    speedup = "its keys allow a speedup of 1.0"
    assert found[Plan(wr.KeyFarm(2))].limit == f"{uneven}; {speedup}"
    assert found[Plan(wr.WinSeq())].limit == "one worker computes windows"
    assert "each row is sent 2.0 times" in found[Plan(WinFarm(2, level=2))].limit


@pytest.mark.parametrize(
    ("model", "rows_per_window", "windows"),
    [
        (wr.TimeWindow("1 s", "100 ms"), 100, 100_000),
        (wr.CountWindow(50, 5), 50, 200_000),
        (wr.SlideByTupleWindow("1 s", 20), 100, 50_000),
        (wr.SlideByTimeWindow(30, "1 s"), 30, 10_000),
        (wr.LandmarkWindow("2 s", "1 s"), 150, 10_000),
    ],
    ids=str,
)
def test_rate_and_keys_tell_the_load(
    model: wr.WindowModel, rows_per_window: float, windows: float
) -> None:
    query = BASE.window(model).agg(m=wf.median("x")).window_query()
    known = Statistics(keys=10, rate=1000, rows=1_000_000)
    load = load_of(query, known, Constants())
    assert load.rows_per_window == pytest.approx(rows_per_window)
    assert load.windows == pytest.approx(windows)


def test_every_plan_that_is_weighed_is_legal() -> None:
    for model in (wr.CountWindow(10, 2), wr.SessionWindow(5), wr.TimeWindow(10)):
        for query in (whole(BASE.window(model)), BASE.window(model).agg(m=wf.first("x"))):
            for resources in (Resources(4), Resources(4, is_stream=True)):
                for prediction in weigh(query.window_query(), resources):
                    query.using(prediction.plan.pattern)
                    assert prediction.rows_per_second > 0


def test_a_window_farm_holds_copies_and_panes_hold_less_than_rows() -> None:
    on = Resources(4)
    rows = predicted(whole(SLIDING).hint(keys=10, rate=100_000), on)
    assert rows[Plan(wr.KeyFarm(4))].held == pytest.approx(100_000)
    assert rows[Plan(WinFarm(4, level=2))].held == pytest.approx(400_000)
    panes = predicted(SLIDING.agg(**COUNTS).hint(keys=10, rate=100_000), on)
    assert panes[Plan(wr.KeyFarm(4))].held == pytest.approx(1000)


HINTS: list[dict[str, Any]] = [
    {"keys": 1},
    {"keys": 3, "skew": 0.9},
    {"keys": 1000, "skew": 0.5, "cost": "200 us"},
    {"keys": 100_000, "rate": 1_000_000},
    {"rate": 100_000},
    {"rate": 1_000_000, "cost": "1 ms"},
]
KINDS: dict[str, Any] = {
    "counts": lambda query: query.agg(**COUNTS),
    "median": lambda query: query.agg(m=wf.median("x")),
    "variance": lambda query: query.agg(v=wf.var("x")),
    "apply": whole,
    "decompose": lambda query: query.decompose(
        partial=lambda w: {"n": len(w)},
        combine=lambda parts: {"n": sum(p["n"] for p in parts)},
        partial_returns="n bigint",
        returns="n bigint",
    ),
}


@pytest.mark.parametrize("hints", HINTS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_with_hints_continues_on_any_number_of_cores(
    kind: str, hints: dict[str, Any]
) -> None:
    models = [
        wr.TimeWindow("1 s", "10 ms"),
        wr.TimeWindow("1 s"),
        wr.CountWindow(1000, 10),
        wr.SessionWindow("1 s"),
        wr.SlideByTupleWindow("1 s", 100),
    ]
    unkeyed: Any = wr.stream(TABLE).event_time("t")
    for model in models:
        for base in (BASE, unkeyed) if hints.keys() <= {"rate", "cost"} else (BASE,):
            query = KINDS[kind](base.window(model)).hint(**hints).window_query()
            states = []
            for cores in (1, 2, 4, 8):
                plan = choose(query, Resources(cores, is_stream=True)).plan
                states.append(describe(query, plan.pattern))
                refuse_mismatch(states[0], states[-1])


def test_the_workers_without_state_are_as_many_as_the_cores() -> None:
    sessions = BASE.window(wr.SessionWindow("1 s"))
    query = whole(sessions).hint(keys=1, rate=1_000_000, cost="100 ms")
    for cores in (1, 2, 8):
        found = chosen(query, Resources(cores, is_stream=True)).pattern
        assert found == WinFarm(cores, workers="agnostic")


def test_the_plan_of_a_stream_does_not_depend_on_what_a_machine_has_measured() -> None:
    measured = Resources(8, is_stream=True, constants=Constants(call=1000.0, task=1e6))
    query = whole(SLIDING).hint(keys=3, skew=0.9)
    assert chosen(query, measured) == chosen(query, Resources(1, is_stream=True))


@pytest.mark.parametrize("cores", [2, 4, 16])
def test_nested_plans_of_streams_have_as_many_workers_as_share_the_state(cores: int) -> None:
    """They would cost a batch more partitions; bounded input may have twice as many tasks."""
    query = SLIDING.agg(top=wf.top_k("x", 2)).hint(keys=1000, skew=0.5, rate=1e6).window_query()

    def nested(on: Resources) -> list[tuple[int, int]]:
        """The first workers of all instances, and how many each has behind them."""
        load = load_of(query, query.hints, on.constants, is_stream=on.is_stream)
        found: list[Any] = [plan.pattern for plan in plans_for(query, on, load)]
        inner = [(p.n, p.inner) for p in found if isinstance(p, wr.KeyFarm | wr.WinFarm)]
        panes = [(n, i.plq, i.wlq) for n, i in inner if isinstance(i, wr.PaneFarm)]
        parts = [(n, i.map, i.reduce) for n, i in inner if isinstance(i, wr.WinMapReduce)]
        return [(n * first, last) for n, first, last in panes + parts]

    assert set(nested(Resources(cores, is_stream=True))) == {(STREAM_WORKERS, 1)}
    bounded = nested(Resources(cores))
    assert {workers for workers, _ in bounded} == ({cores, 2 * cores} if cores > 2 else {4})
    assert any(last > 1 for _, last in bounded)
