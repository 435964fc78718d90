"""Queries in process use several threads, which nobody notices but by the time they take."""

from __future__ import annotations

import threading
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import windrow as wr
from tests.trail import Trail
from windrow import functions as wf
from windrow.api import datasets, tables
from windrow.engine.datasets import steps
from windrow.functions.sum import Sum

ROWS = 100
TABLE = pa.table({"k": np.arange(ROWS) % 7, "t": np.arange(ROWS), "x": np.arange(ROWS)})


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "_ROWS", 10)
    monkeypatch.setattr(tables, "FEW_ROWS", 0)
    monkeypatch.setattr(datasets, "FEW_BYTES", 0)


def by_ten(data: Any) -> wr.Query:
    return wr.stream(data).key_by("k").event_time("t").window(wr.CountWindow(10, 5))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for i in range(5):
        pq.write_table(TABLE.slice(20 * i, 20), tmp_path / f"{i}.parquet")
    return tmp_path


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_a_number_of_threads_is_positive(threads: Any) -> None:
    with pytest.raises(wr.WindrowError, match="threads must be a positive number of threads"):
        by_ten(TABLE).agg(n=wf.count()).collect(threads)


def test_workers_run_at_the_same_time() -> None:
    both, calls, met = threading.Barrier(2), count(), []

    class Meeting(Sum):
        def over_ranges(self, *given: Any) -> Any:
            if next(calls) < 2:
                met.append(both.wait(60))
            return super().over_ranges(*given)

    query = by_ten(TABLE).window(wr.SessionWindow(50)).agg(s=Meeting("x")).using(wr.KeyFarm(2))
    query.collect(threads=2)
    assert sorted(met) == [0, 1]


@pytest.mark.parametrize("pattern", [wr.WinSeq(), wr.KeyFarm(3)], ids=str)
def test_functions_of_users_are_called_in_the_thread_of_the_caller(
    pattern: Any, files: Path
) -> None:
    called = set()

    class Noting(Trail):
        def lift(self, value: str) -> str:
            called.add(threading.get_ident())
            return str(value)

    def noted(w: wr.Window) -> dict[str, int]:
        called.add(threading.get_ident())
        return {"n": len(w)}

    for data in (TABLE, ds.dataset(files)):
        query = by_ten(data).using(pattern)
        for computing in (query.agg(s=Noting("x")), query.apply(noted, "n bigint")):
            assert len(computing.collect(threads=3)) == 21
    assert called == {threading.get_ident()}


def test_an_error_in_a_function_is_that_of_one_thread() -> None:
    query = by_ten(TABLE).using(wr.KeyFarm(3)).apply(lambda w: {"x": 1 // 0}, "x bigint")
    said = []
    for threads in (1, 3):
        with pytest.raises(wr.WindrowError) as raised:
            query.collect(threads)
        said.append(str(raised.value))
    assert said[0] == said[1]
    assert "ZeroDivisionError" in said[0]


def test_an_interrupt_in_a_function_ends_the_query_and_its_threads() -> None:
    def interrupted(w: wr.Window) -> dict[str, int]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        by_ten(TABLE).apply(interrupted, "n bigint").collect(threads=3)
    assert not any(thread.name.startswith("windrow") for thread in threading.enumerate())


def test_a_file_that_cannot_be_read_is_named(files: Path) -> None:
    query = by_ten(ds.dataset(files)).agg(n=wf.count())
    path = files / "3.parquet"
    whole = path.read_bytes()
    path.write_bytes(b"\0" * 200 + whole[200:])
    for threads in (1, 3):
        with pytest.raises(wr.WindrowError, match=r"3\.parquet"):
            query.collect(threads)


def test_explain_says_how_many_threads_there_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windrow.api.in_threads.cores_here", lambda: 4)
    query = by_ten(TABLE).agg(n=wf.count())
    query.explain()
    found = capsys.readouterr().out
    assert "in this process, in 4 threads" in found
    assert "KeyFarm(4" in found
    monkeypatch.setattr(tables, "FEW_ROWS", ROWS + 1)
    query.explain()
    found = capsys.readouterr().out
    assert "threads" not in found
    assert "WinSeq(): there are few rows" in found
