"""Phases are predicted for the workers that a plan really has."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.effort import examples
from tests.patterns import patterns
from tests.streams import models_in_milliseconds
from tests.trail import Trail
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.core.statistics import Statistics
from windrow.engine.stages.nodes import Workers
from windrow.patterns import Pattern, check_pattern
from windrow.patterns.windows import window_stages
from windrow.planner.constants import USUAL_WIDTH, Constants
from windrow.planner.load import load_of
from windrow.planner.phases.plan import phases_of as phases_of_plan
from windrow.planner.phases.terms import for_rows_of
from windrow.planner.plans import Plan, Resources

TABLE = pa.table({"k": ["a"], "t": [1], "x": [1], "d": [1], "s": ["a"]})


def first(*given: Any) -> dict[str, Any]:
    return {"x": 1}


def functions(base: wr.Query) -> list[wr.Query]:
    one: dict[str, Any] = {"partial": first, "combine": first, "partial_returns": "x bigint"}
    two = {name: [value] * 2 for name, value in one.items()}
    return [
        base.agg(total=wf.sum("x")),
        base.agg(top=wf.top_k("x", 2)),
        base.agg(middle=wf.median("x")),
        base.agg(trail=Trail("s")),
        base.decompose(**one, returns="x bigint"),
        base.decompose(**two, returns="x bigint"),
    ]


def phases_of(query: wr.Query, pattern: Pattern, *, is_stream: bool = False) -> list[Any]:
    resources, statistics = Resources(2, is_stream=is_stream), Statistics(hot_keys=(("a", 0.5),))
    complete = query.window_query()
    load = load_of(complete, statistics, Constants(), is_stream=is_stream)
    return phases_of_plan(complete, Plan(pattern), load, resources)


@examples(400)
@given(st.data(), models_in_milliseconds, st.booleans(), st.booleans())
def test_there_is_a_phase_per_node_with_as_many_workers(
    data: st.DataObject, model: WindowModel, has_keys: bool, is_stream: bool
) -> None:
    base = wr.stream(TABLE).event_time("t")
    pattern: Any = data.draw(patterns(model, True))
    base = base.key_by("k") if has_keys or isinstance(pattern, wr.KeyFarm) else base
    query = data.draw(st.sampled_from(functions(base.window(model))))
    complete = query.window_query()
    try:
        check_pattern(pattern, model, complete.computation)
    except wr.WindrowError as refused:
        assert "one round" in str(refused)
        return
    stages = window_stages(complete, pattern, "stream" if is_stream else "tasks")
    nodes = [link for node in stages.nodes if isinstance(node, Workers) for link in _links(node)]
    intake, *phases = phases_of(query, pattern, is_stream=is_stream)
    assert not intake.is_exchanged
    said = [(p.name, p.n) for p in phases]
    assert [p.n for p in phases] == [node.n for node in nodes], (said, stages.describe())
    assert [p.holds_state for p in phases] == [node.holds_state for node in nodes]
    assert all(0 < p.share <= 1 and p.work >= 0 for p in phases)


def _links(node: Workers) -> tuple[Workers, ...]:
    return node.links or (node,)


@pytest.mark.parametrize("farm", [wr.WinFarm, wr.KeyFarm])
def test_rankers_are_shared_by_key(farm: Any) -> None:
    query = wr.stream(TABLE).key_by("k").event_time("t").window(wr.CountWindow(100, 10))
    phases = phases_of(query.agg(middle=wf.median("x")), farm(4, wr.PaneFarm(2, 1)), is_stream=True)
    (rankers,) = [p for p in phases if p.name == "rank all rows"]
    assert rankers.n == 4
    assert rankers.share > 0.5


@pytest.mark.parametrize("pattern", [wr.PaneFarm(2, 1), wr.KeyFarm(3, wr.PaneFarm(2, 1))])
def test_few_panes_of_a_frequent_key_are_dealt_unevenly(pattern: Pattern) -> None:
    base = wr.stream(TABLE).key_by("k").event_time("t").window(wr.TimeWindow("1 s"))
    query = functions(base)[4].window_query()
    shares = []
    for seconds in (3, 300):
        known = Statistics(keys=1000, skew=0.5, rate=1e6, rows=seconds * 1_000_000)
        load = load_of(query, known, Constants())
        phases = phases_of_plan(query, Plan(pattern), load, Resources(2))
        (panes,) = [p for p in phases if p.name == "compute panes"]
        shares.append(panes.share)
    few, many = shares
    # Of three panes, one of two workers computes two.
    assert few / many == pytest.approx(7 / 6, abs=0.02)


def test_wide_rows_take_longer_to_move() -> None:
    names = [f"c{i}" for i in range(20)]
    wide = pa.table({"k": ["a"], "t": [1], **{name: [1.0] for name in names}})
    query = wr.stream(wide).key_by("k").event_time("t").window(wr.CountWindow(10))
    one, twenty = (
        phases_of(query.agg(**{name: wf.median(name) for name in some}), wr.KeyFarm(2))
        for some in (names[:1], names)
    )
    # 16 bytes of control, 32 for a key of text, 8 for each number.
    assert twenty[0].work / one[0].work == pytest.approx((16 + 32 + 160) / (16 + 32 + 8))
    assert for_rows_of(Constants(), 2 * USUAL_WIDTH).exchange == 2 * Constants().exchange
    assert for_rows_of(Constants(), 2 * USUAL_WIDTH).window == Constants().window
