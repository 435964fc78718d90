"""The monitor of programs that start none themselves."""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from windrow.cli.__main__ import main
from windrow.monitoring.history import History
from windrow.monitoring.server import Server
from windrow.spark import monitor as module

pytestmark = pytest.mark.spark

PROGRAM = """
import sys
from pyspark.sql import SparkSession
import windrow as wr
from windrow import functions as wf

spark = SparkSession.getActiveSession()
rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
counted = wr.stream(rate).window(wr.CountWindow(5)).agg(n=wf.count()).to_df()
query = counted.writeStream.format("noop").queryName(sys.argv[1])
query.trigger(availableNow=True).start().awaitTermination()
"""


@pytest.fixture
def no_monitor(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The process has no monitor before, and none after."""
    found: list[module.Monitor] = []
    monkeypatch.setattr(module, "_of_process", found)
    yield
    for monitor in found:
        monitor.stop()


def queries(url: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(url + "queries", timeout=60) as answer:
        found: list[dict[str, Any]] = json.load(answer)["queries"]
    return found


def test_dashboard_runs_a_program_and_shows_its_streams(
    spark: SparkSession,
    tmp_path: Path,
    no_monitor: None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", sys.argv[:])
    monkeypatch.setattr(sys, "path", sys.path[:])
    program = tmp_path / "program.py"
    seen = (
        "import json, time, urllib.request\n"
        "from windrow.spark.monitor import _of_process\n"
        "found = []\n"
        "while not [q for q in found if q['state'] == 'stopped']:\n"
        "    answer = urllib.request.urlopen(_of_process[0].url + 'queries')\n"
        "    found = json.load(answer)['queries']\n"
        "print(*(q['name'] for q in found))\n"
    )
    program.write_text(PROGRAM + seen)
    with pytest.raises(SystemExit, match="0"):
        main(["dashboard", "--port", "0", str(program), "--counted"])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("The live view is at http://127.0.0.1:")
    assert second == "--counted"


def test_the_demo_shows_streams_until_it_is_interrupted_and_ends_without_a_word() -> None:
    command = [sys.executable, "-m", "windrow.cli", "dashboard", "--demo", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        url = running.stdout.readline().split()[-1]
        found: list[dict[str, Any]] = []
        while running.poll() is None and sum(q["last"]["seconds"] is not None for q in found) < 2:
            found = queries(url)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=120)
    assert {q["name"] for q in found} == {"trends", "bars"}
    # A Python worker of Spark that is just starting may still say that nobody listens to it.
    assert (running.returncode, said.splitlines()[-1]) == (0, "Stopped.")
    assert "windrow/cli" not in said and "KeyboardInterrupt" not in said


def test_the_environment_turns_a_monitor_on(
    spark: SparkSession, no_monitor: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(module.VARIABLE, "0")
    module.watch(spark)
    module.watch(spark)
    (monitor,) = module._of_process
    assert queries(monitor.url) == []


@pytest.mark.parametrize("port", ["taken", "here"])
def test_a_monitor_that_cannot_start_keeps_no_stream_from_running(
    spark: SparkSession,
    no_monitor: None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    port: str,
) -> None:
    other = Server(History(), 0, "127.0.0.1")
    monkeypatch.setenv(module.VARIABLE, str(other.server_port) if port == "taken" else port)
    with caplog.at_level(logging.WARNING, "windrow"):
        module.watch(spark)
    other.stop()
    assert module._of_process == []
    assert "WINDROW_MONITOR is" in caplog.text
