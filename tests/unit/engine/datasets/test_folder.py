"""Files that appear in a folder become pieces to read."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from windrow.core.errors import WindrowError
from windrow.engine.datasets.folder import Folder
from windrow.engine.datasets.scan import Scan

SCHEMA = pa.schema([("x", pa.int64()), ("day", pa.int32()), ("place", pa.string())])


def folder_at(path: Path | str, *, is_partitioned: bool = True) -> Folder:
    dataset = ds.FileSystemDataset([], SCHEMA, ds.ParquetFileFormat(), fs.LocalFileSystem())
    return Folder.of(dataset, str(path), is_partitioned=is_partitioned)


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("/in", "file:/in/a=1/b c.parquet"),
        ("/in/", "file:///in/a=1/b c.parquet"),
        ("/in", "hdfs://in/in/a=1/b c.parquet"),
        ("/in", "hdfs://host:8020/in/a=1/b c.parquet"),
        ("bucket/in", "s3a://bucket/in/a=1/b c.parquet"),
        ("box/in", "abfss://box@account.dfs.core.windows.net/in/a=1/b c.parquet"),
    ],
)
def test_names_of_files_are_what_is_behind_the_folder(path: str, address: str) -> None:
    assert folder_at(path).name_of(address) == "a=1/b c.parquet"


def test_a_file_elsewhere_is_refused() -> None:
    with pytest.raises(WindrowError, match=r"must be in /in; got file:/inner/a\.parquet"):
        folder_at("/in").name_of("file:/inner/a.parquet")


def test_folders_below_give_columns_and_those_above_do_not(tmp_path: Path) -> None:
    root = tmp_path / "day=7"
    names = ["day=1/place=a%20b/f.parquet", "day=__HIVE_DEFAULT_PARTITION__/f.parquet", "f.parquet"]
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"x": [5]}), root / name)
    scan = Scan(SCHEMA, ("x", "day", "place"))
    found = [b.to_pylist() for p in folder_at(root).pieces(names) for b in scan.batches(p)]
    assert found == [
        [{"x": 5, "day": 1, "place": "a b"}],
        [{"x": 5, "day": None, "place": None}],
        [{"x": 5, "day": None, "place": None}],
    ]
    (plain,) = folder_at(root, is_partitioned=False).pieces(names[:1])
    (batch,) = scan.batches(plain)
    assert batch.to_pylist() == [{"x": 5, "day": None, "place": None}]


def test_a_missing_file_and_a_wrong_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(WindrowError, match=r"not found on host .*gone\.parquet"):
        folder_at(tmp_path).pieces(["gone.parquet"])
    with pytest.raises(
        WindrowError, match=r"values of the column's type; got .*day=one/f\.parquet"
    ):
        folder_at(tmp_path).pieces(["day=one/f.parquet"])
