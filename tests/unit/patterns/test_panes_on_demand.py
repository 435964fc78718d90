"""Pane farms with agnostic workers: panes that are dealt in turn, or taken by free cores."""

from __future__ import annotations

import pyarrow as pa
import pytest

import windrow as wr
from tests.unit.patterns.test_stages import COUNT, TIME, WINDOWS3, collect, stages
from windrow import functions as wf
from windrow.engine.columns.control import PIECE
from windrow.engine.in_process import WindowRunner
from windrow.engine.windows.batch import WindowBatch
from windrow.patterns.tree import Level
from windrow.patterns.windows import window_stages

IN_TURN = "emit batches of panes to 2 in turn"
ON_DEMAND = wr.PaneFarm(2, 3, workers="agnostic")


def test_workers_are_active_or_agnostic() -> None:
    with pytest.raises(wr.WindrowError, match=r"PaneFarm workers must be .*; got workers='lazy'"):
        wr.PaneFarm(2, 1, workers="lazy")  # type: ignore[arg-type]
    assert repr(ON_DEMAND) == 'PaneFarm(2, 3, workers="agnostic")'
    assert wr.PaneFarm(2, 3, workers="active") == wr.PaneFarm(2, 3)


def test_on_a_stream_a_windower_forms_the_panes() -> None:
    listed: dict[Level, list[str]] = {
        0: [
            "emit hash(k) mod 1",
            "Windower x 1",
            IN_TURN,
            "PLQ x 2",
            collect(2),
            WINDOWS3,
            "WLQ x 3",
            collect(3),
        ],
        1: [f"Windower x 1 | {IN_TURN}", "PLQ x 2", f"{collect(2)} | {WINDOWS3}", "WLQ x 3"],
        2: [f"Windower x 1 | {IN_TURN}", f"PLQ x 2 | {WINDOWS3}", "WLQ x 3", collect(3)],
    }
    for level, expected in listed.items():
        found = stages(TIME, wr.PaneFarm(2, 3, workers="agnostic", level=level))
        assert found[: len(expected)] == expected
    assert stages(TIME, ON_DEMAND, wf.sum("x")) == listed[2]
    assert stages(COUNT, ON_DEMAND)[0] == f"Ranker + Windower x 1 | {IN_TURN}"
    assert stages(TIME, wr.KeyFarm(2, ON_DEMAND))[1:3] == [
        f"Windower x 2 | {IN_TURN}",
        f"PLQ x 4 | {WINDOWS3}",
    ]


def test_over_bounded_rows_free_cores_take_the_next_of_many_tasks() -> None:
    by_pane = "pane i of key k to (hash(k) + i + i // 16) mod 16"
    rest = [f"PLQ x 16 | {WINDOWS3}", "WLQ x 3", collect(3)]
    var = wf.var("x")
    assert stages(TIME, ON_DEMAND, var, place="tasks") == [f"emit {by_pane}", *rest]
    assert stages(TIME, ON_DEMAND, var, place="threads") == [f"emit {by_pane}", *rest]
    reduced = "emit partials of panes by pane i of key k to (hash(k) + i) mod 16"
    assert stages(TIME, ON_DEMAND, wf.sum("x"), place="tasks") == [reduced, *rest]
    # There are no more rankers than before.
    assert stages(COUNT, ON_DEMAND, var, place="tasks")[1] == f"Ranker x 2 | emit {by_pane}"


def test_without_panes_free_cores_take_windows() -> None:
    listed = stages(TIME, ON_DEMAND, wf.median("x"), place="tasks")
    assert listed[1:] == ["WLQ x 24", collect(24)]
    chosen = stages(TIME, ON_DEMAND, wf.top_k("x", 2), place="tasks")
    assert chosen[0].startswith("emit tuples that can decide a result by window i of key k to ")
    assert chosen[1:] == ["WLQ x 24", collect(24)]


def test_panes_are_dealt_in_turn_and_workers_of_panes_hold_nothing() -> None:
    query = wr.stream({"k": ["a"], "t": [1]}).key_by("k").event_time("t")
    complete = query.window(TIME).agg(top=wf.top_k("t", 2)).window_query()
    stages = window_stages(complete, ON_DEMAND)
    runner = WindowRunner(complete, stages)
    (windower,), panes, windows = runner.workers.values()
    assert runner.stateful() == [[windower], windows]
    runner.push(pa.table({"k": ["a"] * 40, "t": range(40)}))
    sent = windower.advance(31)
    assert all(isinstance(batch, WindowBatch) for batch in sent)
    formed = [id for batch in sent for id in batch.windows["id"].to_pylist()]
    assert formed == [0, 1, 2, 3, 4, 5]
    for number, batch in enumerate(sent):
        panes[number % 2].push(batch)
    computed = [{p for t in worker.advance(31) for p in t[PIECE].to_pylist()} for worker in panes]
    assert computed == [{0, 2, 4}, {1, 3, 5}]
