"""A replay runs every worker by itself and schedules them on any number of slots."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.planner.constants import IN_PROCESS, Constants
from windrow.planner.replay import Task, makespan_of, measured_stages, replayed

N = 20_000
TABLE = pa.table(
    {
        "k": np.arange(N) % 20,
        "t": pa.array(np.arange(N), pa.timestamp("us")),
        "x": np.arange(N) * 1.0,
    }
)
KEYED: Any = wr.stream(TABLE).key_by("k").event_time("t")
NOTHING = Constants(job=0, stage=0, task=0, exchange=0, window=0)


def parts(n: int) -> list[Any]:
    rows = N // n
    return [lambda i=i: TABLE.slice(i * rows, rows) for i in range(n)]


@pytest.mark.parametrize(
    ("pattern", "tasks"),
    [
        (wr.WinSeq(), [4, 1]),
        (wr.KeyFarm(3), [4, 3]),
        (wr.WinFarm(2), [4, 2]),
        (wr.PaneFarm(2, 3), [4, 2, 3]),
        (wr.KeyFarm(2, wr.PaneFarm(2, 2)), [4, 4, 4]),
    ],
    ids=str,
)
@pytest.mark.parametrize("function", [wf.sum("x"), wf.var("x")], ids=str)
def test_every_worker_is_a_task_and_all_results_come(
    pattern: wr.Pattern, tasks: list[int], function: Any
) -> None:
    windows = KEYED.window(wr.TimeWindow("4 ms", "1 ms")).agg(r=function)
    stages = measured_stages(windows.window_query(), pattern, parts(4))
    assert [len(stage) for stage in stages] == tasks
    assert sum(task.results for task in stages[-1]) == len(windows.collect())
    assert all(task.seconds >= 0 for stage in stages for task in stage)


def test_panes_that_would_send_all_their_rows_are_no_tasks() -> None:
    windows = KEYED.window(wr.TimeWindow("4 ms", "1 ms")).agg(r=wf.median("x"))
    stages = measured_stages(windows.window_query(), wr.PaneFarm(2, 3), parts(4))
    assert [len(stage) for stage in stages] == [4, 3]


def test_a_window_farm_receives_copies_of_rows() -> None:
    query = KEYED.window(wr.TimeWindow("4 ms", "1 ms")).apply(lambda w: {"n": len(w)}, "n bigint")
    one, farm = (
        measured_stages(query.window_query(), pattern, parts(1))[1]
        for pattern in (wr.KeyFarm(2), wr.WinFarm(2, batch=1))
    )
    assert sum(task.received for task in one) == N
    assert sum(task.received for task in farm) == pytest.approx(2 * N, rel=0.01)


def test_stages_run_one_after_the_other_and_each_costs_its_tasks() -> None:
    stages = [(Task(1.0), Task(1.0)), (Task(2.0, received=1_000_000), Task(1.0, results=2_000_000))]
    assert replayed(stages, 2, NOTHING, IN_PROCESS) == 1 + 2
    assert replayed(stages, 1, NOTHING, IN_PROCESS) == 2 + 3
    fixed = Constants(job=1e6, stage=1e5, task=1e4, exchange=1, window=1)
    here = Constants(window=0.5)
    assert replayed(stages, 2, fixed, here) == pytest.approx(1 + 1 + 0.1 + 0.01 + 3)


@pytest.mark.parametrize("slots", [1, 2, 64, 1024])
def test_no_schedule_is_shorter_than_its_longest_task_or_all_work_spread_evenly(slots: int) -> None:
    tasks = np.random.default_rng(0).pareto(1.5, 200).tolist()
    least = max(max(tasks), sum(tasks) / slots)
    assert least <= makespan_of(tasks, slots) + 1e-9 <= least + max(tasks) + 1e-9
