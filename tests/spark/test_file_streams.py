"""Streams of files that tasks read: they give what Spark's own file source would have given."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.errors.exceptions.base import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import windrow as wr
from tests.spark.arrivals import dropped, finished, results_of, start
from tests.spark.test_plain_scans import setting
from windrow import functions as wf
from windrow.spark.settings import COLUMNAR_STREAMS

pytestmark = pytest.mark.spark

SCHEMA = "k string, t timestamp, seq bigint, x bigint, ballast binary, day int"
DELAY = "2500 us"
FILES = 6
ROWS = 60
PER_BATCH = 2


def table(number: int, rows: int = ROWS) -> pa.Table:
    """Rows whose times grow from file to file, with disorder, ties, nulls and late rows.

    The ballast makes a file so large that several tasks share a batch.
    """
    draw = np.random.default_rng(number)
    times = 10_000 * number + draw.integers(0, 14_000, rows)
    times[draw.random(rows) < 0.1] -= 40_000
    unknown = draw.random(rows) < 0.05
    return pa.table(
        {
            "k": pa.array([("a", "b", None)[i] for i in draw.integers(0, 3, rows)], pa.string()),
            "t": pa.array(10**12 + times // 1000 * 1000, pa.timestamp("us", "UTC"), mask=unknown),
            "seq": number * rows + np.arange(rows),
            "x": draw.integers(0, 50, rows),
            "ballast": pa.array([draw.bytes(100_000) for _ in range(rows)]),
        }
    )


def put(path: Path, made: pa.Table, changed: int) -> None:
    """A file that appears at once, with the time by which Spark takes files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    hidden = path.with_name(f".{path.name}")
    pq.write_table(made, hidden, row_group_size=20)
    os.utime(hidden, (changed, changed))
    hidden.rename(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files in folders that give a column; one of them lacks a column."""
    path = tmp_path_factory.mktemp("files")
    for i in range(FILES):
        made = table(i)
        put(
            path / f"day={i % 3}" / f"{i}.parquet",
            made.drop_columns("x") if i == 3 else made,
            1000 + i,
        )
    return path


def frame(spark: SparkSession, folder: Path) -> wr.Query:
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", PER_BATCH)
    return wr.stream(reader.parquet(str(folder)))


def scanned(spark: SparkSession, folder: Path) -> wr.Query:
    return wr.scan_stream(spark, folder, max_files_per_trigger=PER_BATCH)


def chained(rows: wr.Query) -> DataFrame:
    """A query with late rows, and another one behind it."""
    sliding = rows.key_by("k").event_time("t", DELAY).window(wr.TimeWindow("10 ms", "5 ms"))
    functions = {"n": wf.count(), "s": wf.sum("x"), "days": wf.count_distinct("day")}
    first = sliding.agg(**functions).using(wr.KeyFarm(2)).to_df(observation="first")
    behind = wr.stream(first).event_time("window_end").window(wr.TimeWindow("10 ms"))
    sums = {name: wf.sum(name) for name in functions}
    results = behind.agg(**sums).using(wr.WinSeq()).to_df(observation="second")
    return results.select(F.unix_micros("window_start").alias("place"), *functions)


def told(query: StreamingQuery) -> dict[str, Any]:
    """What a stream has dropped, and how its watermark moved."""
    metrics = {name: dropped(query, name) for name in ("first", "second")}
    return {**metrics, "watermarks": [p.eventTime["watermark"] for p in query.recentProgress]}


def test_results_late_rows_and_watermarks_are_those_of_sparks_reader(
    spark: SparkSession, folder: Path
) -> None:
    """In order of arrival, rows come in the order of files and of rows in them."""
    rows = scanned(spark, folder)
    arrived = rows.window(wr.CountWindow(40)).agg(first=wf.first("seq"), s=wf.sum("seq"))
    counted = arrived.using(wr.WinSeq()).to_df(observation="arrived")
    place = (-1 - F.col("window_id")).alias("place")
    both = chained(rows).unionAll(counted.select(place, "first", "s", F.lit(0)))
    theirs = finished(lambda: start(chained(frame(spark, folder)), at_once=True))
    ours = finished(lambda: start(both, at_once=True))
    expected = sorted(results_of(theirs, spark).collect())
    found = sorted(results_of(ours, spark).collect())
    firsts = [tuple(row) for row in found if row["place"] < 0]
    assert firsts == [
        (-1 - i, 40 * i, sum(range(40 * i, 40 * i + 40)), 0)
        for i in reversed(range(FILES * ROWS // 40))
    ]
    assert found[len(firsts) :] == expected
    assert len(expected) > 3
    assert told(ours) == told(theirs)
    assert told(theirs)["first"] > 0
    assert len(told(theirs)["watermarks"]) == FILES // PER_BATCH + 1


def test_a_stream_goes_on_from_its_checkpoint_when_a_bad_file_is_repaired(
    spark: SparkSession, tmp_path: Path
) -> None:
    """It was begun with Spark's reader, whose checkpoint has the same names of files.

    It goes on with each of the readers: the tasks of ``scan_stream``, those that a setting lets
    read a DataFrame's files, until a file comes that only Spark's reader reads, and Spark's again.
    """
    small = [table(i).drop_columns("ballast") for i in range(5)]

    def results(rows: wr.Query) -> DataFrame:
        timed = rows.event_time("t", "1 hour").order_by("seq").window(wr.TimeWindow("20 ms"))
        return timed.agg(seqs=wf.collect("seq")).using(wr.WinSeq()).to_df()

    folder, checkpoint, out = tmp_path / "in", tmp_path / "checkpoint", tmp_path / "out"

    def run(rows: wr.Query) -> None:
        writer = results(rows).writeStream.option("checkpointLocation", str(checkpoint))
        finished(lambda: writer.trigger(availableNow=True).start(str(out)))

    for i in range(2):
        put(folder / f"{i}.parquet", small[i], 1000 + i)
    run(frame(spark, folder))
    put(folder / "2.parquet", small[2], 1002)
    bad = folder / "3.parquet"
    put(bad, small[3], 1003)
    bad.write_bytes(bad.read_bytes()[:-30])
    # Spark ignores files that are a week older than others.
    os.utime(bad, (1003, 1003))
    with pytest.raises(StreamingQueryException, match=r"cannot be read on host .*3\.parquet"):
        run(scanned(spark, folder))
    put(bad, small[3], 1003)
    # A row that closes all windows. For Spark, case does not tell names apart.
    end = pa.table({"T": pa.array([2 * 10**13], pa.timestamp("us", "UTC")), "seq": [10**6]})
    put(folder / "4.parquet", end, 1004)
    with (
        setting(spark, COLUMNAR_STREAMS, "true"),
        pytest.raises(
            StreamingQueryException, match=r"4\.parquet has column 't' under another name"
        ),
    ):
        run(frame(spark, folder))
    run(frame(spark, folder))
    given = spark.read.parquet(str(out)).select(F.explode("seqs")).collect()
    known = pa.concat_tables(small[:4])
    expected = known.filter(pc.is_valid(known["t"]))["seq"].to_pylist()
    assert sorted(seq for (seq,) in given) == expected


def test_what_cannot_be_a_stream_of_files_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("t", pa.int64())])
    good: dict[str, Any] = {"spark": spark, "folder": tmp_path, "schema": schema}
    odd = tmp_path / "a[1]"
    odd.mkdir()
    for wrong, message in {
        ("spark", 3): "the first argument of scan_stream is a Spark session; got 3",
        ("folder", 3): "scan_stream folder must be a path",
        ("folder", tmp_path / "none"): r"takes a folder, which must exist; got .*none",
        ("folder", odd): "must not contain",
        ("folder", "nope://bucket/folder"): "PyArrow must know the folder's file system",
        ("format", "nope"): "scan has no such format",
        ("max_files_per_trigger", 0): "must be a positive number of files",
        ("partitioning", "nope"): 'must be "hive" or None',
        ("schema", None): "needs a file to take the columns from",
    }.items():
        with pytest.raises(wr.WindrowError, match=message):
            wr.scan_stream(**{**good, wrong[0]: wrong[1]})
    query = wr.scan_stream(**good).event_time("t").window(wr.TimeWindow(5)).agg(n=wf.count())
    with pytest.raises(wr.WindrowError, match="a stream of files"):
        query.collect()
    with pytest.raises(wr.WindrowError, match="the stream's own session"):
        query.to_df(spark.newSession())


def test_explain_says_which_files_are_read(
    spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query = scanned(spark, folder).key_by("k").event_time("t").window(wr.TimeWindow("1 s"))
    query.agg(n=wf.count()).explain()
    said = capsys.readouterr().out
    assert f"reads    files in file:{folder}, at most 2 per batch: columns k, t of 6" in said
    assert "as a stream" in said
