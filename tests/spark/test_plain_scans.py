"""DataFrames that are plain scans: tasks read their files, and give what Spark's reader gives."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ArithmeticException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

import windrow as wr
from tests.columns_of_every_type import READ, table_of_every_type
from tests.effort import examples
from tests.properties.test_datasets_match_tables import files
from tests.spark.results import plain
from windrow import functions as wf
from windrow.engine.datasets import splits
from windrow.spark.plain_scans import plain_scan
from windrow.spark.settings import COLUMNAR_SCAN
from windrow.spark.splits import SplitRows, handed

pytestmark = pytest.mark.spark

ROWS = 200
BY_SPARK = "reads    with Spark's reader: "
READ_AS = {kind: read for kind, read, _ in READ.values()}
SLIDING = wr.TimeWindow("200 ms", "100 ms")


@pytest.fixture(autouse=True, scope="module")
def small_tasks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splits, "_LEAST", 10_000)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that PyArrow wrote with columns of every type, in folders that give a column."""
    folder = tmp_path_factory.mktemp("a b") / "ü%20é#&+;="
    table = table_of_every_type(ROWS)
    for i in range(4):
        path = folder / f"p={i % 2}" / f"part {i}%.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        part = table.slice(i * 60, 60)
        pq.write_table(part, path, row_group_size=1 + 20 * i)
    return folder


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that Spark wrote, with INT96 timestamps, in folders that give columns."""
    folder = tmp_path_factory.mktemp("spark") / "files"
    rows = spark.range(0, ROWS, 1, 2).selectExpr(
        "id", "id % 3 as k", "timestamp_millis(id * 37 - 900) as t", "cast(id as string) as s",
        "if(id % 7 = 0, null, cast(id % 5 as int)) as x", "id % 2 = 0 as b", "id / 3d as d",
        "date_add(date'1969-12-20', cast(id as int)) as day",
        "timestampadd(MICROSECOND, id, timestamp_ntz'1970-01-01') as n",
        "named_struct('a', id, 'l', array(id, null)) as nested", "map('a', id) as m",
        "cast(id % 2 as int) as p", "if(id % 4 = 0, null, concat('v ', id % 4, '/')) as q",
        "date_add(date'2024-01-01', cast(id % 3 as int)) as r",
    )  # fmt: skip
    rows.repartition(1).write.partitionBy("p", "q", "r").parquet(str(folder))
    return folder


def plain_rows(table: pa.Table) -> list[str]:
    return sorted(map(str, table.to_pylist()))


def as_tasks_read(df: DataFrame, names: list[str]) -> pa.Table:
    """What tasks hand to a query, read here; the DataFrame must be a plain scan."""
    found = plain_scan(df, names)
    assert isinstance(found, SplitRows), found
    batches = list(handed(found.splits, found.handing))
    schema = batches[0].schema if batches else None
    return pa.Table.from_batches(batches, schema).select(names) if schema else pa.table({})


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    before = spark.conf.get(name, None)
    spark.conf.set(name, value)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, before)


def with_and_without(spark: SparkSession, run: Callable[[], Any]) -> tuple[Any, Any]:
    """What a program gives where tasks read files themselves, and with Spark's reader."""
    found = run()
    with setting(spark, COLUMNAR_SCAN, "false"):
        return found, run()


def said(query: wr.Query | wr.Join, capsys: pytest.CaptureFixture[str]) -> str:
    """The line of explain that says who reads the rows."""
    capsys.readouterr()
    query.explain()
    lines = capsys.readouterr().out.splitlines()
    return next(line for line in lines if line.startswith("reads"))


def query_over(df: DataFrame, *columns: str) -> wr.Query:
    """A query that needs these columns."""
    functions = {f"v_{name}": wf.collect(name) for name in columns or df.columns}
    return wr.stream(df).window(wr.CountWindow(1)).agg(**functions)


