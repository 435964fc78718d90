"""Which files of a stream tasks read, where Spark's reader would have read them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from windrow.core.errors import WindrowError
from windrow.engine.datasets.folder import Folder
from windrow.engine.datasets.footers import Wanted
from windrow.engine.datasets.scan import Scan
from windrow.spark.certain_files import CertainFiles

DECLARED = pa.schema([("i", pa.int64()), ("t", pa.timestamp("us", "UTC")), ("p", pa.string())])
GOOD = pa.table({"i": [1], "t": pa.array([5], pa.timestamp("us", "UTC"))})


def rows_of(folder: Path, table: pa.Table, name: str, is_int96: bool = False) -> list[object]:
    """The rows of a file that is the only one of a batch."""
    path = folder / name
    path.parent.mkdir(parents=True)
    pq.write_table(table, path, use_deprecated_int96_timestamps=is_int96)
    hive = ds.partitioning(pa.schema([DECLARED.field("p")]), flavor="hive")
    found = Folder(fs.LocalFileSystem(), str(folder), ds.ParquetFileFormat(), hive)
    wanted = Wanted(DECLARED, frozenset(["p"]), is_calendar_kept=True, is_filtered=False)
    pieces = found.pieces([name])
    scan = CertainFiles(wanted).scan(Scan(DECLARED, ("i", "t", "p")), pieces, [name])
    return [row for piece in pieces for batch in scan.batches(piece) for row in batch.to_pylist()]


@pytest.mark.parametrize("is_int96", [False, True])
@pytest.mark.parametrize(
    ("value", "p"), [("x", "x"), ("a%3Ab", "a:b"), ("__HIVE_DEFAULT_PARTITION__", None)]
)
def test_timestamps_of_both_kinds_and_values_of_folders_are_read(
    tmp_path: Path, is_int96: bool, value: str, p: str | None
) -> None:
    found = rows_of(tmp_path, GOOD, f"p={value}/1.parquet", is_int96)
    assert found == [{"i": 1, "t": datetime(1970, 1, 1, 0, 0, 0, 5, UTC), "p": p}]


@pytest.mark.parametrize(
    ("table", "name", "why"),
    [
        (GOOD, "P=x/1.parquet", "no folder of P=x/1.parquet tells column 'p'"),
        (GOOD, "p=%C3%BC/1.parquet", "column 'p' in the folders of .* is encoded"),
        (GOOD.rename_columns(["I", "t"]), "p=x/1.parquet", "has column 'i' under another name"),
        (GOOD.set_column(0, "i", pa.array([1], pa.int32())), "p=x/1.parquet", "not surely bigint"),
    ],
)
def test_a_file_that_spark_could_read_otherwise_stops_the_stream(
    tmp_path: Path, table: pa.Table, name: str, why: str
) -> None:
    with pytest.raises(WindrowError, match=why) as e:
        rows_of(tmp_path, table, name)
    assert "set spark.windrow.columnarStreams to false" in str(e.value)


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    folder = Folder(fs.LocalFileSystem(), str(tmp_path), ds.CsvFileFormat(), None)
    assert folder.pieces(["empty.csv"]) == []
