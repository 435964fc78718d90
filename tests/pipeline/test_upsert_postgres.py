"""Upserts into a real PostgreSQL: null keys, missing tables, casts, several targets, errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.pipeline.servers import Postgres
from windrow.spark.sinks.postgres import DRIVER, PostgresUpsert

pytestmark = [pytest.mark.spark, pytest.mark.pipeline]

KEY = ["symbol", "window_id"]
SCHEMA = "symbol string, window_id long, n int, mean double"


class Database:
    """What the tests ask of it, through Spark."""

    def __init__(self, spark: SparkSession, server: Postgres) -> None:
        self.spark, self.server = spark, server

    def upsert(self, table: str, key: list[str] = KEY) -> Any:
        return wr.sinks.upsert(self.server.url, table, key=key, properties=self.server.properties)

    def rows(self, query: str) -> set[tuple[Any, ...]]:
        options = {**self.server.properties, "driver": DRIVER, "url": self.server.url}
        found = self.spark.read.format("jdbc").options(**options).option("query", query)
        rows = [tuple(row) for row in found.load().collect()]
        assert len(set(rows)) == len(rows)
        return set(rows)

    def execute(self, statement: str) -> None:
        upsert = self.upsert("any")
        assert isinstance(upsert, PostgresUpsert)
        upsert._execute(self.spark, statement)

    def batch(self, *rows: tuple[Any, ...], schema: str = SCHEMA) -> DataFrame:
        return self.spark.createDataFrame(rows, schema)


@pytest.fixture
def database(spark: SparkSession, postgres: Postgres) -> Iterator[Database]:
    made = Database(spark, postgres)
    made.execute("DROP SCHEMA public CASCADE")
    made.execute("CREATE SCHEMA public")
    yield made
    left = made.rows("SELECT relname FROM pg_class WHERE relname LIKE 'windrow_staging%'")
    assert left == set()


def test_a_repeated_batch_changes_nothing_and_a_new_one_updates(database: Database) -> None:
    write = database.upsert("trend")
    first = database.batch(("a", 0, 2, 1.5), (None, 0, 3, 2.5), (None, 1, 4, None))
    for _ in range(2):
        write(first, 0)
    assert database.rows("SELECT * FROM trend") == {
        ("a", 0, 2, 1.5), (None, 0, 3, 2.5), (None, 1, 4, None),
    }  # fmt: skip
    write(database.batch((None, 0, 9, 9.5), ("b", 0, 1, 1.0)), 1)
    assert database.rows("SELECT * FROM trend") == {
        ("a", 0, 2, 1.5), (None, 0, 9, 9.5), (None, 1, 4, None), ("b", 0, 1, 1.0),
    }  # fmt: skip
    write(database.batch(), 2)
    assert len(database.rows("SELECT * FROM trend")) == 4


def test_names_and_types_of_any_kind(database: Database) -> None:
    columns = [
        F.lit("a").alias('the "key"?'),
        F.lit(None).cast("decimal(20, 3)").alias("Select"),
        F.array(F.lit(1), F.lit(None)).alias("it's"),
        F.lit("2026-01-05 09:30:00.000123").cast("timestamp").alias("at"),
        F.lit(True).alias("ok"),
    ]
    batch = database.spark.range(1).select(*columns)
    database.execute('CREATE SCHEMA "Other"')
    write = database.upsert('"Other"."Tab""le"', ['the "key"?', "Select"])
    for batch_id in range(2):
        write(batch, batch_id)
    found = database.rows(
        'SELECT "the ""key""?", "Select", "it\'s"[1], "at", ok FROM "Other"."Tab""le"'
    )
    assert found == {("a", None, 1, batch.collect()[0]["at"], True)}


def test_an_existing_table_keeps_its_types_and_its_other_columns(database: Database) -> None:
    database.execute(
        "CREATE TABLE known (id uuid, window_id int, doc jsonb, seen text DEFAULT 'yes', "
        "PRIMARY KEY (window_id, id))"
    )
    id = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
    write = database.upsert("KNOWN", ["id", "window_id"])
    for n in (1, 2):
        batch = database.batch(
            (id, 0, f'{{"n": {n}}}'), schema="id string, window_id long, doc string"
        )
        write(batch, n)
    found = database.rows("SELECT id, window_id, doc->>'n', seen FROM known")
    assert found == {(id, 0, "2", "yes")}


def test_one_batch_into_several_tables(database: Database, tmp_path: Path) -> None:
    """From a stream; each table has a key of its own, one of them nothing but the key."""
    trend, symbols = database.upsert("trend"), database.upsert("symbols", ["symbol"])
    (tmp_path / "in").mkdir()
    database.batch((None, 0, 1, 0.5), ("a", 0, 1, 0.5), ("a", 1, 2, 0.5)).write.parquet(
        str(tmp_path / "in"), mode="append"
    )

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.persist()
        trend(batch, batch_id)
        symbols(batch.select("symbol").distinct(), batch_id)
        batch.unpersist()

    stream = database.spark.readStream.schema(SCHEMA).parquet(str(tmp_path / "in"))
    for run in range(2):
        checkpoint = str(tmp_path / f"checkpoint {run}")
        writer = stream.writeStream.foreachBatch(write).option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()
    assert database.rows("SELECT * FROM symbols") == {("a",), (None,)}
    assert len(database.rows("SELECT * FROM trend")) == 3


def test_rows_that_a_repeated_task_staged_twice_count_once(database: Database) -> None:
    row = ("a", 0, 1, 0.5)
    database.upsert("trend")(database.batch(row, row), 0)
    assert database.rows("SELECT * FROM trend") == {row}


def refused(write: Any, batch: DataFrame) -> str:
    with pytest.raises(wr.WindrowError) as caught:
        write(batch, 0)
    return str(caught.value)


def test_errors_say_what_to_do(database: Database) -> None:
    row, batch = ("a", 0, 1, 0.5), database.batch(("a", 0, 1, 0.5))
    database.execute("CREATE TABLE bare (symbol text, window_id bigint, n int, mean float8)")
    assert 'CREATE UNIQUE INDEX ON "bare" ("symbol", "window_id") NULLS NOT DISTINCT' in refused(
        database.upsert("bare"), batch
    )
    database.execute("CREATE UNIQUE INDEX ON bare (symbol, window_id)")
    assert "must hold for null keys, too" in refused(database.upsert("bare"), batch)
    database.execute("CREATE UNIQUE INDEX ON bare (window_id, symbol) NULLS NOT DISTINCT")
    database.upsert("bare")(batch, 0)
    more = batch.withColumnRenamed("mean", "Mean")
    assert "did you mean one of these columns: ['mean']?" in refused(database.upsert("bare"), more)
    two = database.batch(row, ("a", 0, 2, 0.5))
    assert "the rows of a batch must have different keys" in refused(database.upsert("bare"), two)
    assert database.rows("SELECT * FROM bare") == {row}
    for table in database.rows("SELECT relname FROM pg_class WHERE relname LIKE 'windrow_%'"):
        database.execute(f"DROP TABLE {table[0]}")


def test_a_server_that_is_away(database: Database) -> None:
    batch = database.batch(("a", 0, 1, 0.5))
    url = "jdbc:postgresql://127.0.0.1:1/market?password=secret"
    away = refused(wr.sinks.upsert(url, "trend", key=KEY), batch)
    assert (
        "must accept connections; got jdbc:postgresql://127.0.0.1:1/market: Connection to" in away
    )
    assert "secret" not in away
