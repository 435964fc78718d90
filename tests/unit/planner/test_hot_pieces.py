"""When hot keys are split into panes or parts of windows, and what that is predicted to cost."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core.statistics import Statistics
from windrow.patterns import Pattern
from windrow.planner.choice import choose, weigh
from windrow.planner.constants import Constants
from windrow.planner.hot_load import divided
from windrow.planner.load import Load, load_of
from windrow.planner.phases.plan import phases_of
from windrow.planner.plans import Plan, Resources, plans_for
from windrow.planner.predict import Prediction

TABLE = pa.table({"k": ["a"], "t": [1], "x": [1.0]})
BASE: Any = wr.stream(TABLE).key_by("k").event_time("t")
PIECES: dict[str, Any] = {
    "partial": lambda w: {"n": len(w)},
    "combine": lambda parts: {"n": len(parts)},
    "partial_returns": "n bigint",
    "returns": "n bigint",
}
KNOWN: dict[str, Any] = {"hot_keys": {"a": 0.5}, "keys": 1000, "rate": 100_000}
ROWS = Statistics(rows=10**6)
LONG = wr.TimeWindow("10 s")


def in_pieces(model: wr.WindowModel = LONG, cost: str = "200 ms", **known: Any) -> Any:
    return BASE.window(model).decompose(**PIECES).hint(**{**KNOWN, "cost": cost, **known})


def splits(query: Any, resources: Resources) -> set[str]:
    """The patterns into which hot keys may be split."""
    complete = query.window_query()
    known = complete.hints.or_else(ROWS)
    load = load_of(complete, known, Constants(), is_stream=resources.is_stream)
    plans = plans_for(complete, resources, load)
    hot = (getattr(plan.pattern, "hot", None) for plan in plans)
    return {pattern.name for pattern in hot if pattern is not None}


def predicted(query: Any, resources: Resources) -> dict[Plan, Prediction]:
    return {p.plan: p for p in weigh(query.window_query(), resources, ROWS)}


def hot(n: int, pattern: Pattern) -> Plan:
    return Plan(wr.KeyFarm(n, hot_keys=["a"], hot=pattern))


@pytest.mark.parametrize(("model", "is_stream"), [(wr.SessionWindow("1 s"), False), (LONG, True)])
def test_few_windows_of_a_hot_key_are_split_into_parts(
    model: wr.WindowModel, is_stream: bool
) -> None:
    """They are fewer than four for each worker, so that one worker could get too many."""
    on = Resources(2, is_stream=is_stream)
    found: Any = choose(in_pieces(model, "2 ms").window_query(), on, ROWS).plan.pattern
    assert found == wr.KeyFarm(on.workers, hot_keys=["a"], hot=wr.WinMapReduce(on.workers, 1))


def test_parts_are_faster_than_windows_if_these_are_fewer_than_workers() -> None:
    plans = predicted(in_pieces(rate=1e6), Resources(4))
    parts, windows = (
        plans[hot(4, split)].seconds
        for split in (
            wr.WinMapReduce(4, 1),
            wr.WinFarm(4),
        )
    )
    assert windows > 1.5 * parts
    assert plans[Plan(wr.KeyFarm(4))].seconds > 1.5 * parts


def test_panes_are_faster_than_parts_if_windows_of_a_hot_key_overlap() -> None:
    plans = predicted(in_pieces(wr.TimeWindow("10 s", "2 s")), Resources(2))
    panes, parts = (
        plans[hot(2, split)].seconds
        for split in (
            wr.PaneFarm(2, 1),
            wr.WinMapReduce(2, 1),
        )
    )
    assert parts > 1.2 * panes


def test_pieces_are_weighed_only_for_few_windows() -> None:
    on = Resources(2)
    assert splits(in_pieces(), on) == {"WinFarm", "PaneFarm", "WinMapReduce"}
    # Every worker has several of a hundred windows.
    assert splits(in_pieces(wr.TimeWindow("100 ms")), on) == {"WinFarm"}


def test_pieces_are_weighed_only_if_the_windows_and_the_function_have_them() -> None:
    on = Resources(2)
    assert splits(in_pieces(wr.SessionWindow("1 s")), on) == {"WinFarm", "WinMapReduce"}
    whole = BASE.window(LONG).apply(lambda w: {"n": 1}, "n bigint").hint(**KNOWN, cost="200 ms")
    assert splits(whole, on) == {"WinFarm"}


def test_a_cheap_function_is_not_worth_pieces() -> None:
    query = BASE.window(LONG).agg(total=wf.sum("x")).hint(**KNOWN)
    assert choose(query.window_query(), Resources(2), ROWS).plan == Plan(wr.KeyFarm(2))


def test_a_key_that_is_not_named_is_not_split_into_pieces() -> None:
    assert splits(in_pieces(hot_keys=None, skew=0.5), Resources(2)) == set()


def test_the_reason_names_what_hot_keys_and_others_do() -> None:
    plans = predicted(in_pieces(rate=1e6, cost="2 s"), Resources(2))
    said = plans[hot(2, wr.WinMapReduce(2, 1))].limit
    assert said == "4 workers compute parts of windows of hot keys, and windows of all others"


def load(model: wr.WindowModel) -> Load:
    query = BASE.window(model).decompose(**PIECES).window_query()
    known = Statistics(keys=100, hot_keys=(("a", 0.5),), rate=1e6, rows=10**6, cost=10.0)
    return load_of(query, known, Constants())


@pytest.mark.parametrize("model", [wr.TimeWindow("10 ms", "2 ms"), wr.CountWindow(100, 20)])
def test_hot_keys_and_others_make_up_the_load(model: wr.WindowModel) -> None:
    whole = load(model)
    parts = divided(whole, ["a"], by_rank=model.ranks_tuples)
    for name in ("rows", "keys", "windows", "panes"):
        assert sum(getattr(p, name) for p in parts) == pytest.approx(getattr(whole, name)), name
    costs = [part.windows * part.per_window for part in parts]
    assert sum(costs) == pytest.approx(whole.windows * whole.per_window)
    assert costs[0] == pytest.approx(costs[1]), "the function takes as long as its rows"
    of_hot, of_others = parts
    assert of_hot.skew == 1.0
    assert of_others.skew == pytest.approx(1 / 99)
    is_by_time = not model.ranks_tuples
    assert of_hot.windows == pytest.approx(whole.windows * (0.01 if is_by_time else 0.5))
    longer = 50 if is_by_time else 1
    assert of_hot.rows_per_window == pytest.approx(whole.rows_per_window * longer)
    assert of_hot.windows_per_row == pytest.approx(whole.windows_per_row)


def test_the_other_keys_are_beside_the_first_workers_of_hot_keys() -> None:
    query = in_pieces().window_query()
    on = Resources(4)
    whole = load_of(query, query.hints.or_else(ROWS), on.constants)
    pattern = wr.KeyFarm(3, hot_keys=["a"], hot=wr.WinMapReduce(4, 2))
    of_hot, of_others = divided(whole, ["a"], by_rank=False)
    hot_phases = phases_of(query, Plan(wr.WinMapReduce(4, 2)), of_hot, on)
    others = phases_of(query, Plan(wr.KeyFarm(3)), of_others, on)
    both = phases_of(query, Plan(pattern), whole, on)
    assert [p.n for p in both] == [4, 4 + 3, 2]
    for number in (0, 1):
        assert both[number].work == pytest.approx(hot_phases[number].work + others[number].work)
    busiest = max(p.work * p.share for p in (hot_phases[1], others[1]))
    assert both[1].share == pytest.approx(busiest / both[1].work)
    # Results of other keys pass by the reducers.
    assert both[2].work > hot_phases[2].work
