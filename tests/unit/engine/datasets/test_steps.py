"""How far time may advance while the pieces of a dataset are read, and how many rows wait."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core.errors import WindrowError
from windrow.core.watermark import END_OF_STREAM
from windrow.engine.datasets import scan, steps
from windrow.engine.datasets.pieces import pieces_of
from windrow.engine.datasets.scan import Scan
from windrow.engine.datasets.steps import Side, Step, timed_steps, window_steps


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "ROWS_AT_ONCE", 50)
    monkeypatch.setattr(steps, "_ROWS", 100)


def read(dataset: ds.Dataset) -> list[Step]:
    side = Side(Scan(dataset.schema, ("t",)), pieces_of(dataset), "t")
    return [unread() for unread in timed_steps([side])]


def most_waiting(taken: list[Step]) -> int:
    """The most rows that wait for time to pass them after any step; no row may come too late."""
    waiting, most, passed = np.zeros(0, np.int64), 0, -(2**62)
    for step in taken:
        times = step.rows["t"].to_numpy()
        assert times.min() >= passed
        passed = max(passed, step.reached)
        waiting = np.concatenate([waiting, times])
        waiting = waiting[waiting >= passed]
        most = max(most, len(waiting))
    return most


def write(path: Path, times: Any, **options: Any) -> None:
    pq.write_table(pa.table({"t": pa.array(times, pa.int64())}), path, **options)


def test_rows_in_order_wait_for_one_step_only(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", range(3000), row_group_size=100)
    taken = read(ds.dataset(tmp_path))
    assert most_waiting(taken) <= 100
    assert not any(step.is_moved for step in taken)


def test_files_that_overlap_are_read_side_by_side(tmp_path: Path) -> None:
    for i in range(4):
        write(tmp_path / f"{i}.parquet", range(i, 12_000, 4), row_group_size=100)
    taken = read(ds.dataset(tmp_path))
    assert most_waiting(taken) <= 500
    assert sum(len(step.rows) for step in taken) == 12_000
    assert all(step.is_moved for step in taken)
    assert len({step.first for step in taken}) == len(taken)


@pytest.mark.parametrize("what", ["no statistics", "large row group", "ipc"])
def test_the_times_are_read_first_if_nothing_tells_them(tmp_path: Path, what: str) -> None:
    for i in range(2):
        times = [(t // 10) * 10 + 9 - t % 10 for t in range(i * 3000, (i + 1) * 3000)]
        if what == "ipc":
            table = pa.table({"t": times})
            pa.feather.write_feather(table, tmp_path / f"{i}.arrow", chunksize=100)
        elif what == "large row group":
            write(tmp_path / f"{i}.parquet", times)
        else:
            write(tmp_path / f"{i}.parquet", times, row_group_size=100, write_statistics=False)
    taken = read(ds.dataset(tmp_path, format="ipc" if what == "ipc" else "parquet"))
    assert most_waiting(taken) <= 110
    assert taken[-1].reached == END_OF_STREAM


@pytest.mark.parametrize("width", [1000, 5000])
@pytest.mark.parametrize("has_dictionary", [True, False])
def test_wide_rows_make_smaller_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_dictionary: bool, width: int
) -> None:
    """Repeated texts of 5000 letters are in the file once, and too long for statistics."""
    monkeypatch.setattr(steps, "_BYTES", 20_000)
    monkeypatch.setattr(scan, "_BYTES", 1000)
    monkeypatch.setattr(scan, "_FEWEST_ROWS", 1)
    table = pa.table({"t": range(1000), "s": ["a" * width] * 1000})
    for i, rows in enumerate((10, 15, 400)):
        pq.write_table(
            table, tmp_path / f"{i}.parquet", row_group_size=rows, use_dictionary=has_dictionary
        )
    dataset = ds.dataset(tmp_path)
    side = Side(Scan(dataset.schema, ("t", "s")), pieces_of(dataset), "t")
    taken = [unread().rows for unread in timed_steps([side])]
    assert sum(map(len, taken)) == 3000
    assert max(len(rows) for rows in taken) <= 20


@pytest.mark.parametrize("edge", [None, 0, 49, 50, 170])
def test_rows_in_an_order_of_their_own_are_taken_batch_by_batch(
    tmp_path: Path, edge: int | None
) -> None:
    seqs = [*range(100), *range(99, 199)]
    if edge is not None:
        seqs[edge], seqs[edge + 1] = seqs[edge + 1] + 1, seqs[edge]
    for i in range(2):
        part = {"seq": seqs[100 * i : 100 * i + 100], "x": range(100)}
        pq.write_table(pa.table(part), tmp_path / f"{i}.parquet")
    dataset = ds.dataset(tmp_path)
    side = Side(Scan(dataset.schema, ("x", "seq")), pieces_of(dataset), None)
    taken = [unread() for unread in window_steps(side, ["seq"])]
    assert [len(step.rows) for step in taken] == ([50] * 4 if edge is None else [200])
    query = wr.scan(tmp_path).order_by("seq").window(wr.CountWindow(30)).agg(s=wf.collect("seq"))
    found = query.ordered().collect()["s"].to_pylist()
    assert [seq for window in found for seq in window] == sorted(seqs)


def test_wrong_statistics_are_an_error_and_not_a_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.parquet", [*range(1000, 2000), *range(1000)], row_group_size=1000)
    monkeypatch.setattr(steps, "_ROWS", 1000)
    monkeypatch.setattr(steps, "_least", lambda side, fragment, group: 1000 + group * 900)
    query = wr.scan(tmp_path).event_time("t").window(wr.TimeWindow(10)).agg(n=wf.count())
    with pytest.raises(WindrowError, match="statistics"):
        query.collect()
