"""What upserts say in a session that lacks what they need. With servers: tests/pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import windrow as wr

pytestmark = pytest.mark.spark

URL = "jdbc:postgresql://127.0.0.1:1/market"


def refused(write: Any, batch: Any) -> str:
    with pytest.raises(wr.WindrowError) as caught:
        write(batch, 0)
    return str(caught.value)


def test_a_missing_driver_is_named(spark: SparkSession) -> None:
    said = refused(wr.sinks.upsert(URL, "trend", key="id"), spark.range(1))
    assert "needs PostgreSQL's JDBC driver" in said
    assert "spark.jars.packages=org.postgresql:postgresql:" in said


def test_a_missing_delta_lake_is_named(spark: SparkSession, tmp_path: Path) -> None:
    said = refused(wr.sinks.upsert(delta=tmp_path / "trend", key="id"), spark.range(1))
    assert "needs a session with Delta Lake" in said
    assert "spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension" in said


@pytest.mark.parametrize("bar", ["struct(1 AS low)", "map(1, 2)", "array(struct(1 AS low))"])
def test_nested_columns_are_refused_by_postgres(spark: SparkSession, bar: str) -> None:
    batch = spark.range(1).selectExpr("id", f"{bar} AS bar")
    said = refused(wr.sinks.upsert(URL, "trend", key="id"), batch)
    assert "holds no structs and no maps; got bar " in said
    assert 'F.to_json("bar")' in said
