"""Of functions that need few rows of a pane, the other rows are neither sent nor held."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.engine.in_process import WindowRunner
from windrow.engine.intake import window_tuples
from windrow.engine.stages.decisive import OnlyDecisive
from windrow.engine.stages.nodes import Emitter
from windrow.engine.windows.placing import time_of
from windrow.engine.workers.ranker import Ranker
from windrow.patterns.setting import Place
from windrow.patterns.windows import window_stages

TABLE = pa.table({"t": np.arange(1000), "x": np.arange(1000) % 50})
TIME, COUNT = wr.TimeWindow(400, 100), wr.CountWindow(400, 100)
"""Panes of 100 rows, of which arg_max keeps the first and, at 49, the greatest."""
FEW, ALL = {"at": wf.arg_max("t", by="x")}, {"at": wf.arg_max("t", by="x"), "m": wf.median("x")}


def query(model: WindowModel, functions: dict[str, Any]) -> Any:
    return wr.stream(TABLE).event_time("t").window(model).agg(**functions).window_query()


@pytest.mark.parametrize("model", [TIME, COUNT], ids=["time", "count"])
@pytest.mark.parametrize(("functions", "per_pane"), [(FEW, 2), (ALL, 100)], ids=["few", "all"])
@pytest.mark.parametrize("place", ["process", "stream"])
def test_a_worker_holds_the_rows_that_decide(
    model: WindowModel, functions: dict[str, Any], per_pane: int, place: Place
) -> None:
    complete = query(model, functions)
    runner = WindowRunner(complete, window_stages(complete, wr.WinSeq(), place))
    runner.push(TABLE.slice(0, 400))
    runner.advance(400)
    (worker,) = runner.workers[0]
    assert worker.n_held == 3 * per_pane  # The first of four panes is in no window to come.


@pytest.mark.parametrize("place", ["threads", "tasks"])
def test_an_emitter_of_bounded_rows_sends_those_that_decide(place: Place) -> None:
    complete = query(TIME, FEW)
    emitter = window_stages(complete, wr.WinFarm(2), place).nodes[0]
    assert isinstance(emitter, Emitter)
    assert isinstance(emitter.route, OnlyDecisive)
    tuples, _ = window_tuples(complete, TABLE.slice(0, 300), 0)
    for sent in emitter.route.targets(tuples, 0):
        assert time_of(sent).tolist() == [0, 49, 100, 149, 200, 249]


def test_an_emitter_of_a_stream_sends_all_as_late_rows_are_counted() -> None:
    emitter = window_stages(query(TIME, FEW), wr.WinFarm(2), "stream").nodes[0]
    assert isinstance(emitter, Emitter)
    assert not emitter.route.reduces


def test_rows_of_sparse_panes_are_all_sent() -> None:
    complete = query(wr.TimeWindow(12, 4), FEW)
    tuples, _ = window_tuples(complete, TABLE, 0)
    emitter = window_stages(complete, wr.WinSeq(), "tasks").nodes[0]
    assert isinstance(emitter, Emitter)
    (sent,) = emitter.route.targets(tuples, 0)
    assert sent is tuples


def test_a_ranker_also_sends_the_last_row_of_each_pane() -> None:
    complete = query(COUNT, FEW)
    ranker = Ranker(complete)
    tuples, _ = window_tuples(complete, TABLE.slice(0, 250), 0)
    ranker.push(tuples)
    (sent,) = ranker.advance(1000)
    assert sent["windrow.rank"].to_pylist() == [0, 49, 99, 100, 149, 199, 200, 249]
