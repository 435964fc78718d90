"""Streaming DataFrames over Parquet files: tasks read them if asked, as Spark's reader would."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.columns_of_every_type import READ, table_of_every_type
from tests.spark.arrivals import dropped, finished, results_of, start
from tests.spark.results import plain
from tests.spark.test_plain_scans import plain_rows, setting
from windrow import functions as wf
from windrow.engine.datasets import splits
from windrow.spark.file_rows import FileRows, ReadShare
from windrow.spark.plain_streams import plain_stream
from windrow.spark.settings import COLUMNAR_SCAN, COLUMNAR_STREAMS
from windrow.spark.slots import slots_in_order

pytestmark = pytest.mark.spark

ROWS = 200
BY_SPARK = "reads    with Spark's reader: "


@pytest.fixture(autouse=True, scope="module")
def small_tasks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splits, "_LEAST", 10_000)
        yield


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that Spark wrote, with INT96 timestamps, in folders that give columns."""
    folder = tmp_path_factory.mktemp("a b") / "ü%20é#&+;="
    rows = spark.range(0, ROWS, 1, 2).selectExpr(
        "id", "id % 3 as k", "timestamp_millis(id * 37 + 900) as t", "cast(id as string) as s",
        "if(id % 7 = 0, null, cast(id % 5 as int)) as x",
        "date_add(date'2024-01-01', cast(id as int)) as day", "array(id, null) as l",
        "cast(id % 2 as int) as p", "if(id % 4 = 0, null, concat('v ', id % 4, '/')) as q",
    )  # fmt: skip
    rows.repartition(1).write.partitionBy("p", "q").parquet(str(folder))
    (folder / "p=1" / "q=v 1%2F" / "empty.parquet").touch()
    return folder


def stream_of(spark: SparkSession, folder: Path, **options: Any) -> DataFrame:
    """The files of a folder as a stream, with the columns that Spark finds in them."""
    schema = spark.read.parquet(str(folder)).schema
    return spark.readStream.schema(schema).options(**options).parquet(str(folder))


def as_tasks_read(df: DataFrame, names: list[str], folder: Path) -> pa.Table:
    """What tasks hand to a query of the files in a folder, read here."""
    found = plain_stream(df, names, None)
    assert isinstance(found, FileRows), found
    batches: list[pa.RecordBatch] = []
    for slot in slots_in_order(2):
        files = [
            {
                "slot": slot,
                "path": f"file:{path}",
                "length": path.stat().st_size,
                "changed": path.stat().st_mtime_ns // 1_000_000,
            }
            for path in sorted(folder.rglob("*.parquet"))
        ]
        told = pa.RecordBatch.from_pylist(files)
        read = ReadShare(
            found.folder, found.scan, 2, lambda rows: rows, found.handing, found.admits
        )
        batches += read(iter([told]))
    return pa.Table.from_batches(batches)


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_columns_of_every_type_are_read_as_spark_reads_them(
    spark: SparkSession, written: Path, tmp_path: Path, zone: str
) -> None:
    """Also those that folders give, those that no file has, renamed and filtered ones."""
    pq.write_table(table_of_every_type(ROWS), tmp_path / "all.parquet", row_group_size=50)
    changes: dict[str, tuple[Path, Callable[[DataFrame], DataFrame]]] = {
        "Spark's": (written, lambda df: df),
        "PyArrow's": (tmp_path, lambda df: df.select("k", "t", "seq", *READ).drop("null")),
        "filtered": (written, lambda df: df.where("id > 20 and q = 'v 1/'").drop("l")),
        "renamed": (written, lambda df: df.selectExpr("x as id", "t", "id as `X`", "p")),
    }
    with setting(spark, "spark.sql.session.timeZone", zone):
        for name, (folder, change) in changes.items():
            df = change(stream_of(spark, folder))
            found = as_tasks_read(df, df.columns, folder)
            expected = change(spark.read.parquet(str(folder))).toArrow().cast(found.schema)
            assert plain_rows(found) == plain_rows(expected), name
    missing = spark.readStream.schema("id bigint, none string").parquet(str(tmp_path))
    assert as_tasks_read(missing, ["none"], tmp_path)["none"].null_count == ROWS


