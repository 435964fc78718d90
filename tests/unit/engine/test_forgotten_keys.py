"""Keys that come and go: windows of time remember no key without a tuple."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.engine.in_process import WindowRunner
from windrow.engine.workers import window_worker
from windrow.patterns.windows import window_stages

N = 1200
BATCH = 50
SESSION_ID = np.repeat(np.arange(N // 3), 3)
ROWS = pa.table({"k": SESSION_ID, "t": np.arange(N) // 2, "x": np.arange(N)})


def rows_of(tables: list[pa.Table]) -> list[Any]:
    return sorted(tuple(map(str, row.values())) for t in tables for row in t.to_pylist())


def streamed(query: wr.Query, restarts: bool) -> tuple[list[Any], int]:
    """All results, and the most keys that a worker knew after a batch."""
    complete = query.window_query()
    stages = window_stages(complete, wr.KeyFarm(2))
    runner, found, most = WindowRunner(complete, stages), [], 0
    for first in range(0, N, BATCH):
        found += runner.push(ROWS.slice(first, BATCH))
        found += runner.advance((first + BATCH) // 2)
        workers: Any = [w for own in runner.workers.values() for w in own]
        most = max(most, *(len(w.keys) for w in workers))
        if restarts:
            snapshot = pickle.loads(pickle.dumps(runner.snapshot()))
            runner = WindowRunner(complete, stages)
            runner.restore(snapshot)
    return rows_of(found + runner.finish()), most


@pytest.mark.parametrize("model", [wr.TimeWindow(10, 5), wr.LandmarkWindow(20, 10)], ids=str)
@pytest.mark.parametrize("function", [wf.collect("x"), wf.sum("x")], ids=str)
@pytest.mark.parametrize("restarts", [False, True])
def test_keys_without_tuples_are_forgotten_and_results_stay(
    monkeypatch: pytest.MonkeyPatch, model: WindowModel, function: Any, restarts: bool
) -> None:
    monkeypatch.setattr(window_worker, "LEAST_FORGOTTEN", 10)
    query = wr.stream(ROWS).key_by("k").event_time("t").window(model).agg(found=function)
    found, most = streamed(query, restarts)
    assert found == rows_of([query.collect()])
    assert most < 30


def test_keys_with_ranks_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_worker, "LEAST_FORGOTTEN", 10)
    query = wr.stream(ROWS).key_by("k").event_time("t").window(wr.CountWindow(3))
    found, most = streamed(query.agg(n=wf.count()), restarts=True)
    assert len(found) == N // 3
    assert most > 150
