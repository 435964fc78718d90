"""Programs that bring a session of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]


def lines_of(what: str, **environment: str) -> list[str]:
    """What the program prints; without PYSPARK_PYTHON unless the environment has it."""
    unset = ("PYSPARK_PYTHON", "SPARK_REMOTE", "SPARK_HOME")
    inherited = {k: v for k, v in os.environ.items() if k not in unset}
    run = subprocess.run(
        [sys.executable, "-m", "tests.spark.own_session", what],
        cwd=ROOT,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    return run.stdout.splitlines()


def test_workers_without_windrow_are_refused_before_the_job(tmp_path: Path) -> None:
    other = tmp_path / "python3"
    other.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    other.chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    refused, hint, rows = lines_of("python", PATH=path)
    assert refused.startswith("refused: Spark's workers must run a Python that has Windrow")
    assert f"got {other}: ModuleNotFoundError: No module named 'windrow'" in refused
    assert f"set PYSPARK_PYTHON={sys.executable}" in hint
    assert rows == "rows: [Row(n=4), Row(n=4)]"


def test_settings_of_an_own_session_are_kept_and_changes_are_said() -> None:
    ignored, same, changed, first, logged, *later = lines_of(
        "settings", PYSPARK_PYTHON=sys.executable
    )
    assert ignored.startswith("warned: local_spark returns the session that exists")
    for setting in ("spark.master=local[4] (it has local[1])", "spark.driver.memory=3g"):
        assert setting in ignored
    assert "spark.sql.session.timeZone=UTC (it has Europe/Rome)" in ignored
    assert same == "same: True 1 Europe/Rome 200"
    assert changed == "changed: ('200', '1')"
    assert first == "partitions: 1"
    assert logged.startswith("logged: changed settings of the Spark session for streams: ")
    assert "spark.sql.shuffle.partitions from 1 to 3" in logged
    raised, kept, warned, refused, hint = later
    assert raised == kept == "partitions: 3"
    assert "62 empty partitions" in warned
    assert "need the RocksDB state store" in refused
    assert hint.startswith("Hint: unset it")
