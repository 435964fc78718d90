"""Key farms whose hot keys are split into panes or parts, beside the workers of all other keys."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.unit.patterns.test_stages import (
    COUNT,
    HASH3,
    PANES2,
    PARTS3,
    SESSION,
    TIME,
    WINDOWS3,
    collect,
    stages,
)
from windrow import functions as wf
from windrow.engine.in_process import WindowRunner
from windrow.patterns import Pattern
from windrow.patterns.tree import Level
from windrow.patterns.windows import window_stages

OF_HOT = f"{HASH3}, of 1 hot key "
BY_PANE = OF_HOT + PANES2.removeprefix("emit ")
DEALT = f"{OF_HOT}tuples round-robin mod 2"


def split(hot: Pattern) -> wr.KeyFarm:
    return wr.KeyFarm(3, hot_keys=["a"], hot=hot)


def test_stages_of_panes() -> None:
    listed: dict[Level, list[str]] = {
        0: [BY_PANE, "PLQ or WinSeq x 5", collect(5), WINDOWS3, "WLQ x 3", collect(3)],
        1: [BY_PANE, "PLQ or WinSeq x 5", f"{collect(5)} | {WINDOWS3}", "WLQ x 3", collect(3)],
        2: [BY_PANE, f"PLQ or WinSeq x 5 | {WINDOWS3}", "WLQ x 3", collect(3)],
    }
    for level, expected in listed.items():
        assert stages(TIME, split(wr.PaneFarm(2, 3, level=level))) == expected


def test_stages_of_parts() -> None:
    listed: dict[Level, list[str]] = {
        0: [DEALT, "MAP or WinSeq x 5", collect(5), PARTS3, "REDUCE x 3", collect(3)],
        1: [DEALT, "MAP or WinSeq x 5", f"{collect(5)} | {PARTS3}", "REDUCE x 3", collect(3)],
        2: [DEALT, f"MAP or WinSeq x 5 | {PARTS3}", "REDUCE x 3", collect(3)],
    }
    for level, expected in listed.items():
        assert stages(TIME, split(wr.WinMapReduce(2, 3, level=level))) == expected


def test_a_windower_of_hot_keys_is_beside_the_workers_of_the_others() -> None:
    by_key = f"{OF_HOT}hash(k) mod 1"
    dealt = "emit tuples of windows round-robin mod 2"
    assert stages(SESSION, split(wr.WinMapReduce(2, 3))) == [
        by_key,
        f"Windower or WinSeq x 4 | {dealt}",
        f"MAP x 2 | {PARTS3}",
        "REDUCE x 3",
        collect(3),
    ]
    farm = wr.WinFarm(2, wr.WinMapReduce(2, 3), workers="agnostic")
    assert stages(SESSION, split(farm)) == [
        by_key,
        f"Windower or WinSeq x 4 | emit batches of windows to 2 in turn | {dealt}",
        f"MAP x 4 | {PARTS3}",
        "REDUCE x 6",
        collect(6),
    ]


def test_rankers_of_hot_keys_are_beside_the_workers_of_the_others() -> None:
    assert stages(COUNT, split(wr.PaneFarm(2, 3))) == [
        f"{OF_HOT}hash(k) mod 2",
        f"Ranker or WinSeq x 5 | {PANES2}",
        f"PLQ x 2 | {WINDOWS3}",
        "WLQ x 3",
        collect(3),
    ]
    assert "PLQ + WLQ x 1" in stages(COUNT, split(wr.PaneFarm(1, 1)))


def test_partials_of_panes_are_split_where_emitters_reduce_rows() -> None:
    reduced = BY_PANE.replace("emit ", "emit partials of panes by ")
    for place in ("stream", "tasks"):
        listed = stages(TIME, split(wr.PaneFarm(2, 3)), wf.sum("x"), place=place)
        assert listed[0] == reduced


def test_rows_go_to_the_workers_of_windows_where_panes_would_send_all_rows() -> None:
    by_window = WINDOWS3.removeprefix("emit ").replace("+ i)", "+ i // 16)")
    rows = f"{OF_HOT}{by_window}"
    for hot, name in ((wr.PaneFarm(2, 3), "WLQ"), (wr.WinMapReduce(2, 3), "REDUCE")):
        listed = stages(TIME, split(hot), wf.median("x"), place="tasks")
        assert listed == [rows, f"{name} or WinSeq x 6", collect(6)]


@pytest.mark.parametrize(
    "hot",
    [
        wr.PaneFarm(2, 1),
        wr.WinMapReduce(2, 1),
        wr.WinFarm(2, wr.WinMapReduce(2, 1), workers="agnostic"),
    ],
    ids=str,
)
def test_functions_of_whole_windows_are_refused(hot: Pattern) -> None:
    query = wr.stream({"k": ["a"], "t": [1]}).key_by("k").event_time("t").window(TIME)
    with pytest.raises(wr.WindrowError, match="which an opaque function does not allow"):
        query.apply(lambda w: {"n": len(w)}, "n int").using(split(hot))


def test_windows_without_panes_are_refused() -> None:
    query = wr.stream({"k": ["a"], "t": [1]}).key_by("k").event_time("t").window(SESSION)
    with pytest.raises(wr.WindrowError, match="SessionWindow has none"):
        query.agg(n=wf.count()).using(split(wr.PaneFarm(2, 1)))


def test_panes_take_one_round_of_decompose() -> None:
    query = wr.stream({"k": ["a"], "t": [1]}).key_by("k").event_time("t").window(TIME)
    rounds = query.decompose(
        partial=[lambda w: {"n": len(w)}, lambda w, n: {"n": n}],
        combine=[lambda parts: {"n": len(parts)}, lambda parts: {"n": len(parts)}],
        partial_returns=["n int", "n int"],
        returns="n int",
    )
    with pytest.raises(wr.WindrowError, match="decompose can have only one round"):
        rounds.using(split(wr.PaneFarm(2, 1)))


@pytest.mark.parametrize("hot", [wr.PaneFarm(4, 2), wr.WinMapReduce(4, 2)], ids=str)
def test_only_the_hot_key_is_split(hot: Pattern) -> None:
    """Its rows are spread over workers of their own, and every other key stays with one."""
    names = [*"abcdefgh"]
    query = wr.stream({"k": ["a"], "t": [1]}).key_by("k").event_time("t")
    complete = query.window(wr.TimeWindow(10, 5)).agg(top=wf.top_k("t", 2)).window_query()
    pattern = wr.KeyFarm(3, hot_keys=["b"], hot=hot)
    runner = WindowRunner(complete, window_stages(complete, pattern))
    runner.push(pa.table({"k": names * 80, "t": np.repeat(np.arange(80), 8)}))
    runner.advance(20)
    holders: Counter[str] = Counter()
    for worker in runner.workers[1]:
        holders.update(worker.keys.table()["k"].to_pylist())  # type: ignore[attr-defined]
    assert holders == {name: 4 if name == "b" else 1 for name in names}
    held = [worker.n_held for worker in runner.workers[1][:4]]
    assert max(held) <= sum(held) / 4 + 5, held
