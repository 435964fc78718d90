from __future__ import annotations

import importlib.util
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

import windrow as wr
from windrow.cli import check as checks
from windrow.cli import check_spark
from windrow.cli.__main__ import main
from windrow.cli.findings import Finding
from windrow.cli.java import Java, find_java


def without(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """As if the package were not installed."""
    real = importlib.util.find_spec
    monkeypatch.setattr(checks, "find_spec", lambda n: None if n == package else real(n))


def java_that_says(folder: Path, text: str) -> str:
    """A home with a java command that prints the text as Java prints its settings."""
    command = folder / "bin" / "java"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\necho '{text}' >&2\n")
    command.chmod(command.stat().st_mode | stat.S_IEXEC)
    return str(folder)


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("    java.specification.version = 21", 21),
        ("    java.specification.version = 1.8", 8),
        ("Segmentation fault", 0),
    ],
)
def test_java_is_the_one_that_spark_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, version: int
) -> None:
    home = java_that_says(tmp_path, said)
    monkeypatch.setenv("JAVA_HOME", home)
    assert find_java() == Java(f"{home}/bin/java", version)
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", f"{home}/bin:/usr/bin:/bin")
    assert find_java() == Java(f"{home}/bin/java", version)


@pytest.mark.parametrize(
    ("java", "says"),
    [
        (None, "none"),
        (Java("/usr/bin/java", 11), "11 at /usr/bin/java"),
        (Java("/gone/bin/java", 0), "/gone/bin/java does not run"),
    ],
)
def test_java_that_cannot_run_spark_is_a_problem_only_beside_spark(
    monkeypatch: pytest.MonkeyPatch, java: Java | None, says: str
) -> None:
    monkeypatch.setattr(checks, "find_java", lambda: java)
    found = checks.java_found(is_needed=checks.starts_spark(None))
    assert found.is_problem
    assert found.found == says
    assert "openjdk" in (found.remedy or "")
    assert not checks.java_found(is_needed=checks.starts_spark("sc://host:15002")).is_problem
    without(monkeypatch, "pyspark")
    assert not checks.java_found(is_needed=checks.starts_spark(None)).is_problem


def test_a_machine_without_java_and_pyspark_is_fine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without(monkeypatch, "pyspark")
    monkeypatch.setattr(checks, "find_java", lambda: None)
    with pytest.raises(SystemExit, match="0"):
        main(["check"])
    printed = capsys.readouterr().out
    assert "199 windows are right" in printed
    assert 'for Spark: pip install "windrow[spark]"' in printed
    assert printed.endswith("No problem found.\n")


def test_an_old_spark_is_a_problem_and_ends_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pyspark.__version__", "3.5.1")
    with pytest.raises(SystemExit, match="1"):
        main(["check"])
    printed = capsys.readouterr().out
    assert "FAIL PySpark        3.5.1 in " in printed
    assert 'pip install "pyspark>=4.0"' in printed
    assert printed.endswith("1 problem.\n")


def test_a_client_of_spark_connect_needs_no_java(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pyspark.util.is_remote_only", lambda: True)
    monkeypatch.setattr(checks, "find_java", lambda: None)
    with pytest.raises(SystemExit, match="0"):
        main(["check"])
    printed = capsys.readouterr().out
    assert "only a client of Spark Connect" in printed
    assert "windrow check --master sc://host:15002" in printed
    assert printed.endswith("No problem found.\n")
    with pytest.raises(wr.WindrowError, match="starts Spark on this machine") as told:
        wr.local_spark()
    assert "SparkSession.builder.remote(" in str(told.value)


def test_packages_for_streams_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "google.protobuf")
    (found,) = checks.stream_packages()
    assert found.is_problem
    assert found.found == "protobuf missing"


def test_variables_that_lead_to_another_spark_or_python_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    monkeypatch.setenv("PYSPARK_PYTHON", "/gone/python3")
    home, python = checks.environment()
    assert (home.what, home.is_problem) == ("SPARK_HOME", False)
    assert str(tmp_path) in home.found
    assert python == Finding(
        "PYSPARK_PYTHON",
        "/gone/python3: there is no such program",
        f"set it to {sys.executable}",
    )
    monkeypatch.delenv("SPARK_HOME")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    assert [f.remedy for f in checks.environment()] == [None]


def test_a_session_that_does_not_start_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(master: str | None) -> Any:
        raise RuntimeError("no master at spark://gone:7077\nand a long trace")

    monkeypatch.setattr(check_spark, "_session", fail)
    (found,) = check_spark.check_spark("spark://gone:7077")
    assert found.is_problem
    assert found.found == "no master at spark://gone:7077"


@pytest.mark.parametrize("master", ["nonsense", "host:7077", "local[x]", ""])
def test_what_is_no_master_is_told_before_spark_starts(master: str) -> None:
    (found,) = check_spark.check_spark(master)
    assert found.is_problem
    assert found.found == f"{master!r} is no master of Spark"
    assert "spark://host:7077" in (found.remedy or "")


def test_pipes_get_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    from windrow.cli.findings import show

    given = [Finding("a", "fine"), Finding("b", "odd [x]", "look", True), Finding("c", "bad", "do")]
    assert show(given) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["ok", "a", "fine"]
    assert lines[1].split() == ["note", "b", "odd", "[x]"]
    assert lines[2].strip() == "-> look"
    assert lines[3].split() == ["FAIL", "c", "bad"]
    assert lines[5] == "1 problem."
    assert os.linesep not in lines[0]
