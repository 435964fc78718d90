"""What moves the watermark of a query on a stream."""

from __future__ import annotations

from typing import Any

import pytest

from windrow.core.watermark import BEGINNING
from windrow.spark.packed import Ticks
from windrow.spark.plans import nodes_in
from windrow.spark.watermark import Watermark


def test_sparks_watermark_is_followed_at_a_distance() -> None:
    reached = [Watermark(lag=2_500).reached({}, sparks, Ticks()) for sparks in (0, -4, 1, 9)]
    assert reached == [BEGINNING, BEGINNING, -1_500, 6_500]


def test_rows_move_a_watermark_of_the_querys_own() -> None:
    memory: dict[str, Any] = {}
    own = Watermark(None, own=(0,), delay=1_500)
    times = [BEGINNING, 7_100, 6_000, 9_000]
    reached = [own.reached(memory, None, Ticks(greatest=time)) for time in times]
    assert reached == [BEGINNING, 5_000, 5_000, 7_000]


def test_a_joins_watermark_is_the_least_of_its_sides() -> None:
    memory: dict[str, Any] = {}
    sides = Watermark(lag=1_000), Watermark(None, own=(1,), delay=2_000)
    join = Watermark.of_sides(sides)
    assert join.reached(memory, 50, Ticks()) == BEGINNING
    assert join.reached(memory, 50, Ticks(greatest=90_000, greatest_right=60_000)) == 49_000
    assert join.reached(memory, 80, Ticks()) == 58_000
    assert Watermark.of_sides([Watermark(lag=3), Watermark(lag=5)]) == Watermark(lag=5)


@pytest.mark.parametrize(
    ("watermark", "lag"),
    [(Watermark(), 0), (Watermark(lag=5), 5), (Watermark(lag=5, own=(1,)), None)],
)
def test_results_follow_sparks_watermark_unless_rows_move_it(
    watermark: Watermark, lag: int | None
) -> None:
    assert watermark.result_lag == lag


def test_nodes_of_a_plan_are_known_by_their_names_alone() -> None:
    plan = """~Project [EventTimeWatermark#3, ~EventTimeWatermark AS x#4]
+- ~Join Inner
   :- ~EventTimeWatermark 1f-2, ts#0: timestamp, 1 seconds
   :  +- ~StreamingRelation
   +- LocalRelation <empty>
"""
    found = [(node.depth, node.name) for node in nodes_in(plan)]
    assert found == [
        (0, "Project"),
        (1, "Join"),
        (2, "EventTimeWatermark"),
        (3, "StreamingRelation"),
        (2, "LocalRelation"),
    ]
