"""Files on other file systems: a stand-in for S3, and one that only a driver has."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from moto.server import ThreadedMotoServer
from pyarrow import fs
from pyspark.sql import SparkSession

import windrow as wr
from windrow import functions as wf
from windrow.api.file_streams import FileStreamSource
from windrow.spark.file_rows import ReadShare

pytestmark = pytest.mark.spark

TABLE = pa.table({"k": ["a", "b", "a", "b", "a"], "x": [1, 2, 3, 4, 5]})


@pytest.fixture(scope="module")
def s3() -> Iterator[fs.S3FileSystem]:
    """A bucket with files in folders that give a column, known to PyArrow in this process."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        system = fs.S3FileSystem(
            access_key="test",
            secret_key="test",
            region="us-east-1",
            scheme="http",
            endpoint_override=f"{host}:{port}",
            allow_bucket_creation=True,
        )
        for p in (1, 2):
            system.create_dir(f"bucket/in/p={p}")
            pq.write_table(TABLE, f"bucket/in/p={p}/0.parquet", filesystem=system)
        yield system
    server.stop()


def windows(query: wr.Query) -> wr.Query:
    return query.key_by("k").window(wr.CountWindow(4)).agg(s=wf.sum("x"))


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    columns = ["k", "window_id", "s"]
    return sorted(tuple(row[name] for name in columns) for row in table.to_pylist())


def test_files_in_a_bucket_are_read_in_process_and_by_tasks(
    spark: SparkSession, s3: fs.S3FileSystem
) -> None:
    by_system = wr.scan("bucket/in", filesystem=s3)
    expected = [("a", 0, 10), ("a", 1, 8), ("b", 0, 12)]
    for query in (by_system, wr.scan("s3://bucket/in")):
        assert rows_of(windows(query).collect()) == expected
    # Tasks get the file system with its credentials.
    assert rows_of(windows(by_system).to_df(spark).toArrow()) == expected
    filtered = wr.scan("bucket/in", filesystem=s3, filter=pc.field("p") == 2)
    assert rows_of(windows(filtered).to_df(spark).toArrow()) == [("a", 0, 9), ("b", 0, 6)]


def test_a_bucket_that_cannot_be_read_is_named(s3: fs.S3FileSystem) -> None:
    with pytest.raises(wr.WindrowError, match=r"scan cannot read parquet files; got s3://other/in"):
        wr.scan("s3://other/in")
    query = windows(wr.scan("bucket/in", filesystem=s3))
    denied = PermissionError("AccessDenied")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pq.ParquetFile, "__init__", raising(denied))
        with pytest.raises(wr.WindrowError, match=r"bucket/in/p=1/0.parquet: AccessDenied") as told:
            query.collect()
    assert "credentials that PyArrow finds there" in str(told.value)


def raising(error: Exception) -> Any:
    def fail(*arguments: Any, **options: Any) -> None:
        raise error

    return fail


def test_files_that_spark_finds_in_a_bucket_are_read_by_their_names(
    spark: SparkSession, s3: fs.S3FileSystem
) -> None:
    source = wr.scan_stream(spark, "s3a://bucket/in").source
    assert isinstance(source, FileStreamSource)
    assert source.address == "s3a://bucket/in"
    assert source.types == {"k": "string", "x": "bigint", "p": "int"}
    told = [
        {
            "slot": 0,
            "path": f"s3a://bucket/in/p={p}/0.parquet",
            "length": s3.get_file_info(f"bucket/in/p={p}/0.parquet").size,
            "changed": -p,
        }
        for p in (1, 2)
    ]
    share = ReadShare(source.folder, source.files.scan, 1, lambda batches: batches)
    read: Any = list(share(iter([pa.RecordBatch.from_pylist(told)])))
    assert pa.Table.from_batches(read)["p"].to_pylist() == [2] * 5 + [1] * 5
    with pytest.raises(wr.WindrowError, match="PyArrow must know the folder's file system"):
        wr.scan_stream(spark, "abc://bucket/in")


class OfTheDriver(fs.FileSystemHandler):  # type: ignore[misc]
    """A local disk that only the process that made it can reach."""

    def __init__(self) -> None:
        self.pid, self.disk = os.getpid(), fs.LocalFileSystem()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OfTheDriver)

    def __reduce__(self) -> Any:
        return _of_the_driver, (self.pid,)

    def get_type_name(self) -> str:
        return "driver"

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: list[str]) -> Any:
        if self.pid != os.getpid():
            return [fs.FileInfo(path, fs.FileType.NotFound) for path in paths]
        return self.disk.get_file_info(paths)

    def open_input_file(self, path: str) -> Any:
        return self.disk.open_input_file(path)

    def open_input_stream(self, path: str) -> Any:
        return self.disk.open_input_stream(path)

    def _refused(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError

    get_file_info_selector = create_dir = delete_dir = delete_dir_contents = _refused
    delete_root_dir_contents = delete_file = move = copy_file = _refused
    open_output_stream = open_append_stream = _refused


def _of_the_driver(pid: int) -> OfTheDriver:
    made = OfTheDriver()
    made.pid = pid
    return made


def test_a_file_that_only_the_driver_reaches_is_named_with_a_hint(
    spark: SparkSession, tmp_path: Any
) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    system = fs.PyFileSystem(OfTheDriver())
    format = ds.ParquetFileFormat()
    fragment = format.make_fragment(str(tmp_path / "a.parquet"), system)
    dataset = ds.FileSystemDataset([fragment], TABLE.schema, format, system)
    query = windows(wr.stream(dataset))
    assert rows_of(query.collect()) == [("a", 0, 9), ("b", 0, 6)]
    with pytest.raises(Exception, match=r"not found on host .*a\.parquet") as told:
        query.to_df(spark).collect()
    assert "this host cannot reach it: executors need a file system" in str(told.value)