FILTERS = [
    "id > 5 and 150 >= id",
    "id in (3, 4, 99, null)",
    "id not in (3, 4, 99)",
    "x not in (1, 2)",
    "id in (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15)",
    "x not in (1,12,13,14,15,16,17,18,19,20,21,22,23)",
    "x = 3 or x is null",
    "not (x = 3)",
    "x <=> 3",
    "b",
    "not b",
    "s >= '15' and s < '19' or s in ('1', '2')",
    "day between date'1970-01-01' and date'1970-02-01'",
    "t > timestamp'1970-01-01 00:00:01.5Z'",
    "t in (timestamp'1970-01-01 00:00:00.025Z', timestamp'1970-01-01 00:00:00.062Z')",
    "n <= timestamp_ntz'1970-01-01 00:00:00.00007'",
    "p = 1 and q is not null",
    "q is null or q = 'v 1/'",
    "q in ('v 1/', 'v 2/') and id < 90 and r > date'2024-01-01'",
    "p = 5",
    "d is not null and id > 3",
]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_filters_keep_the_rows_that_spark_keeps(
    spark: SparkSession, written: Path, zone: str
) -> None:
    df = spark.read.parquet(str(written))
    with setting(spark, "spark.sql.session.timeZone", zone):
        kept = df.selectExpr("id", *(f"{text} as f{i}" for i, text in enumerate(FILTERS)))
        rows = kept.toArrow().to_pylist()
        for i, text in enumerate(FILTERS):
            found = as_tasks_read(df.filter(text).select("id"), ["id"])
            ids = sorted(found["id"].to_pylist()) if found.num_columns else []
            assert ids == sorted(row["id"] for row in rows if row[f"f{i}"]), text


MADE = [
    "cast(tiny as int)", "cast(x as bigint)", "tiny + 3Y", "x - 5", "7 + x", "id - (-9L)",
    "cast(x as bigint) + 3", "timestamp_seconds(x)", "timestamp_millis(id)", "timestamp_micros(x)",
    "timestamp_millis(id * 2)", "cast(day as timestamp_ntz)", "cast(day as timestamp)",
    "timestamp_micros(id + 4)", "p + 1",
]  # fmt: skip


