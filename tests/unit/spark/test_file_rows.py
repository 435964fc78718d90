"""How the files of a stream's batch are divided into tasks and read, without Spark."""

from __future__ import annotations

import os
import tempfile
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
from hypothesis import given, settings
from hypothesis import strategies as st

from windrow.core.errors import WindrowError
from windrow.engine.datasets import splits
from windrow.engine.datasets.folder import Folder
from windrow.engine.datasets.scan import Scan
from windrow.spark.file_rows import ReadShare
from windrow.spark.slots import slots_in_order


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


def told(folder: Path, slot: int) -> list[pa.RecordBatch]:
    """What Spark tells a task of the files, in any order, in two batches."""
    files = [
        {
            "slot": slot,
            "path": f"file:{path}",
            "length": path.stat().st_size,
            "changed": path.stat().st_mtime_ns // 1_000_000,
        }
        for path in sorted(folder.iterdir())
    ]
    whole = pa.RecordBatch.from_pylist(files)
    return [whole.slice(0, 2), whole.slice(2)]


def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[Any]:
    return chain.from_iterable(batch["i"].to_pylist() for batch in batches)


def shares(folder: Path, kind: str = "parquet", tasks: int = 6) -> list[list[Any]]:
    """What each task reads."""
    dataset = ds.dataset(folder, format=kind)
    found = Folder.of(dataset, str(folder), is_partitioned=True)
    read = ReadShare(found, Scan(dataset.schema, ("i",)), tasks, rows)
    return [list(read(iter(told(folder, slot)))) for slot in slots_in_order(tasks)]


def test_tasks_read_even_shares_of_a_batch_the_oldest_file_first(folder: Path) -> None:
    read = shares(folder)
    assert list(chain(*read)) == list(range(5500))
    assert max(map(len, read)) <= 1500
    (whole,) = shares(folder, tasks=1)
    assert whole == list(range(5500))


def test_files_without_rows_are_left_out(folder: Path) -> None:
    for name in ("a", "z"):
        (folder / f"empty {name}.parquet").touch()
        os.utime(folder / f"empty {name}.parquet", (999, 999))
    pq.write_table(pa.table({"i": pa.array([], pa.int64())}), folder / "no rows.parquet")
    assert list(chain(*shares(folder))) == list(range(5500))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 60), max_size=4), min_size=1, max_size=6), st.integers(1, 7)
)
def test_each_row_is_read_once_and_in_order(files: list[list[int]], tasks: int) -> None:
    """Whatever the sizes of files and of their row groups are."""
    with tempfile.TemporaryDirectory() as path, pytest.MonkeyPatch.context() as patch:
        patch.setattr(splits, "_LEAST", 300)
        first = 0
        for i, groups in enumerate(files):
            place = Path(path) / f"{i}.parquet"
            with pq.ParquetWriter(place, pa.schema([("i", pa.int64())])) as writer:
                for size in groups:
                    writer.write_table(pa.table({"i": range(first, first + size)}))
                    first += size
            os.utime(place, (1000 + i, 1000 + i))
        assert list(chain(*shares(Path(path), tasks=tasks))) == list(range(first))


def test_a_batch_without_files_has_no_rows(tmp_path: Path) -> None:
    dataset = ds.FileSystemDataset(
        [], pa.schema([("i", pa.int64())]), ds.ParquetFileFormat(), pa.fs.LocalFileSystem()
    )
    found = Folder.of(dataset, str(tmp_path), is_partitioned=True)
    assert list(ReadShare(found, Scan(dataset.schema, ("i",)), 2, rows)(iter([]))) == []


def test_a_file_that_cannot_be_read_is_named(folder: Path) -> None:
    dataset = ds.dataset(folder)
    found = Folder.of(dataset, str(folder), is_partitioned=True)
    read = ReadShare(found, Scan(dataset.schema, ("i",)), 1, rows)
    before = told(folder, 0)
    path = folder / "f.parquet"
    whole = path.read_bytes()
    path.unlink()
    with pytest.raises(WindrowError, match=r"not found on host .*f\.parquet"):
        list(read(iter(before)))
    path.touch()
    with pytest.raises(
        WindrowError, match=r"has changed since Spark found it.*f\.parquet with 0 b"
    ):
        list(read(iter(before)))
    path.write_bytes(whole)
    with pytest.raises(WindrowError, match=r"has changed since Spark found it.*f\.parquet"):
        list(read(iter(before)))
    path.write_bytes(whole[:-20])
    with pytest.raises(WindrowError, match=r"cannot be read on host .*f\.parquet"):
        list(read(iter(told(folder, 0))))
    pq.write_table(pa.table({"i": ["text"]}), path)
    with pytest.raises(WindrowError, match=r"another type in column 'i'.*f\.parquet"):
        list(read(iter(told(folder, 0))))


@pytest.mark.parametrize("kind", ["ipc", "csv", "orc", "json"])
def test_files_of_other_formats_are_read(tmp_path: Path, kind: str) -> None:
    table = pa.table({"i": [1, 2, 3]})
    if kind == "json":
        (tmp_path / "a").write_text('{"i": 1}\n{"i": 2}\n{"i": 3}\n')
    elif kind == "orc":
        orc.write_table(table, tmp_path / "a")
    else:
        ds.write_dataset(table, tmp_path, format=kind)
    assert list(chain(*shares(tmp_path, kind))) == [1, 2, 3]
