"""The interpreter of Spark's workers is tried before a job needs it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

import windrow as wr
from tests.unit.spark.sessions import ConnectSession, Session
from windrow.spark.interpreter import check_interpreter, check_worker_python


def interpreter(folder: Path, script: str) -> str:
    """A program in the place of Python."""
    program = folder / "python3"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


def test_this_interpreter_is_not_even_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("subprocess.run")
    check_interpreter.cache_clear()
    check_interpreter(sys.executable)
    check_interpreter(os.path.join(os.path.dirname(sys.executable), ".", "python3"))


def test_another_interpreter_with_the_same_packages_is_taken(tmp_path: Path) -> None:
    check_interpreter(interpreter(tmp_path, f'exec {sys.executable} "$@"'))


def test_an_interpreter_without_windrow_is_refused_with_what_to_set(tmp_path: Path) -> None:
    other = interpreter(tmp_path, f'exec {sys.executable} -I -S "$@"')
    with pytest.raises(wr.WindrowError) as refused:
        check_interpreter(other)
    assert refused.value.got == f"{other}: ModuleNotFoundError: No module named 'windrow'"
    assert f"set PYSPARK_PYTHON={sys.executable} in the environment" in str(refused.value)


def test_an_interpreter_of_another_version_is_refused(tmp_path: Path) -> None:
    own = "{}.{}".format(*sys.version_info[:2])
    with pytest.raises(wr.WindrowError, match=f"Python 3.7, and this program runs on Python {own}"):
        check_interpreter(interpreter(tmp_path, "echo 3.7"))


def test_an_interpreter_that_is_not_there_is_refused() -> None:
    with pytest.raises(wr.WindrowError, match="got /no/python3: there is no such program"):
        check_interpreter("/no/python3")


@pytest.mark.parametrize("session", [Session("yarn"), ConnectSession(spark__master="local[2]")])
def test_workers_elsewhere_are_not_checked(session: Any) -> None:
    check_worker_python(session)