def test_columns_that_are_made_of_others_are_those_that_spark_makes(
    spark: SparkSession, written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = spark.read.parquet(str(written)).withColumn("tiny", F.expr("cast(id % 100 as tinyint)"))
    rows.write.partitionBy("p").parquet(str(tmp_path / "files"))
    df = spark.read.parquet(str(tmp_path / "files"))
    for zone, left in (("UTC", {10}), ("America/New_York", {10, 12})):
        with setting(spark, "spark.sql.session.timeZone", zone):
            columns = [F.expr(made).alias(f"m{i}") for i, made in enumerate(MADE)]
            ours = df.select("id", *(c for i, c in enumerate(columns) if i not in left))
            found = as_tasks_read(ours, ours.columns)
            assert list(map(str, found.schema.types)) == types_handed_over(ours)
            assert plain_rows(found) == plain_rows(ours.toArrow().cast(found.schema))
            for i in left:
                assert isinstance(plain_scan(df.select(columns[i]), [f"m{i}"]), str)
    keyed = wr.stream(df).key_by((F.col("x") + 1).alias("k1"))
    query = keyed.event_time(F.timestamp_millis("id")).window(SLIDING).agg(n=wf.count())
    assert "(x + 1), timestamp_millis(id) of them; " in said(query, capsys)
    found, expected = with_and_without(
        spark, lambda: sorted(map(str, query.using(wr.KeyFarm(2)).to_df().collect()))
    )
    assert found == expected


@pytest.mark.parametrize("made", ["id + 1", "id - (-1L)", "timestamp_seconds(id)"])
def test_overflows_of_made_columns_are_errors(
    spark: SparkSession, tmp_path: Path, made: str
) -> None:
    pq.write_table(pa.table({"id": [2**63 - 1]}), tmp_path / "a.parquet")
    df = spark.read.parquet(str(tmp_path)).select(F.expr(made).alias("m"))
    with pytest.raises((ArithmeticException, Py4JJavaError), match="overflow"):
        df.collect()
    with pytest.raises(wr.WindrowError, match="must be in the range of its type"):
        as_tasks_read(df, ["m"])
    with setting(spark, "spark.sql.ansi.enabled", "false"):
        wrapping = spark.read.parquet(str(tmp_path)).select(F.expr(made).alias("m"))
        is_sum = "timestamp" not in made
        assert isinstance(plain_scan(wrapping, ["m"]), str) == is_sum


def types_handed_over(df: DataFrame) -> list[str]:
    """The Arrow types in which Spark hands the columns to Python."""

    def types(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch({"types": [list(map(str, batch.schema.types))]})

    found: list[str] = df.mapInArrow(types, "types array<string>").collect()[0][0]
    return found


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_columns_of_every_type_are_handed_over_as_spark_does(
    spark: SparkSession, written: Path, folder: Path, zone: str
) -> None:
    with setting(spark, "spark.sql.session.timeZone", zone):
        for path, names in ((written, None), (folder, ["p", "k", "t", "seq", *READ])):
            df = spark.read.parquet(str(path))
            names = [n for n in names or df.columns if n != "null"]
            found = as_tasks_read(df, names)
            assert list(map(str, found.schema.types)) == types_handed_over(df.select(*names))
            # Only instants differ: to Python they come in the time zone of the session.
            expected = df.select(*names).toArrow().cast(found.schema)
            assert plain_rows(found) == plain_rows(expected)


def write_files(folder: Path, made: Any, is_int96: bool) -> None:
    """Files of the tables; Spark reads nanoseconds as INT96 only."""
    tables, groups, names = made
    is_int96 = is_int96 or tables[0].schema.field("t").type.unit == "ns"
    for i, (table, group, name) in enumerate(zip(tables, groups, names, strict=True)):
        path = folder / name / f"{i}.parquet"
        path.parent.mkdir(exist_ok=True)
        pq.write_table(table, path, row_group_size=group, use_deprecated_int96_timestamps=is_int96)


@examples(25)
@given(files(), st.booleans(), st.sampled_from([None, "x > 0", "k is null or k = 'a'", "p <> 1"]))
def test_random_files_are_read_as_spark_reads_them(
    spark: SparkSession, made: Any, is_int96: bool, condition: str | None
) -> None:
    tables = made[0]
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), made, is_int96)
        df = spark.read.parquet(folder)
        df = df if condition is None else df.filter(condition)
        kind = tables[0].schema.field("v").type
        # Spark's reader keeps some nested columns, of other types than Spark's, beside a filter.
        is_kept = condition is not None and pa.types.is_nested(kind) and kind != READ_AS[kind]
        wanted = [n for n in df.columns if n != "v" or not (is_kept or kind == pa.null())]
        assert plain_rows(as_tasks_read(df, wanted)) == plain_rows(df.select(*wanted).toArrow())


