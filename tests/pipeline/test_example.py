"""The example, with real servers: what it says is in the table is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from examples import kafka_to_postgres as example
from tests.pipeline.servers import Kafka, Postgres
from windrow.core.errors import WindrowWarning
from windrow.spark.sinks.postgres import DRIVER

pytestmark = [pytest.mark.spark, pytest.mark.pipeline]


def test_the_example_goes_on_where_it_was(
    spark: SparkSession,
    kafka: Kafka,
    postgres: Postgres,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(example, "KAFKA", kafka.address)
    monkeypatch.setattr(example, "POSTGRES", f"127.0.0.1:{postgres.port}")
    monkeypatch.setattr(example, "LOGIN", postgres.properties)
    monkeypatch.setattr(example, "TOPIC", "example")
    monkeypatch.setattr(example, "CHECKPOINT", tmp_path)
    options = {**postgres.properties, "driver": DRIVER, "url": postgres.url}
    reader = spark.read.format("jdbc").options(**options)
    found = []
    for _ in range(2):
        with pytest.warns(WindrowWarning, match="returns the session that exists"):
            example.main()
        found.append(reader.load(dbtable=example.TABLE).collect())
    # Of 1000 quotes, the last 1 s is still open: 449 or 450 quotes of each symbol are placed.
    first, second = ({(r.symbol, r.window_id): r.mean for r in rows} for rows in found)
    prices = {"ACME": range(0, 899, 2), "EMCA": range(1, 899, 2)}
    assert first == {
        (symbol, w): sum(own[50 * w : 50 * w + 100]) / 100
        for symbol, own in prices.items()
        for w in range((len(own) - 50) // 50)
    }
    assert len(second) == len(found[1]) > len(first)
    assert first.items() <= second.items()
