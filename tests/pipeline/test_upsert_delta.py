"""Upserts into real Delta tables: null keys, missing tables, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import windrow as wr

pytestmark = [pytest.mark.spark, pytest.mark.pipeline]

KEY = ["symbol", "window_id"]
SCHEMA = "symbol string, window_id long, bar struct<low: int, high: int>"


def batch(spark: SparkSession, *rows: tuple[Any, ...]) -> DataFrame:
    return spark.createDataFrame(rows, SCHEMA)


@pytest.mark.parametrize("place", ["path", "name"])
def test_a_repeated_batch_changes_nothing_and_a_new_one_updates(
    spark: SparkSession, tmp_path: Path, place: str
) -> None:
    target: Any = tmp_path / "a `path`" if place == "path" else "trend"
    write: Any = wr.sinks.upsert(delta=target, key=KEY)
    write(batch(spark), 0)
    first = batch(spark, ("a", 0, (1, 2)), (None, 0, (3, 4)), (None, 1, None))
    for _ in range(2):
        write(first, 1)
    write(batch(spark, (None, 0, (5, 6))), 2)
    format = spark.read.format("delta")
    table = format.load(str(target)) if place == "path" else spark.table("trend")
    found = [(row.symbol, row.window_id, row.bar and tuple(row.bar)) for row in table.collect()]
    assert len(found) == 3
    assert set(found) == {("a", 0, (1, 2)), (None, 0, (5, 6)), (None, 1, None)}
    assert not spark.catalog.listTables(pattern="windrow*")


def test_rows_with_the_same_key_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    write: Any = wr.sinks.upsert(delta=tmp_path / "trend", key="symbol")
    with pytest.raises(wr.WindrowError, match="must have different keys"):
        write(batch(spark, (None, 0, None), (None, 1, None)), 0)
    assert not (tmp_path / "trend").exists()


def test_a_batch_that_the_user_keeps_stays_kept(spark: SparkSession, tmp_path: Path) -> None:
    rows = batch(spark, ("a", 0, None)).persist()
    write: Any = wr.sinks.upsert(delta=tmp_path / "trend", key=KEY)
    write(rows, 0)
    assert rows.storageLevel.useMemory
    rows.unpersist()
