"""A program: windows over a topic of Kafka, to PostgreSQL, to Delta Lake and to Kafka.

    python -m tests.pipeline.kafka_to_tables FOLDER KAFKA JDBC-URL
    python -m tests.pipeline.kafka_to_tables FOLDER KAFKA JDBC-URL --to-the-end
    python -m tests.pipeline.kafka_to_tables FOLDER KAFKA JDBC-URL --die-after-writing postgres

Prints a line when it has started and for each batch of each query. Told to, it dies when it has
written windows to PostgreSQL, or to Delta Lake: before Spark notes down that the batch is done.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.e2e.streams_to_files import Told
from tests.pipeline.session import session
from windrow import functions as wf
from windrow.core import WindowModel

QUOTES, RESULTS, TABLE = "quotes", "windows", "windows"
DELAY = "300 ms"
"""More than the disorder of the rows and of the two partitions of the topic."""
MODELS: dict[str, WindowModel] = {
    "postgres": wr.CountWindow(12, 5),
    "delta": wr.TimeWindow("12 ms", "4 ms"),
    "kafka": wr.SessionWindow("1 ms"),
}
NAMES = tuple(MODELS)
KEY = ["k", "window_id"]
USER = {"user": "windrow"}
_ROW = "k string, t bigint, seq int, x bigint"


def quotes(spark: SparkSession, brokers: str) -> DataFrame:
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", brokers)
    reader = reader.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", 50)
    stream = reader.option("subscribe", QUOTES).load()
    return stream.select(F.from_json(F.col("value").cast("string"), _ROW).alias("v")).select("v.*")


def windows(rows: DataFrame, name: str) -> DataFrame:
    query = wr.stream(rows).key_by("k").event_time("t", DELAY).order_by("seq")
    query_of = query.window(MODELS[name])
    return query_of.agg(n=wf.count(), total=wf.sum("x"), seqs=wf.collect("seq")).to_df()


def writer(name: str, results: DataFrame, folder: Path, brokers: str, url: str) -> Any:
    if name == "kafka":
        value = F.to_json(F.struct("*")).alias("value")
        key = F.to_json(F.struct(*KEY)).alias("key")
        written = results.select(key, value).writeStream.format("kafka")
        return written.option("kafka.bootstrap.servers", brokers).option("topic", RESULTS)
    if name == "postgres":
        upsert = wr.sinks.upsert(url, TABLE, key=KEY, properties=USER)
    else:
        upsert = wr.sinks.upsert(delta=folder / TABLE, key=KEY)
    if sys.argv[4:] == ["--die-after-writing", name]:
        return results.writeStream.foreachBatch(dying_after(upsert))
    return results.writeStream.foreachBatch(upsert)


def dying_after(upsert: Callable[[DataFrame, int], None]) -> Callable[[DataFrame, int], None]:
    """Kill driver and JVM when the first windows are written."""

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.persist()
        upsert(batch, batch_id)
        if batch.count():
            os.killpg(0, signal.SIGKILL)
        batch.unpersist()

    return write


def main(folder: Path, brokers: str, url: str) -> None:
    spark = session(cores=2)
    spark.streams.addListener(Told())
    print("started", flush=True)
    rows = quotes(spark, brokers)
    running = []
    for name in NAMES:
        to = writer(name, windows(rows, name), folder, brokers, url)
        to = to.queryName(name).option("checkpointLocation", str(folder / "checkpoints" / name))
        if sys.argv[4:] == ["--to-the-end"]:
            to = to.trigger(availableNow=True)
        running.append(to.start())
    for query in running:
        query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:4])
