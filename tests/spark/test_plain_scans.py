"""DataFrames that are plain scans: tasks read their files, and give what Spark's reader gives."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.columns_of_every_type import READ, table_of_every_type
from tests.spark.results import plain
from windrow import functions as wf
from windrow.engine.datasets import splits
from windrow.spark.settings import COLUMNAR_SCAN

pytestmark = pytest.mark.spark

BY_SPARK = "reads    with Spark's reader: "
ROWS = 200


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "_LEAST", 10_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that PyArrow wrote, in folders that give a column; two have an odd name."""
    folder = tmp_path_factory.mktemp("a b") / "ü%20é#?&+;="
    table = table_of_every_type(ROWS)
    for i in range(4):
        path = folder / f"p={i % 2}" / f"part {i}%.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        part = table.slice(i * 60, 60)
        pq.write_table(part, path, row_group_size=1 + 20 * i)
    return folder


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that Spark wrote, with INT96 timestamps and folders of every kind of column."""
    folder = tmp_path_factory.mktemp("spark") / "files"
    rows = spark.range(0, ROWS, 1, 2).selectExpr(
        "id", "id % 3 as k", "timestamp_millis(id * 37 - 900) as t", "cast(id as string) as s",
        "if(id % 7 = 0, null, cast(id % 5 as int)) as x", "id % 2 = 0 as b", "id / 3d as d",
        "date_add(date'1969-12-20', cast(id as int)) as day",
        "timestampadd(MICROSECOND, id, timestamp_ntz'1970-01-01') as n",
        "named_struct('a', id, 'l', array(id, null)) as nested", "map('a', id) as m",
        "id % 2 as p", "if(id % 4 = 0, null, concat('v ', id % 4, '/')) as q",
        "date_add(date'2024-01-01', cast(id % 3 as int)) as r",
    )  # fmt: skip
    rows.write.partitionBy("p", "q", "r").parquet(str(folder))
    return folder


def said(query: wr.Query, capsys: pytest.CaptureFixture[str]) -> str:
    """The line of explain that says who reads the rows."""
    capsys.readouterr()
    query.explain()
    lines = capsys.readouterr().out.splitlines()
    return next(line for line in lines if line.startswith("reads"))


def query_over(df: DataFrame, *columns: str) -> wr.Query:
    """A query that needs these columns, or all, and gives every row once."""
    functions = {f"v_{name}": wf.collect(name) for name in columns or df.columns}
    return wr.stream(df).window(wr.CountWindow(1)).agg(**functions).using(wr.KeyFarm(2))


def rows_of(df: DataFrame) -> list[str]:
    return sorted(str(plain(row)) for row in df.collect())


def with_and_without(spark: SparkSession, run: Callable[[], Any]) -> tuple[Any, Any]:
    """What a program gives with the tasks reading files themselves, and with Spark's reader."""
    found = run()
    spark.conf.set(COLUMNAR_SCAN, "false")
    try:
        return found, run()
    finally:
        spark.conf.unset(COLUMNAR_SCAN)


def read(df: DataFrame, *columns: str) -> list[str]:
    """All rows of a DataFrame as the workers of a query see them."""
    query = query_over(df, *columns)
    wanted = query.to_df().drop("window_id", "window_start", "window_end")
    return rows_of(wanted)


FILTERS = [
    "id > 5 and 150 >= id",
    "id in (3, 4, 99, null)",
    "id not in (3, 4, 99)",
    "id in (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15)",
    "x = 3 or x is null",
    "not (x = 3)",
    "x <=> 3",
    "b",
    "not b",
    "s >= '15' and s < '19' or s in ('1', '2')",
    "day between date'1970-01-01' and date'1970-02-01'",
    "t > timestamp'1970-01-01 00:00:01.5Z'",
    "n <= timestamp_ntz'1970-01-01 00:00:00.00007'",
    "p = 1 and q is not null",
    "q is null or q = 'v 1/'",
    "q in ('v 1/', 'v 2/') and id < 90 and r > date'2024-01-01'",
    "p = 5",
    "id % 1 = 0 and d is not null",
]
ONLY_SPARK = {"id % 1 = 0 and d is not null"}


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_filtered_files_of_spark_are_read_as_spark_reads_them(
    spark: SparkSession, written: Path, zone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    df = spark.read.parquet(str(written))
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        for text in FILTERS:
            filtered = df.filter(text)
            found, expected = with_and_without(spark, lambda: read(filtered, "id", "x", "t", "q"))  # noqa: B023
            assert found == expected, text
            line = said(query_over(filtered, "id", "t"), capsys)
            assert line.startswith(BY_SPARK) == (text in ONLY_SPARK), line
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