def test_the_options_that_choose_files_are_passed_on(spark: SparkSession, written: Path) -> None:
    options = {"maxFilesPerTrigger": "3", "latestFirst": "true", "maxFileAge": "2d"}
    found = plain_stream(stream_of(spark, written, mergeSchema=True, **options), ["id"], None)
    assert isinstance(found, FileRows)
    assert found.options == options
    assert "at most 3 per batch" in found.describe()


def test_whatever_is_not_certain_stays_with_spark(
    spark: SparkSession, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    df = stream_of(spark, written)
    marked = df.withWatermark("t", "1 second")
    folder = str(written)
    rows = [
        (spark.readStream.format("rate").load().selectExpr("value id"), "StreamingRelationV2"),
        (spark.readStream.schema("id int").json(folder), "the source is json"),
        (stream_of(spark, written, ignoreCorruptFiles=True), "option 'ignorecorruptfiles'"),
        (stream_of(spark, written, datetimeRebaseMode="LEGACY"), "option 'datetimerebasemode'"),
        (spark.readStream.schema("id int").parquet(f"{folder}/p=1*"), "a pattern of folders"),
        (df.withColumn("id", F.col("id") + 1), "only Spark computes"),
        (df.withColumn("id", F.col("_metadata.file_size")), "_metadata"),
        (df.where("t > timestamp'2000-01-01'"), "a filter has a timestamp"),
        (df.where("s like '%5'"), "in a filter"),
        (df.select("id").distinct(), "Deduplicate"),
        (marked, "another column than the event time has a watermark"),
        (marked.where("t > timestamp'2000-01-01'"), "behind the watermark"),
    ]
    for given, why in rows:
        found = plain_stream(given, ["id"], None)
        assert isinstance(found, str), why
        assert why.lower() in found.lower(), found
    windows = wr.stream(df).event_time("t").window(wr.TimeWindow("1 s")).agg(n=wf.count())

    def said() -> str:
        windows.explain()
        lines = capsys.readouterr().out.splitlines()
        return next(line for line in lines if line.startswith("reads"))

    assert said() == f"{BY_SPARK}{COLUMNAR_STREAMS} is not true"
    with setting(spark, COLUMNAR_STREAMS, "true"):
        assert said().startswith("reads    files in ")
        with setting(spark, COLUMNAR_SCAN, "false"):
            assert said() == f"{BY_SPARK}{COLUMNAR_SCAN} is not true"


def test_late_rows_and_watermarks_are_the_same_with_either_reader(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A watermark that the DataFrame has is used, and the delay of the query is not."""
    schema = pa.schema([("k", pa.string()), ("t", pa.timestamp("us", "UTC")), ("x", pa.int64())])
    times: list[list[int | None]] = [
        [5_000, 900_000],
        [2_000_000, 3_000, None],
        [1_000_001, 999_000, 4_000_000],
        [1_000],
    ]
    for i, each in enumerate(times):
        rows = [{"k": "ab"[n % 2], "t": t, "x": n} for n, t in enumerate(each)]
        pq.write_table(pa.Table.from_pylist(rows, schema), tmp_path / f"{i}.parquet")
        os.utime(tmp_path / f"{i}.parquet", (1000 + i, 1000 + i))  # they come in this order
    reader = spark.readStream.schema("k string, t timestamp, x bigint")
    files = reader.option("maxFilesPerTrigger", 1).parquet(str(tmp_path))
    df = files.where("x >= 0").withWatermark("t", "500 milliseconds")

    def results() -> Any:
        query = wr.stream(df.withColumnRenamed("k", "key")).key_by("key").event_time("t", "1 hour")
        windows = query.window(wr.TimeWindow("1 s", "500 ms")).agg(n=wf.count(), s=wf.sum("x"))
        ended = finished(lambda: start(windows.using(wr.KeyFarm(2)).to_df(), at_once=True))
        found = results_of(ended, spark)
        watermarks = [p.eventTime["watermark"] for p in ended.recentProgress]
        rows = sorted(str(plain(row)) for row in found.collect())
        return found.schema.simpleString(), rows, dropped(ended), watermarks

    expected = results()
    with setting(spark, COLUMNAR_STREAMS, "true"):
        assert results() == expected
    assert len(expected[1]) > 3
    assert expected[2] > 1
