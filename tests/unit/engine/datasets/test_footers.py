"""Footers tell whether PyArrow certainly reads a file as Spark's reader does."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests.columns_of_every_type import READ, table_of_every_type
from tests.encrypted import write_encrypted
from windrow.engine.datasets.footers import Wanted, int96_of_certain
from windrow.engine.datasets.pieces import FilePiece, pieces_of

INSTANT = pa.timestamp("us", "UTC")
MOMENTS = pa.array([dt.datetime(2024, 1, 1)], INSTANT)
NANOSECONDS = MOMENTS.cast(pa.timestamp("ns", "UTC"))
DAYS = pa.array([dt.date(1500, 1, 1)])


def of_spark(version: str, **more: str) -> dict[str, str]:
    return {"org.apache.spark.version": version, **more}


def looked_at(
    folder: Path,
    tables: list[Any],
    wanted: pa.DataType,
    *,
    metadata: dict[str, str] | None = None,
    is_calendar_kept: bool = True,
    of_folders: frozenset[str] = frozenset(),
    **options: Any,
) -> frozenset[str] | str:
    """What is found about column ``a`` of files of these columns."""
    for i, columns in enumerate(tables):
        table = pa.table(columns).replace_schema_metadata(metadata)
        pq.write_table(table, folder / f"{i}.parquet", **options)
    pieces = [p for p in pieces_of(ds.dataset(folder)) if isinstance(p, FilePiece)]
    schema = pa.schema([("a", wanted)])
    return int96_of_certain(pieces, Wanted(schema, of_folders, is_calendar_kept, False))


@pytest.mark.parametrize("name", [name for name in READ if name != "null"])
def test_every_type_that_spark_reads_is_certain(tmp_path: Path, name: str) -> None:
    table = table_of_every_type(20).select([name]).rename_columns(["a"])
    assert looked_at(tmp_path, [table] * 5, READ[name][1]) == frozenset()


def test_a_column_that_some_files_lack_is_certain(tmp_path: Path) -> None:
    assert looked_at(tmp_path, [{"a": [1]}, {"b": [1]}], pa.int64()) == frozenset()


def test_old_timestamps_are_instants(tmp_path: Path) -> None:
    found = looked_at(tmp_path, [{"a": MOMENTS}], INSTANT, use_deprecated_int96_timestamps=True)
    assert found == frozenset("a")
    naive = pa.timestamp("us")
    assert "not surely timestamp_ntz" in looked_at(
        tmp_path, [{"a": MOMENTS}], naive, use_deprecated_int96_timestamps=True
    )


def test_old_and_new_timestamps_together_are_uncertain(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"a": MOMENTS}), tmp_path / "z.parquet", use_deprecated_int96_timestamps=True
    )
    assert "as INT96, others have not" in looked_at(tmp_path, [{"a": MOMENTS}], INSTANT)


UNCERTAIN: dict[str, tuple[dict[str, Any], pa.DataType, dict[str, Any], str]] = {
    "another case": ({"A": [1]}, pa.int64(), {}, "under another name"),
    "both cases": ({"a": [1], "A": [1]}, pa.int64(), {}, "under another name or twice"),
    "also of folders": (
        {"a": [1]}, pa.int64(), {"of_folders": frozenset("a")}, "under another name or twice",
    ),
    "narrower": ({"a": pa.array([1], pa.int32())}, pa.int64(), {}, "of int32, which is not"),
    "wider": ({"a": [1]}, pa.int32(), {}, "of int64, which is not surely int"),
    "zoned": ({"a": MOMENTS}, pa.timestamp("us"), {}, "not surely timestamp_ntz"),
    "nanoseconds": ({"a": NANOSECONDS}, INSTANT, {}, "of timestamp[ns, tz=UTC]"),
    "old lists": (
        {"a": [[1]]}, pa.list_(pa.int64()), {"use_compliant_nested_type": False}, "not surely",
    ),
    "Spark 2": ({"a": DAYS}, pa.date32(), {"metadata": of_spark("2.4.5")}, "Julian"),
    "Spark 3.0": ({"a": DAYS}, pa.date32(), {"metadata": of_spark("3.0.1")}, "Julian"),
    "days of another calendar": (
        {"a": DAYS},
        pa.date32(),
        {"metadata": of_spark("4.0.0", **{"org.apache.spark.legacyDateTime": ""})},
        "Julian",
    ),
    "a setting for other writers": (
        {"a": DAYS}, pa.date32(), {"is_calendar_kept": False}, "Julian",
    ),
    "days in a list": (
        {"a": pa.array([DAYS.to_pylist()])},
        pa.list_(pa.date32()),
        {"is_calendar_kept": False},
        "Julian",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(UNCERTAIN))
def test_what_spark_could_read_otherwise_is_uncertain(tmp_path: Path, name: str) -> None:
    columns, wanted, options, why = UNCERTAIN[name]
    found = looked_at(tmp_path, [columns], wanted, **options)
    assert isinstance(found, str)
    assert why in found


def test_files_of_todays_spark_are_certain_under_any_setting(tmp_path: Path) -> None:
    found = looked_at(
        tmp_path, [{"a": DAYS}], pa.date32(), metadata=of_spark("4.1.0"), is_calendar_kept=False
    )
    assert found == frozenset()


def test_a_file_that_cannot_be_read_is_uncertain(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "0.parquet")
    pieces = [p for p in pieces_of(ds.dataset(tmp_path)) if isinstance(p, FilePiece)]
    (tmp_path / "0.parquet").write_bytes(b"PAR1 and no more")
    found = int96_of_certain(
        pieces, Wanted(pa.schema([("a", pa.int64())]), frozenset(), True, False)
    )
    assert isinstance(found, str)
    assert "cannot be read" in found


def test_a_file_with_encrypted_columns_is_uncertain(tmp_path: Path) -> None:
    write_encrypted(tmp_path / "0.parquet", plaintext_footer=True)
    pieces = [p for p in pieces_of(ds.dataset(tmp_path)) if isinstance(p, FilePiece)]
    wanted = Wanted(pa.schema([("t", pa.int64())]), frozenset(), True, False)
    assert "encrypted" in int96_of_certain(pieces, wanted)
