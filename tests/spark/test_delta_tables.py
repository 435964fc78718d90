"""Delta tables: the datasets that ``deltalake`` hands out, in process and in Spark's tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

import windrow as wr
from windrow import functions as wf

pytestmark = pytest.mark.spark


def rows(first: int, n: int) -> pa.Table:
    numbers = range(first, first + n)
    return pa.table(
        {
            "k": pa.array([None if i % 7 == 0 else "abc"[i % 3] for i in numbers]),
            "t": pa.array([i * 1000 for i in numbers], pa.timestamp("us", "UTC")),
            "x": pa.array(numbers),
        }
    )


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A table of three versions: one that begins, one with more rows, one with fewer."""
    path = str(tmp_path / "table")
    write_deltalake(path, rows(0, 100), partition_by=["k"])
    write_deltalake(path, rows(100, 100), mode="append")
    DeltaTable(path).delete("x >= 50 AND x < 120")
    return path


def dataset(path: str, version: int | None = None) -> ds.Dataset:
    return DeltaTable(path, version=version).to_pyarrow_dataset()


def windows(data: Any) -> wr.Query:
    query = wr.stream(data).key_by("k").event_time("t").window(wr.TimeWindow("20 ms", "10 ms"))
    return query.agg(n=wf.count(), total=wf.sum("x"))


def pairs(left: Any, right: Any) -> wr.Join:
    return wr.join(left, right, within="2 ms", on=wr.equi("k"), time="t")


def plain(table: pa.Table) -> list[str]:
    return sorted(str(row) for row in table.to_pylist())


KEPT = pa.concat_tables([rows(0, 50), rows(120, 80)])


@pytest.mark.parametrize("version", [0, 1, None])
def test_windows_over_each_version_of_a_table(
    spark: SparkSession, path: str, version: int | None
) -> None:
    held = {0: rows(0, 100), 1: rows(0, 200), None: KEPT}[version]
    query, expected = windows(dataset(path, version)), plain(windows(held).collect())
    assert plain(query.collect()) == expected
    found = query.to_df(spark).toArrow()
    assert plain(found) == expected
    filtered = dataset(path, version).filter((pc.field("x") > 30) & (pc.field("k") == "a"))
    kept = held.filter((pc.field("x") > 30) & (pc.field("k") == "a"))
    assert plain(windows(filtered).collect()) == plain(windows(kept).collect())


def test_a_join_of_two_versions_of_a_table(spark: SparkSession, path: str) -> None:
    expected = plain(pairs(rows(0, 100), KEPT).collect())
    join = pairs(dataset(path, 0), dataset(path))
    assert plain(join.collect()) == expected
    assert plain(join.to_df(spark).toArrow()) == expected


def test_a_file_that_is_removed_between_versions_is_named(spark: SparkSession, path: str) -> None:
    old, new = windows(dataset(path, 1)), windows(dataset(path))
    planned = old.to_df(spark)
    DeltaTable(path).vacuum(0, dry_run=False, enforce_retention_duration=False)
    with pytest.raises(wr.WindrowError, match=r"not found on host .*\.parquet"):
        old.collect()
    with pytest.raises(Exception, match=r"WindrowError: a file of the dataset .*\.parquet"):
        planned.collect()
    assert plain(new.collect()) == plain(windows(KEPT).collect())
