"""Stages of counts, sums and extremes: tuples are reduced to partials of panes before all else."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.engine.columns.control import PIECE, ROWS
from windrow.engine.in_process import WindowRunner
from windrow.engine.stages.nodes import Workers
from windrow.engine.windows import windower
from windrow.engine.workers.geometry import Geometry
from windrow.engine.workers.paned_win_seq import PanedWinSeq
from windrow.engine.workers.reduced import PaneMapper, PaneMerger
from windrow.patterns import Pattern
from windrow.patterns.setting import Place
from windrow.patterns.windows import window_stages

TIME, COUNT = wr.TimeWindow(10, 4), wr.CountWindow(10, 4)
WINDOWS3 = "emit window i of key k to (hash(k) + i) mod 3"
PARTS2 = "emit parts of window i of key k to (hash(k) + i) mod 2"
REDUCED2 = "emit partials of panes by pane i of key k to (hash(k) + i) mod 2"
TABLE = pa.table({"k": [i % 3 for i in range(60)], "t": range(60), "x": range(60)})


def query(model: WindowModel, **functions: Any) -> Any:
    windowed = wr.stream(TABLE).key_by("k").event_time("t").window(model)
    return windowed.agg(**(functions or {"total": wf.sum("x")})).window_query()


def stages(model: WindowModel, pattern: Pattern, place: Place, **functions: Any) -> list[str]:
    lines = window_stages(query(model, **functions), pattern, place).describe().splitlines()
    return [line.split(". ", 1)[1] for line in lines]


@pytest.mark.parametrize("place", ["process", "threads", "tasks", "stream"])
def test_emitters_reduce_for_panes_and_parts_in_time(place: Place) -> None:
    assert stages(TIME, wr.PaneFarm(2, 3), place) == [
        REDUCED2,
        f"PLQ x 2 | {WINDOWS3}",
        "WLQ x 3",
        "collect from 3 in order",
    ]
    assert stages(TIME, wr.WinMapReduce(2, 2), place) == [
        REDUCED2,
        f"MAP x 2 | {PARTS2}",
        "REDUCE x 2",
        "collect from 2 in order",
    ]


def test_rankers_reduce_for_count_windows_of_bounded_input() -> None:
    stages = window_stages(query(COUNT), wr.PaneFarm(2, 3), "tasks")
    ranker = stages.nodes[1].make(0)  # type: ignore[union-attr]
    assert isinstance(ranker, PanedWinSeq)
    stages = window_stages(query(COUNT), wr.PaneFarm(2, 3), "stream")
    assert not isinstance(stages.nodes[1].make(0), PanedWinSeq)  # type: ignore[union-attr]


def test_rankers_and_windowers_of_count_windows_are_chains_of_some_keys_each() -> None:
    for pattern in (wr.WinMapReduce(3, 2), wr.WinFarm(3, workers="agnostic")):
        first, second, *_ = stages(COUNT, pattern, "tasks")
        assert first == "emit hash(k) mod 3"
        assert second.startswith("Ranker + Windower x 3 | emit ")


def test_instances_of_one_process_share_panes_and_parts() -> None:
    assert stages(TIME, wr.WinFarm(3, wr.PaneFarm(2, 1)), "threads")[1:3] == [
        f"PLQ x 2 | {WINDOWS3}",
        "WLQ x 3",
    ]
    assert stages(TIME, wr.WinFarm(2, wr.WinMapReduce(2, 1)), "threads")[1:3] == [
        f"MAP x 2 | {PARTS2}",
        "REDUCE x 2",
    ]


def test_panes_that_would_send_all_their_rows_are_left_out() -> None:
    for model in (TIME, COUNT):
        found = stages(model, wr.PaneFarm(2, 3), "tasks", middle=wf.median("x"))
        assert [line for line in found if "PLQ" in line] == []
        assert "WLQ x 3" in found
        found = stages(model, wr.PaneFarm(2, 3), "stream", middle=wf.median("x"))
        assert any(line.startswith("PLQ x 2") for line in found)


def test_partials_of_a_pane_that_come_apart_are_merged() -> None:
    functions: dict[str, Any] = {"n": wf.count(), "mean": wf.mean("y"), "most": wf.max("x")}
    stream = wr.stream(pa.table({"k": ["a"], "t": [1], "x": [1], "y": [1.0]})).key_by("k")
    complete = stream.event_time("t").window(TIME).agg(**functions).window_query()

    def unused() -> Any:
        raise AssertionError("no state is read")

    merger = PaneMerger(complete, Geometry.over_panes(TIME), unused)
    schema = merger.partials.schema
    for rows, value in ((2, 5), (3, 4)):
        numbers = [pa.array([value, value]).cast(field.type) for field in schema]
        names = ["k", PIECE, ROWS, *schema.names]
        merger.push(pa.table([["a", "b"], [7, 7], [rows, 1], *numbers], names=names))
    (merged,) = merger.advance(0)
    assert merged.select(["k", PIECE, ROWS]).to_pydict() == {
        "k": ["a", "b"],
        PIECE: [7, 7],
        ROWS: [5, 2],
    }
    assert merged["most#1"].to_pylist() == [5, 5]
    assert merged["n#0"].to_pylist() == [9, 9]
    assert merger.advance(0) == []


@pytest.mark.parametrize("pattern", [wr.PaneFarm(2, 2), wr.WinMapReduce(2, 2)], ids=repr)
def test_late_tuples_are_counted_once(pattern: Pattern) -> None:
    complete = query(TIME)
    runner = WindowRunner(complete, window_stages(complete, pattern))
    runner.push(TABLE)
    runner.advance(40)
    runner.push(TABLE.slice(0, 6))
    runner.advance(41)
    assert runner.dropped == 6


@pytest.mark.parametrize("pattern", [wr.PaneFarm(2, 2), wr.WinMapReduce(2, 2)], ids=repr)
def test_workers_look_up_no_windower_where_they_run(
    monkeypatch: pytest.MonkeyPatch, pattern: Pattern
) -> None:
    """Processes of Spark do not know the windowers that a user has registered."""
    stages = window_stages(query(TIME), pattern)
    monkeypatch.setattr(windower, "_WINDOWERS", {})
    made = [node.make(0) for node in stages.nodes if isinstance(node, Workers)]
    older = [worker.older() for worker in made if isinstance(worker, PaneMerger | PaneMapper)]
    assert [type(worker).__name__ for worker in older] in (["PaneLevelWorker"], ["Mapper"])