def same_through_queries(spark: SparkSession, made: Any, other: Any, is_int96: bool) -> None:
    """Windows and joins give the same rows with either reader, and over the dataset."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        write_files(Path(one), made, is_int96)
        write_files(Path(two), other, is_int96)
        kind = made[0][0].schema.field("v").type
        value = {} if kind == pa.null() else {"v": wf.last("v")}

        def results(*sides: Any) -> list[list[str]]:
            keyed = wr.stream(sides[0]).key_by("k", "p").event_time("t", "2 ms").order_by("seq")
            windows = keyed.window(wr.CountWindow(5, 2), open_windows="drop")
            counted = windows.agg(n=wf.count(), total=wf.sum("x"), first=wf.first("x"), **value)
            timed = keyed.window(wr.TimeWindow("20 ms", "5 ms")).agg(n=wf.count(), m=wf.max("x"))
            pairs = wr.join(*sides, within="3 ms", on=wr.equi("k"), time="t", how="full_outer")
            queries = counted.using(wr.KeyFarm(2)), timed.using(wr.WinFarm(2)), pairs
            return [
                sorted(str(plain(row)) for row in query.to_df(spark).collect()) for query in queries
            ]

        frames = [spark.read.parquet(folder) for folder in (one, two)]
        needed = ["k", "p", "t", "seq", "x", *value]
        assert isinstance(plain_scan(frames[0], needed), SplitRows) or kind == pa.null()
        found, expected = with_and_without(spark, lambda: results(*frames))
        assert found == expected
        datasets = [ds.dataset(folder, partitioning="hive") for folder in (one, two)]
        assert results(*datasets) == expected


@examples(2)
@given(files(), files(), st.booleans())
def test_random_files_give_the_same_windows_and_joins(
    spark: SparkSession, made: Any, other: Any, is_int96: bool
) -> None:
    same_through_queries(spark, made, other, is_int96)


@pytest.mark.campaign
@examples(40)
@given(files(), files(), st.booleans())
def test_many_random_files_give_the_same_windows_and_joins(
    spark: SparkSession, made: Any, other: Any, is_int96: bool
) -> None:
    same_through_queries(spark, made, other, is_int96)


def test_windows_and_joins_are_the_same_with_either_reader(
    spark: SparkSession, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spark.read.parquet(str(written)).createOrReplaceTempView("plain_rows")
    df = spark.table("plain_rows").withColumnRenamed("k", "key").filter("id > 3")
    query = (
        wr.stream(df).key_by("key", F.col("p").alias("part")).event_time(F.col("t"))
        .window(SLIDING).agg(n=wf.count(), total=wf.sum("x"))
    )  # fmt: skip
    # Nested columns that are never null in the files stay with Spark beside a filter.
    flat = df.drop("m", "nested")
    pairs = wr.join(flat, flat.drop("s"), within="50 ms", on=wr.equi("key"), time="t", how="left")

    def results() -> Any:
        dropped = Observation()
        windows = query.to_df(observation=dropped)
        joined = pairs.to_df()
        schemas = windows.schema.simpleString(), joined.schema.simpleString()
        rows = [sorted(str(plain(r)) for r in df.collect()) for df in (windows, joined)]
        return schemas, rows, dropped.get

    found, expected = with_and_without(spark, results)
    assert found == expected
    assert "with PyArrow" in said(query, capsys)
    assert said(pairs, capsys).count("with PyArrow") == 2
    counted = wr.stream(df).window(wr.CountWindow(10)).agg(n=wf.count())
    assert sum(r["n"] for r in counted.to_df().collect()) == df.count()


def test_tumbling_windows_of_sparks_own_functions_stay_with_spark(
    spark: SparkSession, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    df = spark.read.parquet(str(written))
    tumbling = wr.stream(df).event_time("t").window(wr.TimeWindow("1 s")).agg(n=wf.count())
    assert said(tumbling, capsys) == BY_SPARK + "its own aggregation takes the rows"
    assert "with PyArrow" in said(tumbling.using(wr.WinFarm(2)), capsys)


OTHER_PLANS: dict[str, tuple[Callable[[DataFrame], DataFrame], str]] = {
    "limit": (lambda df: df.limit(3), "GlobalLimit"),
    "sample": (lambda df: df.sample(0.5), "Sample"),
    "sort": (lambda df: df.orderBy("id"), "Sort"),
    "distinct": (lambda df: df.select("id").distinct(), "Deduplicate"),
    "repartition": (lambda df: df.repartition(2), "Repartition"),
    "union": (lambda df: df.union(df), "Union"),
    "checkpoint": (lambda df: df.localCheckpoint(), "LogicalRDD"),
    "cast": (lambda df: df.withColumn("id", F.col("id").cast("int")), "CAST"),
    "product": (lambda df: df.withColumn("id", F.col("id") * 2), "computes (id * 2"),
    "own overflow": (lambda df: df.withColumn("id", F.try_add("id", F.lit(1))), "computes (id + 1"),
    "two columns": (lambda df: df.withColumn("id", F.col("id") + F.col("k")), "computes (id + k"),
    "filter of a sum": (lambda df: df.withColumn("n", F.col("id") + 1).filter("n > 5"), "filter"),
    "number": (lambda df: df.withColumn("id", F.monotonically_increasing_id()), "monoton"),
    "file name": (lambda df: df.withColumn("id", F.input_file_name()), "input_file_name"),
    "metadata": (lambda df: df.withColumn("id", F.col("_metadata.file_size")), "_metadata"),
    "nested": (lambda df: df.withColumn("id", F.col("nested.a")), "nested.`a`"),
    "filter of floats": (lambda df: df.filter("d > 1"), "computes d in a filter"),
    "filter of text": (lambda df: df.filter("s like '%5'"), "in a filter"),
    "filter of columns": (lambda df: df.filter("id > k"), "in a filter"),
    "filter of a struct": (lambda df: df.filter("nested is not null"), "in a filter"),
    "filter by chance": (lambda df: df.filter(F.rand() > 0.5), "in a filter"),
    "negated or": (lambda df: df.filter("not (x <=> 3)"), "in a filter"),
}


def test_whatever_is_no_plain_scan_stays_with_spark(
    spark: SparkSession, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    df = spark.read.parquet(str(written))
    for name, (change, why) in OTHER_PLANS.items():
        line = said(query_over(change(df), "id"), capsys)
        assert line.startswith(BY_SPARK), (name, line)
        assert why in line, (name, line)
    cached = spark.read.parquet(str(written)).cache()
    try:
        assert "InMemoryRelation" in said(query_over(cached, "id"), capsys)
    finally:
        cached.unpersist(blocking=True)
    assert said(query_over(cached, "id"), capsys).endswith("with PyArrow")


def test_readers_with_options_settings_and_tables_stay_with_spark(
    spark: SparkSession, written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader, path = spark.read, str(written)
    schema = reader.parquet(path).schema

    def check(df: DataFrame, why: str) -> None:
        line = said(query_over(df, "id"), capsys)
        assert line.startswith(BY_SPARK), line
        assert why in line, line

    for option, value in {
        "pathGlobFilter": "*.parquet",
        "ignoreCorruptFiles": "true",
        "ignoreMissingFiles": "true",
        "modifiedAfter": "2020-01-01T00:00:00",
        "datetimeRebaseMode": "LEGACY",
    }.items():
        check(spark.read.schema(schema).option(option, value).parquet(path), option.lower())
    df = spark.read.schema(schema).parquet(path)
    for name, value in {
        COLUMNAR_SCAN: "false",
        "spark.sql.files.ignoreCorruptFiles": "true",
        "spark.sql.files.ignoreMissingFiles": "true",
        "spark.sql.parquet.int96TimestampConversion": "true",
        "parquet.crypto.factory.class": "a.Factory",
    }.items():
        with setting(spark, name, value):
            check(df, "encrypted" if "crypto" in name else name)
    check(spark.range(5), "Range")
    spark.range(5).write.json(str(tmp_path / "json"))
    check(spark.read.schema("id bigint").json(str(tmp_path / "json")), "JsonFileFormat")
    spark.sql(f"CREATE TABLE scanned USING parquet LOCATION '{tmp_path}/t' AS SELECT 1L id")
    try:
        check(spark.table("scanned"), "the rows of a table")
    finally:
        spark.sql("DROP TABLE scanned")
    with setting(spark, "spark.sql.sources.useV1SourceList", ""):
        check(spark.read.parquet(path), "DataSourceV2")


def test_files_that_spark_could_read_otherwise_stay_with_spark(
    spark: SparkSession, tmp_path: Path
) -> None:
    one = pa.array([1])
    with_default = StructType().add("id", "long", True, {"EXISTS_DEFAULT": "5"})
    cases: dict[str, tuple[dict[str, Any], str | StructType, str]] = {
        "case": ({"ID": one}, "id bigint", "under another name"),
        "type": ({"id": pa.array([1], pa.int32())}, "id bigint", "not surely bigint"),
        "dot": ({"a.id": one}, "`a.id` bigint", "PyArrow could take"),
        "default": ({"x": one}, with_default, "has metadata"),
        "collation": ({"id": ["a"]}, "id string collate UTF8_LCASE", "no type for column"),
        "id=1.5": ({"x": one}, "x bigint, id double", "'id' of folders"),
        "x=1": ({"x": one}, "id int, x int", "under another name or twice"),
    }
    for name, (columns, schema, why) in cases.items():
        top = tmp_path / f"of {name}"
        folder = top / name if "=" in name else top
        folder.mkdir(parents=True)
        pq.write_table(pa.table(columns), folder / "0.parquet")
        df = spark.read.schema(schema).parquet(str(top))
        found = plain_scan(df, df.columns)
        assert isinstance(found, str), name
        assert why in found, (name, found)


def test_files_that_change_are_noticed(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": [1, 2], "x": ["a", None]}), path)
    pq.write_table(pa.table({"id": [3]}), tmp_path / "b.parquet")
    df = spark.read.schema("id bigint, x string").parquet(str(tmp_path))
    planned = query_over(df, "id", "x").to_df()
    # Spark keeps what a DataFrame has shuffled, so this is another one.
    found = query_over(df, "id", "x").to_df().collect()
    assert sorted(row["v_id"][0] for row in found) == [1, 2, 3]
    pq.write_table(pa.table({"id": [1, 2, 3], "x": ["a", "b", "c"]}), path)
    with pytest.raises(Exception, match=r"has changed since the query was planned; got .*a\.parq"):
        planned.collect()
    assert "has changed since the DataFrame was made" in said(query_over(df, "id"), capsys)
    path.write_bytes(path.read_bytes()[:-9])
    again = spark.read.schema("id bigint, x string").parquet(str(tmp_path))
    assert "cannot be read" in said(query_over(again, "id"), capsys)


def test_spark_refuses_to_overwrite_the_files_that_are_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = pa.table({name: [0, 1] for name in ("window_id", "window_start", "window_end", "n")})
    pq.write_table(rows, tmp_path / "a.parquet")
    df = spark.read.parquet(str(tmp_path))
    counts = wr.stream(df).window(wr.CountWindow(1)).agg(n=wf.count("n")).using(wr.WinFarm(2))
    results = counts.to_df()
    spark.sql(f"CREATE TABLE counts USING parquet LOCATION '{tmp_path}'")
    try:
        with pytest.raises(AnalysisException, match=r"(?i)overwrite"):
            results.write.insertInto("counts", overwrite=True)
    finally:
        spark.sql("DROP TABLE counts")
    assert pq.read_table(tmp_path / "a.parquet").equals(rows)
    assert len(results.collect()) == 2
    scans = results._jdf.queryExecution().optimizedPlan().toString()
    assert "parquet" not in scans


def test_windows_of_string_keys_are_those_of_sparks_reader(
    spark: SparkSession, tmp_path: Path
) -> None:
    names = pa.array(["a", None, "", "b", "a", "c", None, "b"] * 10)
    times = pa.array(range(80), pa.timestamp("us", "UTC"))
    table = pa.table({"name": names, "t": times, "x": range(80)})
    pq.write_table(table, tmp_path / "0.parquet", row_group_size=7)
    pq.write_table(table, tmp_path / "1.parquet", use_dictionary=False)
    df = spark.read.parquet(str(tmp_path)).withColumnRenamed("name", "k")
    rows = wr.stream(df).key_by("k").event_time("t").window(wr.TimeWindow(20, 10))
    query = rows.agg(n=wf.count(), total=wf.sum("x"))
    found, expected = with_and_without(
        spark, lambda: sorted(map(str, query.using(wr.KeyFarm(2)).to_df().collect()))
    )
    assert found == expected
    assert len(found) == 5 * 9
