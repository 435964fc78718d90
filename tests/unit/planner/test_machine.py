"""The constants of a machine: shipped, or measured and kept in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import windrow as wr
from windrow.engine.joins.join_query import JoinQuery
from windrow.planner import machine
from windrow.planner.constants import IN_PROCESS, ON_SPARK
from windrow.planner.join_layout import stream_degree
from windrow.planner.plans import Resources

JOIN: Any = wr.join(
    {"x": [1]}, {"x": [1]}, within=1000, on=wr.theta(lambda left, right: left["x"] > 0)
)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "folder" / "constants.json"
    monkeypatch.setenv(machine.PATH, str(path))
    return path


def test_without_a_file_the_shipped_constants_count(path: Path) -> None:
    assert machine.on_spark() == ON_SPARK
    assert machine.in_process() == IN_PROCESS


def test_what_was_stored_is_loaded_and_the_rest_ships(path: Path) -> None:
    assert machine.store({"keep": 0.5, "pair": 1.0}, {"read": 0.7}) == path
    assert (Resources(2).constants.keep, Resources(2).constants.window) == (0.5, ON_SPARK.window)
    assert (machine.in_process().read, machine.in_process().keep) == (0.7, IN_PROCESS.keep)


def test_the_pairs_of_a_join_cost_what_was_measured(path: Path) -> None:
    query: JoinQuery = JOIN.query
    before = stream_degree(query, (1000, 1000))
    machine.store({"pair": ON_SPARK.pair * 1000}, {})
    assert stream_degree(query, (1000, 1000)) > before


def test_a_file_of_another_version_is_passed_over(path: Path) -> None:
    machine.store({"keep": 0.5}, {})
    stored = json.loads(path.read_text())
    path.write_text(json.dumps({**stored, "version": machine.VERSION + 1}))
    assert machine.on_spark() == ON_SPARK


@pytest.mark.parametrize(
    "text", ["{", json.dumps({"version": 1, "on_spark": {"speed": 1}}),
             json.dumps({"version": 1, "on_spark": {"keep": -1}}),
             json.dumps({"version": 1, "on_spark": [1]})],
)  # fmt: skip
def test_a_broken_file_is_refused_with_what_to_do(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(wr.WindrowError, match="run windrow calibrate again, or delete"):
        machine.on_spark()


def test_by_default_each_machine_has_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(machine.PATH, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/config")
    monkeypatch.setattr("platform.node", lambda: "tea")
    assert machine.path_here() == Path("/config/windrow/constants-tea.json")
