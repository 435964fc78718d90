"""How the files of a stream's batch are divided into tasks and read, without Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from windrow.core.errors import WindrowError
from windrow.engine.datasets import splits
from windrow.engine.datasets.folder import Folder
from windrow.engine.datasets.scan import Scan
from windrow.spark.file_rows import PlanSplits
from windrow.spark.slots import slots_in_order
from windrow.spark.splits import ReadPlanned

CORES = 2


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "_LEAST", 1000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six files, one of them large. The last by name are the oldest, the newest are of one time."""
    draw = np.random.default_rng(1)
    first = 0
    for place, name in enumerate("fedcab"):
        rows = 4000 if name == "d" else 300
        table = pa.table({"i": np.arange(first, first + rows), "noise": draw.random(rows)})
        path = tmp_path / f"{name}.parquet"
        pq.write_table(table, path, row_group_size=500)
        changed = 1000 + min(place, 4)
        os.utime(path, (changed, changed))
        first += rows
    return tmp_path


def names(folder: Path) -> list[pa.RecordBatch]:
    """What Spark tells of the files, in any order, in two batches."""
    told = [(int(p.stat().st_mtime * 1e6), f"file:{p}") for p in sorted(folder.iterdir())]
    changed, paths = zip(*told, strict=True)
    whole = pa.record_batch([changed, paths], names=["changed", "path"])
    return [whole.slice(0, 2), whole.slice(2)]


def planned(folder: Path, kind: str = "parquet") -> list[tuple[int, pa.RecordBatch]]:
    """The slot of each task and what it is sent."""
    dataset = ds.dataset(folder, format=kind)
    plan = PlanSplits(
        Folder.of(dataset, str(folder), is_partitioned=True), Scan(dataset.schema, ("i",)), CORES
    )
    (sent,) = plan(iter(names(folder)))
    return [(sent.column(0)[i].as_py(), sent.slice(i, 1)) for i in range(len(sent))]


def read(sent: pa.RecordBatch) -> list[Any]:
    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[Any]:
        return chain.from_iterable(batch["i"].to_pylist() for batch in batches)

    return list(ReadPlanned(rows)(iter([sent])))


def test_tasks_read_even_shares_of_a_batch_the_oldest_file_first(folder: Path) -> None:
    tasks = planned(folder)
    assert 4 <= len(tasks) <= 6
    assert [slot for slot, _ in tasks] == slots_in_order(6)[: len(tasks)]
    shares = [read(sent) for _, sent in tasks]
    assert list(chain(*shares)) == list(range(5500))
    assert max(map(len, shares)) <= 1500


def test_a_file_of_no_size_at_the_end_needs_no_task_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(splits, "_size", lambda piece: float(piece.path[-1] != "m"))
    for name in "abcdefghijklm":
        pq.write_table(pa.table({"i": [ord(name)]}), tmp_path / name)
        os.utime(tmp_path / name, (1000, 1000))
    monkeypatch.setattr(splits, "_LEAST", 0.001)
    tasks = planned(tmp_path)
    assert {slot for slot, _ in tasks} == set(slots_in_order(6))
    assert [i for _, sent in tasks for i in read(sent)] == [ord(name) for name in "abcdefghijklm"]


def test_a_batch_without_files_needs_no_task(tmp_path: Path) -> None:
    dataset = ds.FileSystemDataset(
        [], pa.schema([("i", pa.int64())]), ds.ParquetFileFormat(), pa.fs.LocalFileSystem()
    )
    found = Folder.of(dataset, str(tmp_path), is_partitioned=True)
    (sent,) = PlanSplits(found, Scan(dataset.schema, ("i",)), CORES)(iter([]))
    assert len(sent) == 0


def test_a_file_that_cannot_be_read_is_named(folder: Path) -> None:
    tasks = [sent for _, sent in planned(folder)]
    path = folder / "f.parquet"
    whole = path.read_bytes()
    path.unlink()
    with pytest.raises(WindrowError, match=r"not found on host .*f\.parquet"):
        read(tasks[0])
    path.write_bytes(whole[:-20])
    os.utime(path, (1000, 1000))
    with pytest.raises(WindrowError, match=r"cannot be read on host .*f\.parquet"):
        read(planned(folder)[0][1])
    pq.write_table(pa.table({"i": ["text"]}), path)
    os.utime(path, (1000, 1000))
    with pytest.raises(WindrowError, match=r"another type in column 'i'.*f\.parquet"):
        read(planned(folder)[0][1])


@pytest.mark.parametrize("kind", ["ipc", "csv", "orc", "json"])
def test_files_of_other_formats_are_read(tmp_path: Path, kind: str) -> None:
    table = pa.table({"i": [1, 2, 3]})
    if kind == "json":
        (tmp_path / "a").write_text('{"i": 1}\n{"i": 2}\n{"i": 3}\n')
    elif kind == "orc":
        orc.write_table(table, tmp_path / "a")
    else:
        ds.write_dataset(table, tmp_path, format=kind)
    (task,) = planned(tmp_path, kind)
    assert read(task[1]) == [1, 2, 3]
