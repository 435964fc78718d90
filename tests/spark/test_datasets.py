"""Datasets on Spark: tasks read the files and give what Spark's own reader would have given."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, Observation, SparkSession

import windrow as wr
from tests.columns_of_every_type import READ, table_of_every_type
from tests.spark.results import plain
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.engine.datasets import splits
from windrow.spark import splits as tasks
from windrow.spark.readers import scan_of

pytestmark = pytest.mark.spark

COUNTED: WindowModel = wr.CountWindow(5, 2)
SLIDING: WindowModel = wr.TimeWindow(20, 10)


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "_LEAST", 10_000)


def rows_of(df: DataFrame) -> list[Any]:
    return sorted(str(plain(row)) for row in df.collect())


def fields(df: DataFrame) -> list[tuple[str, str]]:
    return [(f.name, f.dataType.simpleString()) for f in df.schema.fields]


def write(folder: Path, table: pa.Table, files: int = 3, **options: Any) -> Path:
    """Files of different row groups, in two folders that give a column, one of them empty."""
    size = -(-len(table) // files)
    for i in range(files + 1):
        path = folder / f"p={i % 2}" / f"{i}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        part = table.slice(i * size, size)
        pq.write_table(part, path, row_group_size=1 + 40 * i, **options)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("files"), table_of_every_type(300))


def both(spark: SparkSession, folder: Path) -> tuple[ds.Dataset, DataFrame]:
    return ds.dataset(folder, partitioning="hive"), spark.read.parquet(str(folder))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Rome"])
def test_columns_of_every_type_are_those_of_sparks_reader(
    spark: SparkSession, folder: Path, zone: str
) -> None:
    functions = {f"last_{name}": wf.last(name) for name in READ}
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        found, expected = (
            wr.stream(data).key_by("p", "k").event_time("t").order_by("seq").window(COUNTED)
            .agg(**functions).using(wr.KeyFarm(2)).to_df()
            for data in both(spark, folder)
        )  # fmt: skip
        assert fields(found) == fields(expected)
        assert rows_of(found) == rows_of(expected)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_keys_of_many_types_are_those_of_sparks_reader(spark: SparkSession, folder: Path) -> None:
    keys = ["uint64", "dictionary", "fixed_binary", "instant_ms", "decimal256", "struct", "null"]
    found, expected = (
        wr.stream(data).key_by("p", *keys).event_time("t").window(SLIDING)
        .agg(n=wf.count(), total=wf.sum("seq")).using(wr.KeyFarm(2)).to_df()
        for data in both(spark, folder)
    )  # fmt: skip
    assert fields(found) == fields(expected)
    assert rows_of(found) == rows_of(expected)


def test_the_chosen_pattern_over_a_dataset_equals_sparks_own_aggregation(
    spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset, df = both(spark, folder)
    for keys in (["k"], ["dictionary"], []):
        queries = [
            wr.stream(data).key_by(*keys) if keys else wr.stream(data) for data in (dataset, df)
        ]
        found, expected = (
            q.event_time("t").window(SLIDING).agg(n=wf.count(), total=wf.sum("int16"))
            for q in queries
        )
        assert rows_of(found.to_df(spark)) == rows_of(expected.to_df())
    found.explain()
    said = capsys.readouterr().out
    assert "reads    4 files: columns int16, t of 41" in said
    assert "tasks read with PyArrow" in said


def test_filters_open_windows_and_dropped_rows(spark: SparkSession, tmp_path: Path) -> None:
    table = pa.table(
        {"t": pa.array([None, *range(0, 60_000, 1000)], pa.timestamp("us")), "x": range(61)}
    )
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=7)
    dataset = ds.dataset(tmp_path).filter((pc.field("x") < 40) | (pc.field("x") > 50))
    df = spark.read.parquet(str(tmp_path)).filter("x < 40 or x > 50")
    results, dropped = [], [Observation(), Observation()]
    for data, lost in zip((dataset, df), dropped, strict=True):
        query = wr.stream(data).event_time("t", delay="5 ms")
        query = query.window(wr.TimeWindow("4 ms", "2 ms"), open_windows="drop")
        query = query.agg(n=wf.count(), total=wf.sum("x")).using(wr.WinFarm(2))
        results.append(rows_of(query.to_df(observation=lost)))
    assert results[0] == results[1]
    assert [lost.get for lost in dropped] == [{"dropped": 1}] * 2


def test_rows_without_a_time_are_counted_in_joins_of_scanned_sides(
    spark: SparkSession, tmp_path: Path
) -> None:
    times = pa.array([None, 0, 1000, None, 2000], pa.timestamp("us"))
    pq.write_table(pa.table({"t": times, "x": range(5)}), tmp_path / "a.parquet")
    frame = spark.read.parquet(str(tmp_path))
    assert "PyArrow" in scan_of(frame, ["x"], "t").reads
    for sides in ((frame, frame), (wr.scan(str(tmp_path)), frame)):
        lost = Observation()
        joined = wr.join(*sides, within="1 ms", on=wr.equi("x"), time="t")
        assert len(joined.to_df(spark, observation=lost).collect()) == 3
        assert lost.get == {"dropped": 4}


def test_files_that_spark_wrote_are_read_as_spark_reads_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path / "written")
    written = spark.range(0, 5000, 1, 3).selectExpr(
        "id % 3 as k", "timestamp_millis(id * 37 - 90000) as t", "id", "id % 2 as p",
        "timestampadd(MICROSECOND, id, timestamp_ntz'1970-01-01') as n",
    )  # fmt: skip
    written.write.partitionBy("p").parquet(path)
    found, expected = (
        wr.stream(data).key_by("k", "p").event_time("t").window(wr.TimeWindow("2 s", "1 s"))
        .agg(n=wf.count(), t=wf.max("t"), last=wf.max("n")).using(wr.KeyFarm(2)).to_df()
        for data in (ds.dataset(path, partitioning="hive"), spark.read.parquet(path))
    )  # fmt: skip
    assert fields(found) == fields(expected)
    assert rows_of(found) == rows_of(expected)


def test_rows_arrive_in_order_of_files_and_rows(spark: SparkSession, folder: Path) -> None:
    dataset, _ = both(spark, folder)
    query = wr.stream(dataset).window(wr.CountWindow(50)).agg(seqs=wf.collect("seq"))
    found = query.using(wr.WinSeq()).ordered().to_df(spark).collect()
    expected = dataset.to_table(columns=["seq"])["seq"].to_pylist()
    assert [seq for row in found for seq in row["seqs"]] == expected


def test_joins_of_datasets_and_dataframes(spark: SparkSession, folder: Path) -> None:
    dataset, df = both(spark, folder)
    columns = ["k", "t", "seq", "dictionary", "uint64", "p"]
    few = ds.dataset(dataset.to_table(columns=columns))
    rows = df.select(*columns)

    def pairs(left: Any, right: Any) -> list[Any]:
        on = wr.equi("k") & wr.band(seq=20)
        join = wr.join(left, right, within="3 us", on=on, time="t", how="full_outer")
        return rows_of(join.to_df(spark))

    expected = pairs(rows, rows)
    assert pairs(few, few) == expected
    assert pairs(few, rows) == expected
    assert pairs(rows, few) == expected


def test_large_tables_in_memory_are_sent_to_the_tasks_that_read_them(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, df = both(spark, folder)
    few = ds.dataset(dataset.to_table(columns=["k", "t", "seq"]))

    def results(data: Any) -> list[Any]:
        rows = wr.stream(data).key_by("k").window(wr.CountWindow(7, 2)).agg(s=wf.collect("seq"))
        return rows_of(rows.using(wr.KeyFarm(2)).to_df(spark))

    monkeypatch.setattr(splits, "_LEAST", 500)
    by_all = results(few)
    monkeypatch.setattr(tasks, "_MOST_TO_ALL", 0)
    placed = wr.stream(few).window(wr.CountWindow(300)).agg(s=wf.collect("seq"))
    (row,) = placed.using(wr.WinSeq()).to_df(spark).collect()
    assert row["s"] == dataset.to_table(columns=["seq"])["seq"].to_pylist()
    assert results(few) == by_all
    query = wr.stream(df).key_by("k").event_time("t").window(SLIDING).agg(n=wf.count("seq"))
    found = rows_of(query.using(wr.KeyFarm(2)).to_df())
    assert found == rows_of(query.to_df())


def test_a_dataset_is_not_joined_with_a_stream_or_a_table_with_a_dataframe(
    spark: SparkSession, folder: Path
) -> None:
    dataset, df = both(spark, folder)
    few = ds.dataset(dataset.to_table(columns=["k", "t"]))
    stream = spark.readStream.schema("k bigint, t timestamp").parquet(str(folder))
    with pytest.raises(wr.WindrowError, match="cannot be joined with a stream"):
        wr.join(few, stream, within="3 us", on=wr.equi("k"), time="t")
    with pytest.raises(wr.WindrowError, match="both sides of a join"):
        wr.join(few.to_table(), df, within="3 us", on=wr.equi("k"), time="t")


def test_an_empty_dataset_gives_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": pa.array([], pa.int64())}), tmp_path / "a.parquet")
    dataset = ds.dataset(tmp_path)
    for data in (dataset, dataset.filter(pc.field("x") > 1)):
        query = wr.stream(data).window(wr.CountWindow(2)).agg(n=wf.count())
        assert query.to_df(spark).collect() == []


def refused(query: wr.Query, spark: SparkSession, target: Path) -> str:
    """What the user is told when the results are written; nothing of them may be left."""
    df = query.to_df(spark)
    with pytest.raises(Exception, match="WindrowError") as failed:
        df.write.parquet(str(target))
    assert not list(target.rglob("*.parquet"))
    return str(failed.value)


def test_files_that_go_or_change_before_they_are_read_are_named(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    query = wr.scan(copy).key_by("k").event_time("t").window(SLIDING).agg(n=wf.count())
    gone, other = copy / "p=1" / "1.parquet", copy / "p=0" / "0.parquet"
    first, second = query.to_df(spark), query.to_df(spark)
    content = gone.read_bytes()
    gone.write_bytes(content[:-100])
    told = refused(query, spark, tmp_path / "results")
    assert "cannot be read on host" in told
    assert "1.parquet" in told
    gone.unlink()
    with pytest.raises(Exception, match=r"not found on host .*1\.parquet"):
        first.collect()
    gone.write_bytes(content)
    shutil.rmtree(tmp_path / "results", ignore_errors=True)
    with pytest.raises(Exception, match=r"has changed since the query was planned; got .*1\.parq"):
        second.collect()
    pq.write_table(pa.table({"k": ["text"], "t": [1]}), other)
    told = refused(query, spark, tmp_path / "results")
    assert "has another type in column 'k'" in told
    assert "0.parquet" in told


def test_the_session_is_given_or_active(spark: SparkSession, folder: Path) -> None:
    query = wr.scan(folder).window(COUNTED).agg(n=wf.count())
    wrong: Any = 3
    with pytest.raises(wr.WindrowError, match="first argument of to_df is a Spark session"):
        query.to_df(wrong)
    over_df = wr.stream(spark.range(5)).window(COUNTED).agg(n=wf.count())
    for same in (spark, SparkSession.getActiveSession()):
        assert over_df.to_df(same).columns == over_df.to_df().columns
    with pytest.raises(wr.WindrowError, match="the DataFrame's own session"):
        over_df.to_df(spark.newSession())
