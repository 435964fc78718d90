"""`windrow simulate`: any number of slots, by the model and by a replay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

import windrow as wr
from windrow import functions as wf
from windrow.cli.app import app
from windrow.cli.simulation import Measured, _table
from windrow.core.statistics import Statistics
from windrow.planner.simulate import simulate


@pytest.fixture
def rows(tmp_path: Path) -> str:
    n = 5000
    times = pa.array(np.arange(n) * 1000, pa.timestamp("us"))
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"k": np.arange(n) % 10, "t": times, "x": np.arange(n)}), path)
    return str(path)


def simulated(path: str, *options: str) -> list[str]:
    query = ["-w", "time 1 s/100 ms", "-a", "median(x)", "-k", "k", "-t", "t"]
    found = CliRunner().invoke(app, ["simulate", path, *query, *options])
    assert found.exit_code == 0, found.output
    return found.stdout.splitlines()


def test_the_model_runs_on_4_64_and_1024_slots(rows: str) -> None:
    told, head, *lines = simulated(rows)
    assert told.startswith("a sample tells: keys 10, skew 0.1, rate 1000")
    assert head.split() == ["slots", "plan", "model", "rows/s", "held"]
    assert [line.split()[0] for line in lines] == ["4", "64", "1024"]


def test_a_replay_is_beside_the_model(rows: str) -> None:
    _, head, *lines = simulated(rows, "--slots", "2", "--slots", "8", "--replay")
    assert head.split()[-1] == "replay"
    assert [line.split()[0] for line in lines] == ["2", "8"]


def test_each_check_has_a_line_with_its_errors() -> None:
    query = wr.stream(pa.table({"t": [1], "x": [1]})).event_time("t").window(wr.TimeWindow(1))
    complete = query.agg(m=wf.median("x")).window_query()
    (found,) = simulate(complete, Statistics(), [2])
    found = replace(found, prediction=replace(found.prediction, seconds=3.0), replayed=1.0)
    checks = [Measured("local[2]", 2, 2.0), Measured("local-cluster[2,1,1024]", 2, 4.0)]
    table = _table([found], checks, replays=True)
    shown = {c.header: list(c.cells) for c in table.columns}
    assert shown["checked on"] == ["local[2]", "local-cluster[2,1,1024]"]
    assert shown["took"] == ["2 s", "4 s"]
    assert shown["model is off"] == ["+50%", "-25%"]
    assert shown["replay is off"] == ["-50%", "-75%"]
