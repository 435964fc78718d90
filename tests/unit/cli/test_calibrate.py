"""`windrow calibrate` measures, prints a table and keeps what it has found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from windrow.cli import calibration_here
from windrow.cli.app import app
from windrow.planner import machine
from windrow.planner.constants import ON_SPARK

SHARED = {
    "keep",
    "call",
    "fold",
    "lift",
    "of_few",
    "of_all",
    "reduce",
    "piece",
    "window",
    "pair",
    "state",
}


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {"ROWS": 8000, "KEYS": 8, "_PAIRS": 100}.items():
        monkeypatch.setattr(calibration_here, name, value)
    monkeypatch.setenv(machine.PATH, str(tmp_path / "constants.json"))


def test_what_was_measured_counts_from_then_on(tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["calibrate", "--no-spark"])
    assert found.exit_code == 0, found.output
    assert "in this process, in microseconds" in found.stdout
    assert "on Spark, in microseconds" in found.stdout
    stored = json.loads((tmp_path / "constants.json").read_text())
    measured = stored["on_spark"]
    assert {"keep", "call", "fold"} <= measured.keys() <= SHARED
    assert stored["in_process"].keys() <= {*SHARED, "read", "exchange"}
    assert machine.on_spark().keep == measured["keep"] > 0
    assert machine.on_spark().job == ON_SPARK.job


def test_nothing_is_kept_if_so_asked(tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["calibrate", "--no-spark", "--no-keep"])
    assert found.exit_code == 0, found.output
    assert not (tmp_path / "constants.json").exists()
