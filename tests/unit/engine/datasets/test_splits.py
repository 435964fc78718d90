"""How a dataset is split into tasks."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from windrow.core.errors import WindrowError
from windrow.engine.datasets import splits
from windrow.engine.datasets.pieces import FilePiece, filter_of, pieces_of
from windrow.engine.datasets.scan import Scan
from windrow.engine.datasets.splits import Split, splits_of


def write(path: Path, first: int, rows: int, group: int) -> None:
    rng = np.random.default_rng(first)
    table = pa.table({"i": np.arange(first, first + rows), "noise": rng.random(rows)})
    pq.write_table(table, path, row_group_size=group)


def split(dataset: ds.Dataset, cores: int) -> list[Split]:
    scan = Scan(dataset.schema, ("i",), filter_of(dataset))
    return splits_of(scan, pieces_of(dataset), cores)


def numbers(parts: list[Split]) -> list[list[int]]:
    """The rows of each split, as a task that has been sent it reads them."""
    sent = [Split.unpack(part.pack()) for part in parts]
    return [[i for b in part.batches() for i in b["i"].to_pylist()] for part in sent]


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "_LEAST", 1000)


def test_a_large_file_is_cut_at_its_row_groups(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", 0, 12_000, group=500)
    read = numbers(split(ds.dataset(tmp_path), cores=2))
    assert [len(part) for part in read] == [2000] * 6
    assert list(chain(*read)) == list(range(12_000))


@pytest.mark.parametrize(("cores", "parts"), [(1, 1), (2, 2), (8, 4)])
@pytest.mark.parametrize(
    "condition", [None, pc.bit_wise_and(pc.field("i"), 3) != 1, pc.field("i") < 9000]
)
def test_one_large_row_group_is_cut_into_parts(
    tmp_path: Path, cores: int, parts: int, condition: ds.Expression | None
) -> None:
    write(tmp_path / "a.parquet", 0, 12_000, group=12_000)
    dataset = ds.dataset(tmp_path)
    dataset = dataset if condition is None else dataset.filter(condition)
    read = numbers(split(dataset, cores))
    assert list(chain(*read)) == dataset.to_table()["i"].to_pylist()
    assert len(read) == parts
    if condition is None:
        assert [len(part) for part in read] == [12_000 // parts] * parts


def test_one_row_group_is_left_whole_if_only_a_scanner_can_filter_it(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", 0, 12_000, group=12_000)
    (whole,) = split(ds.dataset(tmp_path).filter(pc.field(0) > 5), cores=2)
    assert sum(map(len, whole.batches())) == 11_994


def test_small_files_share_a_task(tmp_path: Path) -> None:
    for i in range(40):
        write(tmp_path / f"{i:02}.parquet", i * 10, 10, group=10)
    read = numbers(split(ds.dataset(tmp_path), cores=2))
    assert 4 <= len(read) <= 6
    assert list(chain(*read)) == list(range(400))


def test_files_of_all_sizes_give_even_tasks_in_order(tmp_path: Path) -> None:
    sizes = [10, 9_000, 10, 10, 3_000, 10]
    for i, first in enumerate(np.cumsum([0, *sizes[:-1]]).tolist()):
        write(tmp_path / f"{i}.parquet", first, sizes[i], group=300)
    read = numbers(split(ds.dataset(tmp_path), cores=2))
    assert list(chain(*read)) == list(range(sum(sizes)))
    assert 5 <= len(read) <= 7
    assert max(map(len, read)) < 3 * sum(sizes) / len(read)


def test_row_groups_that_a_filter_rules_out_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", 0, 12_000, group=500)
    dataset = ds.dataset(tmp_path).filter(pc.field("i") >= 11_800)
    parts = split(dataset, cores=2)
    groups = [p.row_groups for part in parts for p in part.pieces if isinstance(p, FilePiece)]
    assert groups == [(23,)]
    assert numbers(parts) == [list(range(11_800, 12_000))]


def test_tables_and_files_of_a_union_are_split_alike(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", 0, 6_000, group=500)
    table = pa.table({"i": np.arange(6_000, 12_000), "noise": np.zeros(6_000)})
    union = ds.dataset([ds.dataset(tmp_path / "a.parquet"), ds.dataset(table)])
    read = numbers(split(union, cores=2))
    assert len(read) > 4
    assert list(chain(*read)) == list(range(12_000))


def test_an_empty_dataset_has_no_split(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", 0, 10, group=500)
    dataset = ds.dataset(tmp_path)
    assert splits_of(Scan(dataset.schema, ("i",)), [], 2) == []


def test_files_that_only_this_process_can_open_are_refused() -> None:
    system = fs._MockFileSystem()
    with system.open_output_stream("a.parquet") as sink:
        pq.write_table(pa.table({"i": [1]}), sink)
    dataset = ds.dataset("a.parquet", filesystem=system)
    with pytest.raises(WindrowError, match="open the dataset's files by themselves"):
        split(dataset, cores=1)[0].pack()


def test_relative_paths_are_those_of_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks of Spark run in folders of their own."""
    for format in ("parquet", "csv"):
        (tmp_path / format / "k=1").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / format)
        table = pa.table({"x": [1, 2, 3]})
        ds.write_dataset(table, "k=1", format=format, basename_template="{i}." + format)
        dataset = ds.dataset(".", format=format, partitioning="hive")
        pieces = pieces_of(dataset)
        monkeypatch.chdir(tmp_path)
        assert [piece.path for piece in pieces if isinstance(piece, FilePiece)] == [
            str(tmp_path / format / "k=1" / f"0.{format}")
        ]
        scan = Scan(dataset.schema, ("x", "k"), None, frozenset())
        found = pa.Table.from_batches(scan.batches(pieces[0], use_threads=False))
        assert found.to_pydict() == {"x": [1, 2, 3], "k": [1, 1, 1]}
