"""Reading the pieces of a dataset: formats, columns, and files that are not as they should be."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

import windrow as wr
from tests.columns_of_every_type import REFUSED
from tests.encrypted import write_encrypted
from windrow import functions as wf
from windrow.api import datasets

TABLE = pa.table({"k": ["a", "b", "a", "b"], "t": [30, 10, 40, 20], "x": [1, 2, 3, 4]})

DAY = pa.field("day", pa.string())


def write_json(table: pa.Table, path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


WRITE: dict[str, Callable[[pa.Table, Path], Any]] = {
    "parquet": pq.write_table,
    "ipc": pa.feather.write_feather,
    "orc": pa.orc.write_table,
    "csv": pa.csv.write_csv,
    "json": write_json,
}


def windows(query: wr.Query) -> list[dict[str, Any]]:
    query = query.key_by("k").event_time("t").window(wr.CountWindow(2))
    found: list[dict[str, Any]] = query.agg(xs=wf.collect("x")).ordered().collect().to_pylist()
    return found


EXPECTED = windows(wr.stream(TABLE))


@pytest.mark.parametrize("format", WRITE)
def test_every_format_is_read(tmp_path: Path, format: str) -> None:
    WRITE[format](TABLE.slice(0, 3), tmp_path / f"0.{format}")
    WRITE[format](TABLE.slice(3), tmp_path / f"1.{format}")
    assert windows(wr.scan(tmp_path, format)) == EXPECTED
    assert windows(wr.scan([tmp_path / f"{i}.{format}" for i in range(2)], format)) == EXPECTED


def test_options_of_a_format_are_kept(tmp_path: Path) -> None:
    options = pa.csv.WriteOptions(delimiter=";")
    pa.csv.write_csv(TABLE, tmp_path / "a.csv", options)
    format = ds.CsvFileFormat(parse_options=pa.csv.ParseOptions(delimiter=";"))
    assert windows(wr.scan(tmp_path, format)) == EXPECTED


def test_tables_in_memory_and_unions_are_datasets(tmp_path: Path) -> None:
    pq.write_table(TABLE.slice(0, 2), tmp_path / "a.parquet")
    union = ds.dataset([ds.dataset(tmp_path), ds.dataset(TABLE.slice(2))])
    assert windows(wr.stream(union)) == EXPECTED
    assert windows(wr.stream(ds.dataset(TABLE))) == EXPECTED


def test_filters_and_files_on_other_file_systems(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet", row_group_size=1)
    system = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    found = wr.scan("a.parquet", filesystem=system, filter=pc.field("k") == "a")
    assert windows(found) == [row for row in EXPECTED if row["k"] == "a"]


FILTERS = {
    "a column that is read": pc.field("x") > 2,
    "a column that is not read": pc.field("k") == "a",
    "a folder's column": (pc.field("p") == 2) | (pc.field("x") == 1),
    "a part of a column": pc.field("s", "a") <= 2,
    "a column that some file lacks": pc.field("late").is_null() & (pc.field("x") != 3),
    "a column by number": pc.field(0) == "b",
    "no column": pc.scalar(True),
    "no row": pc.field("x") > 9,
    "a row group only": pc.field("t") > 30,
}


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("at_once", [True, False])
def test_filters_keep_the_rows_that_pyarrow_keeps(tmp_path: Path, name: str, at_once: bool) -> None:
    table = TABLE.append_column("s", pa.array([{"a": x} for x in (1, 2, None, 4)]))
    for p, part in ((1, table), (2, table.append_column("late", table["x"]))):
        (tmp_path / f"p={p}").mkdir()
        pq.write_table(part, tmp_path / f"p={p}" / "0.parquet", row_group_size=3)
    schema = part.schema.append(pa.field("p", pa.int32()))
    dataset = ds.dataset(tmp_path, schema, partitioning="hive").filter(FILTERS[name])
    source = datasets.DatasetSource(dataset)
    scan = source.reading(["x", "t"], None)
    batches = [b for piece in source.pieces for b in scan.batches(piece, at_once=at_once)]
    found = pa.Table.from_batches(batches, scan.schema)
    assert found.to_pylist() == dataset.to_table(columns=["x", "t"]).to_pylist()


def test_dictionaries_are_filtered(tmp_path: Path) -> None:
    codes = TABLE.set_column(0, "k", TABLE["k"].dictionary_encode())
    for name in ("p=u", "p=v"):
        (tmp_path / name).mkdir()
        pq.write_table(codes, tmp_path / name / "0.parquet")
    folders = ds.HivePartitioning.discover(infer_dictionary=True)
    dataset = ds.dataset(tmp_path, partitioning=folders)
    assert pa.types.is_dictionary(dataset.schema.field("p").type)
    dataset = dataset.filter((pc.field("p") != "u") & (pc.field("k") == "a"))
    assert windows(wr.stream(dataset)) == [row for row in EXPECTED if row["k"] == "a"]


def test_rows_with_views_are_filtered(tmp_path: Path) -> None:
    views = TABLE.set_column(0, "k", TABLE["k"].cast(pa.string_view()))
    pq.write_table(views, tmp_path / "a.parquet")
    found = wr.scan(tmp_path / "a.parquet", filter=pc.field("x") != 2)
    expected = wr.stream(TABLE.filter(pc.field("x") != 2))
    assert windows(found) == windows(expected)


def test_an_encrypted_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    format = write_encrypted(path, plaintext_footer=False)
    with pytest.raises(wr.WindrowError, match=r"cannot be read on host .*a\.parquet: .*encrypted"):
        windows(wr.scan(path, format))


@pytest.mark.parametrize("has_filter", [False, True])
def test_a_file_with_encrypted_columns_is_named(tmp_path: Path, has_filter: bool) -> None:
    path = tmp_path / "a.parquet"
    write_encrypted(path, plaintext_footer=True)
    dataset = ds.dataset(path)
    found = wr.stream(dataset.filter(pc.field("x") > 1) if has_filter else dataset)
    with pytest.raises(wr.WindrowError, match=r"encrypted columns are left to .*a\.parquet"):
        windows(found)


def test_columns_that_a_file_lacks_are_null_or_told_by_its_folder(tmp_path: Path) -> None:
    for name, table in (("p=1", TABLE), ("p=2", TABLE.drop_columns("x"))):
        (tmp_path / name).mkdir()
        pq.write_table(table, tmp_path / name / "a.parquet")
    query = wr.scan(tmp_path).key_by("p").window(wr.CountWindow(9)).agg(xs=wf.collect("x"))
    rows = query.ordered().collect().select(["p", "xs"]).to_pylist()
    assert rows == [{"p": 1, "xs": [1, 2, 3, 4]}, {"p": 2, "xs": []}]
    per_folder = wr.scan(tmp_path).key_by("p").window(wr.CountWindow(3)).agg(n=wf.count())
    assert per_folder.ordered().collect()["n"].to_pylist() == [3, 1, 3, 1]


def test_fragments_may_bound_their_columns_as_those_of_delta_tables_do(tmp_path: Path) -> None:
    format, system = ds.ParquetFileFormat(), fs.LocalFileSystem()
    fragments = []
    for i in range(2):
        part = TABLE.slice(2 * i, 2).drop_columns("k")
        pq.write_table(part, tmp_path / f"{i}.parquet")
        low, high = pc.min_max(part["x"]).values()
        bounds = (ds.field("x") >= low) & (ds.field("x") <= high) & (ds.field("k") == "ab"[i])
        fragments.append(format.make_fragment(str(tmp_path / f"{i}.parquet"), system, bounds))
    dataset = ds.FileSystemDataset(fragments, TABLE.schema, format, system)
    query = wr.stream(dataset).key_by("k").window(wr.CountWindow(2)).agg(s=wf.sum("x"))
    assert query.ordered().collect()["s"].to_pylist() == [3, 7]
    filtered = wr.stream(dataset.filter(ds.field("x") > 3)).window(wr.CountWindow(2))
    assert filtered.agg(s=wf.sum("x")).collect()["s"].to_pylist() == [4]


def test_only_needed_columns_are_read(tmp_path: Path) -> None:
    pq.write_table(TABLE.append_column("h", pa.array([1.0] * 4, pa.float16())), tmp_path / "a.pq")
    assert windows(wr.scan(tmp_path / "a.pq")) == EXPECTED
    counted = wr.scan(tmp_path / "a.pq").window(wr.CountWindow(3)).agg(n=wf.count())
    assert counted.collect()["n"].to_pylist() == [3, 1]


@pytest.mark.parametrize("name", REFUSED)
def test_types_without_a_reader_in_spark_are_refused(name: str) -> None:
    table = pa.table({"k": [1], "h": pa.nulls(1, REFUSED[name])})
    query = wr.stream(ds.dataset(table))
    with pytest.raises(wr.WindrowError, match="Spark has no type for column 'h'"):
        query.key_by("h")
    with pytest.raises(wr.WindrowError, match="'h'"):
        query.window(wr.CountWindow(2)).agg(n=wf.count("h"))
    with pytest.raises(wr.WindrowError, match="'h'"):
        query.window(wr.CountWindow(2)).apply(lambda w: {"n": 1}, "n int")
    with pytest.raises(wr.WindrowError, match="'h'"):
        wr.join(ds.dataset(table), ds.dataset(table), within=2, on=wr.equi("k"))


def test_nanoseconds_are_refused_as_keys() -> None:
    query = wr.stream(ds.dataset(pa.table({"t": pa.array([1], pa.timestamp("ns"))})))
    with pytest.raises(wr.WindrowError, match="must not have nanoseconds"):
        query.key_by("t")
    query.event_time("t")


def test_old_timestamps_are_instants_even_far_from_now(tmp_path: Path) -> None:
    times = pa.array([-(10**16), 0, 10**17], pa.timestamp("us"))
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"t": times}), path, use_deprecated_int96_timestamps=True)
    query = wr.scan(path).event_time("t").window(wr.TimeWindow("1 s")).agg(last=wf.last("t"))
    found = query.collect()
    assert found.schema.field("last").type == pa.timestamp("us", "UTC")
    assert sorted(found["last"].cast(pa.int64()).to_pylist()) == [-(10**16), 0, 10**17]
    positive = wr.scan(path, filter=pc.field("t") > pc.scalar(0).cast(pa.timestamp("us")))
    kept = positive.event_time("t").window(wr.TimeWindow("1 s")).agg(last=wf.last("t")).collect()
    assert kept["last"].cast(pa.int64()).to_pylist() == [10**17]


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    longer = pa.table({"k": ["a"] * 99, "t": range(99), "x": range(99)})
    pq.write_table(longer, tmp_path / "b.parquet")
    dataset = ds.dataset(tmp_path)
    os.truncate(tmp_path / "b.parquet", 700)
    with pytest.raises(wr.WindrowError, match=r"cannot be read on host .*b\.parquet"):
        windows(wr.stream(dataset))


def test_a_damaged_page_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"k": ["a"] * 999, "t": range(999), "x": range(999)}), path)
    content = bytearray(path.read_bytes())
    content[300:3000] = bytes(2700)
    path.write_bytes(bytes(content))
    with pytest.raises(wr.WindrowError, match=r"cannot be read on host .*a\.parquet"):
        windows(wr.scan(path))


@pytest.mark.parametrize("format", ["parquet", "ipc", "orc"])
def test_a_column_of_another_type_in_one_file_is_named(tmp_path: Path, format: str) -> None:
    WRITE[format](TABLE, tmp_path / f"a.{format}")
    other = TABLE.set_column(2, "x", pa.array([1.0, 2.0, 3.0, 4.0]))
    WRITE[format](other, tmp_path / f"b.{format}")
    with pytest.raises(wr.WindrowError, match=r"'x'; got double in .*b\."):
        windows(wr.scan(tmp_path, format))


@pytest.mark.parametrize("format", ["csv", "json"])
def test_text_where_other_files_have_numbers_is_named(tmp_path: Path, format: str) -> None:
    WRITE[format](TABLE, tmp_path / f"a.{format}")
    WRITE[format](TABLE.set_column(2, "x", pa.array(list("1b34"))), tmp_path / f"b.{format}")
    query = wr.scan(tmp_path, format)
    with pytest.raises(wr.WindrowError, match=r"cannot be read on host .*/b\."):
        windows(query)


def test_a_narrower_column_in_one_file_is_widened(tmp_path: Path) -> None:
    pq.write_table(TABLE.slice(0, 2), tmp_path / "a.parquet")
    narrow = TABLE.slice(2).set_column(2, "x", pa.array([3, 4], pa.int8()))
    pq.write_table(narrow, tmp_path / "b.parquet")
    assert windows(wr.scan(tmp_path)) == EXPECTED


def test_a_file_with_julian_days_is_left_to_spark(tmp_path: Path) -> None:
    table = pa.table({"d": pa.array([1], pa.date32()), "x": [1]})
    table = table.replace_schema_metadata({"org.apache.spark.legacyDateTime": ""})
    pq.write_table(table, tmp_path / "a.parquet")
    query = wr.scan(tmp_path).window(wr.CountWindow(2))
    with pytest.raises(wr.WindrowError, match="Julian calendar"):
        query.agg(d=wf.max("d")).collect()
    assert query.agg(n=wf.sum("x")).collect()["n"].to_pylist() == [1]


def test_a_deleted_file_is_named(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    query = wr.scan(tmp_path)
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(wr.WindrowError, match=r"not found on host .*a\.parquet"):
        windows(query)


def test_paths_that_cannot_be_scanned_are_refused(tmp_path: Path) -> None:
    with pytest.raises(wr.WindrowError, match="nowhere"):
        wr.scan(tmp_path / "nowhere.parquet")
    with pytest.raises(wr.WindrowError, match="scan has no such format; got 'xml'"):
        wr.scan(tmp_path, "xml")
    (tmp_path / "empty").mkdir()
    with pytest.raises(wr.WindrowError, match="at least one file"):
        wr.scan(tmp_path / "empty")


def test_explain_says_what_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other tests of this process may have left a Spark session.
    monkeypatch.setattr(datasets, "_active_session", lambda: None)
    pq.write_table(TABLE, tmp_path / "a.parquet")
    query = wr.scan(tmp_path, filter=pc.field("x") > 1).window(wr.CountWindow(2))
    query.agg(s=wf.sum("x")).explain()
    said = capsys.readouterr().out
    assert "reads    1 file: columns x of 3 where (x > 1), batch by batch" in said


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary("int8", "string")])
@pytest.mark.parametrize("has_dictionary", [True, False])
def test_strings_given_as_codes_are_the_same_strings(
    tmp_path: Path, kind: pa.DataType, has_dictionary: bool
) -> None:
    names = pa.array(["a", None, "b", "a", "", None, "c", "b"]).cast(kind)
    (tmp_path / "day=x").mkdir()
    table = pa.table({"k": names, "x": range(8)})
    path = tmp_path / "day=x" / "0.parquet"
    pq.write_table(table, path, use_dictionary=has_dictionary, row_group_size=3)
    pq.write_table(table.drop_columns("k"), tmp_path / "day=x" / "1.parquet")
    dataset = ds.dataset(tmp_path, partitioning="hive", schema=table.schema.append(DAY))
    for each in (dataset, dataset.filter(pc.field("x") > 2)):
        source = datasets.DatasetSource(each)
        plain = source.reading(["k", "x", "day"], None)
        encoded = plain.encoding(plain.columns)
        assert encoded.encoded == {"k", "day"}
        for piece in source.pieces:
            found = pa.Table.from_batches(encoded.batches(piece))
            assert pa.types.is_dictionary(found["k"].type)
            assert found.cast(plain.schema).equals(pa.Table.from_batches(plain.batches(piece)))
