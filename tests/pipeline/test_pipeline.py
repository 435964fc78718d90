"""Kafka, PostgreSQL and the driver are killed in the middle: nothing is lost, nothing doubled."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.pipeline.kafka_to_tables import DELAY, KEY, MODELS, NAMES, QUOTES, RESULTS, TABLE
from tests.pipeline.servers import Kafka, Postgres
from tests.restarts import KillableProgram, Rows, rows
from windrow.core import oracle
from windrow.spark.sinks.postgres import DRIVER

pytestmark = [pytest.mark.spark, pytest.mark.pipeline]

Found = Counter[tuple[Any, ...]]
COLUMNS = ["k", "window_id", "n", "total", "seqs"]


def expected(name: str, came: Rows) -> Found:
    how: dict[str, Any] = {"key": ["k"], "time": "t", "order_by": ["seq"], "delay": DELAY}
    found = oracle.windows(MODELS[name], came, open_windows="drop", **how)
    return Counter(
        (w.key[0], w.id, len(w.rows), sum(r["x"] for r in w.rows), tuple(r["seq"] for r in w.rows))
        for w in found
    )


def rows_of(table: DataFrame) -> Found:
    found = table.select(*COLUMNS).collect()
    return Counter((r.k, r.window_id, r.n, r.total, tuple(r.seqs)) for r in found)


def read(spark: SparkSession, server: Postgres) -> Found:
    return rows_of(
        spark.read.format("jdbc")
        .options(**server.properties, driver=DRIVER, url=server.url, dbtable=TABLE)
        .load()
    )


def records(spark: SparkSession, kafka: Kafka) -> list[tuple[str, str]]:
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", kafka.address)
    df = reader.option("subscribe", RESULTS).load()
    return [tuple(row) for row in df.selectExpr("string(key)", "string(value)").collect()]


def produce(spark: SparkSession, kafka: Kafka, came: Rows) -> None:
    """To both partitions in turn; some keys are null."""
    df = spark.createDataFrame(came, "k string, t bigint, seq int, x bigint")
    value = F.to_json(F.struct("*")).alias("value")
    df = df.select(F.col("k").alias("key"), value, F.expr("seq % 2").alias("partition"))
    writer = df.coalesce(1).write.format("kafka").option("topic", QUOTES)
    writer.option("kafka.bootstrap.servers", kafka.address).save()


def take(program: KillableProgram, batches: int) -> int:
    """Wait until so many batches have run, or the program has ended; tell how many have."""
    return sum(1 for _ in zip(range(batches + 1), program.lines, strict=False)) - 1


@pytest.fixture
def start(
    spark_home: str, kafka: Kafka, postgres: Postgres, tmp_path: Path
) -> Iterator[Callable[..., KillableProgram]]:
    """Starts the program; what still runs in the end is killed."""
    program, started = "tests.pipeline.kafka_to_tables", []

    def start(*told: str) -> KillableProgram:
        servers = kafka.address, postgres.url
        started.append(
            KillableProgram(program, NAMES, tmp_path, *servers, *told, SPARK_HOME=spark_home)
        )
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.kill()


def test_every_window_is_in_every_sink_once(
    spark: SparkSession,
    kafka: Kafka,
    postgres: Postgres,
    start: Callable[..., KillableProgram],
    tmp_path: Path,
) -> None:
    came = rows(1200)
    produce(spark, kafka, came[:400])
    for sink in ("postgres", "delta"):
        # Killed by itself, between the write to a table and the commit of the batch.
        program = start("--die-after-writing", sink)
        take(program, batches=1000)
        assert program.process.wait() == -9, program.said.read_text()[-4000:]

    produce(spark, kafka, came[400:800])
    program = start()
    assert take(program, batches=4) == 4, program.said.read_text()[-4000:]
    kafka.kill()
    kafka.start()
    produce(spark, kafka, came[800:1000])
    take(program, batches=6)
    postgres.stop("immediate")
    postgres.start()
    take(program, batches=4)
    if program.process.poll() is None:
        # It has survived both.
        program.kill()

    produce(spark, kafka, came[1000:])
    start("--to-the-end").finish()

    assert read(spark, postgres) == expected("postgres", came)
    table = spark.read.format("delta").load(str(tmp_path / TABLE))
    assert rows_of(table) == expected("delta", came)
    # Kafka's sink may write a batch twice: readers keep one record of each key.
    found = records(spark, kafka)
    by_key = dict(found)
    assert len(set(found)) == len(by_key)
    values = [json.loads(value) for value in by_key.values()]
    assert all(
        json.loads(key) == {k: v for k, v in json.loads(value).items() if k in KEY}
        for key, value in by_key.items()
    )
    once = Counter(
        (v.get("k"), v["window_id"], v["n"], v["total"], tuple(v["seqs"])) for v in values
    )
    assert once == expected("kafka", came)
    for name in NAMES:
        assert len(expected(name, came)) > 50
    print(f"{len(found) - len(by_key)} of {len(found)} records in Kafka were written twice")
