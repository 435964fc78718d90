"""The stages of every pattern, nesting and level, as explain shows them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, Literal

import pyarrow as pa
import pytest

import windrow as wr
from tests.trail import Trail
from windrow import functions as wf
from windrow.core import Aggregate, WindowModel
from windrow.engine.stages.routes import InTurn
from windrow.engine.windows.batch import WindowBatch
from windrow.patterns import Pattern
from windrow.patterns.setting import Place
from windrow.patterns.windows import window_stages

TIME = wr.TimeWindow(10, 5)
COUNT = wr.CountWindow(10, 5)
SESSION = wr.SessionWindow(5)


def stages(
    model: WindowModel,
    pattern: Pattern,
    function: Aggregate[Any, Any, Any] | None = None,
    place: Place = "stream",
) -> list[str]:
    table = pa.table({"k": ["a"], "t": [1], "x": [1]})
    windowed = wr.stream(table).key_by("k").event_time("t").window(model)
    query = windowed.agg(found=function or wf.top_k("x", 2))
    lines = window_stages(query.window_query(), pattern, place).describe().splitlines()
    assert [line.split(". ")[0] for line in lines] == [str(i) for i in range(len(lines))]
    return [line.split(". ", 1)[1] for line in lines]


HASH2, HASH3 = "emit hash(k) mod 2", "emit hash(k) mod 3"
PANES2 = "emit pane i of key k to (hash(k) + i) mod 2"
WINDOWS3 = "emit window i of key k to (hash(k) + i) mod 3"
DEALT2 = "emit tuples round-robin mod 2"
DEALT2_OF_WINDOWS = "emit tuples of windows round-robin mod 2"
PARTS3 = "emit parts of window i of key k to (hash(k) + i) mod 3"


def collect(n: int) -> str:
    return f"collect from {n} in order"


def test_win_seq() -> None:
    for model in (TIME, COUNT, SESSION):
        assert stages(model, wr.WinSeq()) == ["WinSeq x 1"]


def test_key_farm() -> None:
    for model in (TIME, COUNT, SESSION):
        assert stages(model, wr.KeyFarm(2)) == [HASH2, "WinSeq x 2", collect(2)]


def test_active_win_farm() -> None:
    assert stages(TIME, wr.WinFarm(3)) == [WINDOWS3, "WinSeq x 3", collect(3)]
    batched = "emit window i of key k to (hash(k) + i // 4) mod 3"
    assert stages(TIME, wr.WinFarm(3, batch=4)) == [batched, "WinSeq x 3", collect(3)]


def test_emitters_reduce_tuples_to_panes_where_counts_sums_and_extremes_allow() -> None:
    reduced = "emit partials of panes by "
    key_farm = [reduced + "hash(k) mod 2", "WinSeq x 2", collect(2)]
    assert stages(TIME, wr.KeyFarm(2), wf.sum("x")) == key_farm
    assert stages(wr.LandmarkWindow(10, 5), wr.KeyFarm(2), wf.count()) == key_farm
    windows = WINDOWS3.removeprefix("emit ")
    assert stages(TIME, wr.WinFarm(3), wf.max("x")) == [reduced + windows, "WinSeq x 3", collect(3)]
    assert stages(TIME, wr.WinSeq(), wf.mean("x"))[0] == reduced + "hash(k) mod 1"
    assert stages(COUNT, wr.KeyFarm(2), wf.sum("x"))[0] == HASH2
    assert stages(TIME, wr.KeyFarm(2), wf.median("x"))[0] == HASH2


def test_active_win_farm_of_count_windows_ranks_first() -> None:
    assert stages(COUNT, wr.WinFarm(3, level=0)) == [
        HASH3,
        "Ranker x 3",
        WINDOWS3,
        "WinSeq x 3",
        collect(3),
    ]
    for level in (1, 2):
        assert stages(COUNT, wr.WinFarm(3, level=level)) == [
            HASH3,
            f"Ranker x 3 | {WINDOWS3}",
            "WinSeq x 3",
            collect(3),
        ]


def test_without_keys_there_is_one_ranker() -> None:
    query = wr.stream({"x": [1]}).window(COUNT).agg(best=wf.top_k("x", 2)).window_query()
    for pattern in (wr.WinFarm(3), wr.PaneFarm(3, 2)):
        assert window_stages(query, pattern).describe().startswith("0. Ranker x 1 | emit")


def test_agnostic_win_farm() -> None:
    turns = "emit batches of windows to 3 in turn"
    for model in (TIME, COUNT, SESSION):
        farm = wr.WinFarm(3, workers="agnostic", level=0)
        assert stages(model, farm) == ["Windower x 1", turns, "Executor x 3", collect(3)]
        merged = wr.WinFarm(3, workers="agnostic", level=1)
        assert stages(model, merged) == [f"Windower x 1 | {turns}", "Executor x 3", collect(3)]


def test_windowers_of_bounded_tasks_share_the_keys() -> None:
    for model in (COUNT, SESSION):
        assert stages(model, wr.WinMapReduce(2, 3), place="tasks") == [
            HASH2,
            f"Windower x 2 | {DEALT2_OF_WINDOWS}",
            f"MAP x 2 | {PARTS3}",
            "REDUCE x 3",
            collect(3),
        ]
    farm = wr.WinFarm(2, wr.WinMapReduce(2, 1), workers="agnostic")
    windower, mappers = stages(SESSION, farm, place="tasks")[1:3]
    assert windower.startswith("Windower x 2 | emit batches of windows to 8 in turn")
    assert mappers.startswith("MAP x 16 ")


def test_free_cores_take_the_windows_of_agnostic_tasks() -> None:
    farm = wr.WinFarm(2, workers="agnostic", level=2)
    assert stages(SESSION, farm, place="tasks") == [
        HASH2,
        "Windower x 2 | emit batches of windows to 16 in turn",
        "Executor x 16",
        collect(16),
    ]


def test_emitters_side_by_side_begin_at_different_executors() -> None:
    """Each windower has an emitter of its own, which knows nothing of the others."""
    begun: Counter[int] = Counter()
    for id in range(64):
        batch = WindowBatch(pa.table({"x": [1]}), pa.table({"id": [id]}), pa.table({}))
        begun[next(j for j, sent in enumerate(InTurn(8).targets(batch, 0)) if sent)] += 1
    assert set(begun) == set(range(8))
    assert max(begun.values()) == 8


def test_pane_farm() -> None:
    assert stages(TIME, wr.PaneFarm(2, 3, level=0)) == [
        PANES2,
        "PLQ x 2",
        collect(2),
        WINDOWS3,
        "WLQ x 3",
        collect(3),
    ]


def test_pane_farm_level_1_merges_the_collector_with_the_next_emitter() -> None:
    assert stages(TIME, wr.PaneFarm(2, 3, level=1)) == [
        PANES2,
        "PLQ x 2",
        f"{collect(2)} | {WINDOWS3}",
        "WLQ x 3",
        collect(3),
    ]


def test_pane_farm_level_2_is_all_to_all() -> None:
    assert stages(TIME, wr.PaneFarm(2, 3, level=2)) == [
        PANES2,
        f"PLQ x 2 | {WINDOWS3}",
        "WLQ x 3",
        collect(3),
    ]


@pytest.mark.parametrize("level", [1, 2])
def test_one_pane_worker_and_the_emitter_behind_it_are_one_node(level: Literal[1, 2]) -> None:
    """PF(1, m) merges PLQ and emitter (Mencagli 2019, Figure 12)."""
    assert stages(TIME, wr.PaneFarm(1, 3, level=level)) == [
        f"PLQ x 1 | {WINDOWS3}",
        "WLQ x 3",
        collect(3),
    ]
    assert stages(TIME, wr.WinMapReduce(1, 3, level=level)) == [
        f"MAP x 1 | {PARTS3}",
        "REDUCE x 3",
        collect(3),
    ]


@pytest.mark.parametrize("level", [1, 2])
def test_one_window_worker_and_the_collector_before_it_are_one_node(level: Literal[1, 2]) -> None:
    """The worker itself puts what it gets in order, so nothing is left of the collector."""
    one = "to (hash(k) + i) mod 1"
    assert stages(TIME, wr.PaneFarm(2, 1, level=level)) == [
        PANES2,
        f"PLQ x 2 | emit window i of key k {one}",
        "WLQ x 1",
    ]
    assert stages(TIME, wr.WinMapReduce(2, 1, level=level)) == [
        DEALT2,
        f"MAP x 2 | emit parts of window i of key k {one}",
        "REDUCE x 1",
    ]


@pytest.mark.parametrize("level", [1, 2])
def test_one_worker_per_stage_is_one_node(level: Literal[1, 2]) -> None:
    """PF(1, 1) and WF(PF(1, 1), n) of Mencagli 2019, section VI.B."""
    pane_farm = wr.PaneFarm(1, 1, level=level)
    assert stages(TIME, pane_farm) == ["PLQ + WLQ x 1"]
    assert stages(COUNT, pane_farm) == ["Ranker + PLQ + WLQ x 1"]
    assert stages(TIME, wr.WinMapReduce(1, 1, level=level)) == ["MAP + REDUCE x 1"]
    assert stages(COUNT, wr.WinMapReduce(1, 1, level=level)) == ["Windower + MAP + REDUCE x 1"]
    assert stages(TIME, wr.WinFarm(3, pane_farm, level=level)) == [
        WINDOWS3,
        "PLQ + WLQ x 3",
        collect(3),
    ]
    assert stages(COUNT, wr.WinFarm(3, pane_farm, level=level)) == [
        HASH3,
        f"Ranker x 3 | {WINDOWS3}",
        "PLQ + WLQ x 3",
        collect(3),
    ]
    assert stages(COUNT, wr.KeyFarm(2, pane_farm, level=level)) == [
        HASH2,
        "Ranker + PLQ + WLQ x 2",
        collect(2),
    ]


def test_nodes_that_became_one_store_their_states_together() -> None:
    query = wr.stream({"x": [1]}).window(COUNT).agg(best=wf.top_k("x", 2)).window_query()

    def together(pattern: Pattern) -> list[str]:
        return window_stages(query, pattern).chained_states

    assert together(wr.PaneFarm(1, 1)) == ["Ranker, PLQ, WLQ"]
    assert together(wr.PaneFarm(1, 2)) == ["Ranker, PLQ"]
    assert together(wr.PaneFarm(1, 1, level=0)) == together(wr.PaneFarm(2, 2)) == []
    assert together(wr.WinMapReduce(1, 1)) == [], "only the windower holds state"


@pytest.mark.parametrize("model", [TIME, COUNT, SESSION], ids=str)
def test_the_default_level_has_the_fewest_stages(model: WindowModel) -> None:
    inner: list[Any] = [wr.WinMapReduce(a, b) for a in (1, 2) for b in (1, 2)]
    if model is not SESSION:
        inner += [wr.PaneFarm(a, b) for a in (1, 2) for b in (1, 2)]
    for pattern in [*inner, *(wr.KeyFarm(2, i) for i in inner)]:
        own = getattr(pattern, "inner", pattern)
        least = min(
            len(stages(model, replace(pattern, level=a, **nested)))
            for a in (0, 1, 2)
            for nested in (
                [{"inner": replace(own, level=b)} for b in (0, 1, 2)]
                if own is not pattern
                else [{}]
            )
        )
        assert len(stages(model, pattern)) == least


def test_pane_farm_of_count_windows_ranks_first() -> None:
    assert stages(COUNT, wr.PaneFarm(2, 3, level=2)) == [
        HASH2,
        f"Ranker x 2 | {PANES2}",
        f"PLQ x 2 | {WINDOWS3}",
        "WLQ x 3",
        collect(3),
    ]


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (0, [DEALT2, "MAP x 2", collect(2), PARTS3, "REDUCE x 3", collect(3)]),
        (1, [DEALT2, "MAP x 2", f"{collect(2)} | {PARTS3}", "REDUCE x 3", collect(3)]),
        (2, [DEALT2, f"MAP x 2 | {PARTS3}", "REDUCE x 3", collect(3)]),
    ],
)
def test_win_map_reduce(level: int, expected: list[str]) -> None:
    pattern = wr.WinMapReduce(2, 3, level=level)  # type: ignore[arg-type]
    assert stages(TIME, pattern) == expected
    between = ", " if level == 0 else " | "
    deciding = [*f"Windower x 1{between}{DEALT2_OF_WINDOWS}".split(", "), *expected[1:]]
    assert stages(COUNT, pattern) == deciding
    assert stages(SESSION, pattern) == deciding


def test_win_map_reduce_of_functions_that_need_order_has_contiguous_parts() -> None:
    """De Matteis 2016, section 3.4."""
    for model in (TIME, COUNT, SESSION):
        assert stages(model, wr.WinMapReduce(2, 3), Trail("x")) == [
            "Windower x 1 | emit 2 contiguous parts of each window",
            f"MAP x 2 | {PARTS3}",
            "REDUCE x 3",
            collect(3),
        ]


def test_win_map_reduce_has_no_map_if_its_partials_would_be_all_rows() -> None:
    pattern, function = wr.WinMapReduce(2, 3, level=0), wf.median("x")
    assert stages(TIME, pattern, function) == [WINDOWS3, "REDUCE x 3", collect(3)]
    for model in (COUNT, SESSION):
        decided = ["Windower x 1", "emit batches of windows to 3 in turn", "REDUCE x 3"]
        assert stages(model, pattern, function) == [*decided, collect(3)]
    assert stages(TIME, wr.WinFarm(2, pattern, level=0), function) == [
        "emit window i of key k to (hash(k) + i) mod 2",
        "emit window i of key k to (hash(k) + i) mod 6 of all instances",
        "REDUCE x 6",
        collect(3),
        collect(2),
    ]


def test_key_farm_of_pane_farms() -> None:
    assert stages(TIME, wr.KeyFarm(2, wr.PaneFarm(2, 3, level=0), level=0)) == [
        HASH2,
        PANES2,
        "PLQ x 4",
        collect(2),
        WINDOWS3,
        "WLQ x 6",
        collect(3),
        collect(2),
    ]


def test_key_farm_level_1_has_one_last_collector() -> None:
    assert stages(TIME, wr.KeyFarm(2, wr.PaneFarm(2, 3, level=0), level=1)) == [
        HASH2,
        PANES2,
        "PLQ x 4",
        collect(2),
        WINDOWS3,
        "WLQ x 6",
        collect(6),
    ]


def test_key_farm_level_2_merges_emitters() -> None:
    assert stages(TIME, wr.KeyFarm(2, wr.PaneFarm(2, 3, level=2), level=2)) == [
        f"{HASH2} | {PANES2}",
        f"PLQ x 4 | {WINDOWS3}",
        "WLQ x 6",
        collect(6),
    ]


def test_key_farm_of_pane_farms_of_count_windows_ranks_in_each() -> None:
    assert stages(COUNT, wr.KeyFarm(2, wr.PaneFarm(2, 3, level=2), level=2)) == [
        HASH2,
        f"Ranker x 2 | {PANES2}",
        f"PLQ x 4 | {WINDOWS3}",
        "WLQ x 6",
        collect(6),
    ]


def test_win_farm_of_pane_farms() -> None:
    assert stages(TIME, wr.WinFarm(3, wr.PaneFarm(2, 3, level=2), level=2)) == [
        f"{WINDOWS3} | {PANES2}",
        "PLQ x 6 | emit window i of key k to (hash(k) + i) mod 9 of all instances",
        "WLQ x 9",
        collect(9),
    ]


def test_farms_of_win_map_reduces() -> None:
    inner = wr.WinMapReduce(2, 3, level=2)
    assert stages(TIME, wr.KeyFarm(2, inner, level=2)) == [
        f"{HASH2} | {DEALT2}",
        f"MAP x 4 | {PARTS3}",
        "REDUCE x 6",
        collect(6),
    ]
    assert stages(TIME, wr.WinFarm(3, inner, level=2)) == [
        f"{WINDOWS3} | {DEALT2}",
        "MAP x 6 | emit parts of window i of key k to (hash(k) + i) mod 9 of all instances",
        "REDUCE x 9",
        collect(9),
    ]
    assert stages(SESSION, wr.WinFarm(2, inner, "agnostic", level=2)) == [
        f"Windower x 1 | emit batches of windows to 2 in turn | {DEALT2_OF_WINDOWS}",
        f"MAP x 4 | {PARTS3}",
        "REDUCE x 6",
        collect(6),
    ]


def test_hopping_count_windows_keep_their_ranks_in_a_farm_of_one() -> None:
    """Tuples in gaps are not sent on, so those behind must not be ranked anew."""
    stream = wr.stream({"x": [0, 1, 2, 3, 4]}).window(wr.CountWindow(1, 2))
    for inner in (wr.WinSeq(), wr.PaneFarm(1, 1), wr.WinMapReduce(1, 1)):
        query = stream.agg(xs=wf.collect("x")).using(wr.WinFarm(1, inner))
        assert query.collect()["xs"].to_pylist() == [[0], [2], [4]], inner
