"""From Kafka to PostgreSQL: the last 100 quotes of each symbol, every 50 quotes.

The program sends quotes to a topic, as your producers would, and writes every window of them to a
table. Kill it at any moment and run it again: no window is lost, and none is in the table twice.

    python examples/kafka_to_postgres.py
"""

from __future__ import annotations

import socket
import tempfile
import time
from pathlib import Path

import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from windrow import functions as wf

KAFKA, POSTGRES = "localhost:9092", "localhost:5432"
LOGIN = {"user": "postgres", "password": "windrow"}
TOPIC, TABLE = "quotes", "trend"
CHECKPOINT = Path(tempfile.gettempdir(), "windrow-kafka-to-postgres")  # choose a lasting place
CONNECTOR = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"
PACKAGES = f"{CONNECTOR},org.postgresql:postgresql:42.7.4"
START = f"""Kafka must listen at {KAFKA}, and PostgreSQL at {POSTGRES}. To start them:
    docker run --detach --publish 127.0.0.1:9092:9092 apache/kafka:4.1.0
    docker run --detach --publish 127.0.0.1:5432:5432 -e POSTGRES_PASSWORD=windrow postgres:17"""


def listens(address: str) -> bool:
    """Whether a server is there."""
    host, port = address.split(":")
    with socket.socket() as connection:
        return connection.connect_ex((host, int(port))) == 0


def send(spark: SparkSession) -> None:
    """Send 1000 quotes of two symbols, one every 10 ms, to the topic."""
    ms = F.lit(time.time_ns() // 1_000_000) + F.col("id") * 10
    symbol = F.when(F.col("id") % 2 == 0, "ACME").otherwise("EMCA")
    value = F.to_json(F.struct(ms.alias("ms"), F.col("id").alias("price")))
    writer = spark.range(1000).select(symbol.alias("key"), value.alias("value")).write
    writer.format("kafka").option("kafka.bootstrap.servers", KAFKA).save(topic=TOPIC)


def trend(spark: SparkSession) -> DataFrame:
    """The windows of the quotes in the topic."""
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", KAFKA)
    records = reader.load(subscribe=TOPIC, startingOffsets="earliest")
    value = F.from_json(F.col("value").cast("string"), "ms long, price double").alias("value")
    quotes = records.select(F.col("key").cast("string").alias("symbol"), value)
    query = wr.stream(quotes.select("symbol", "value.*")).key_by("symbol")
    query = query.event_time("ms", delay="1 second", unit="ms")
    windows = query.window(wr.CountWindow(length=100, slide=50))
    return windows.agg(low=wf.min("price"), high=wf.max("price"), mean=wf.mean("price")).to_df()


def main() -> None:
    """Send quotes, and write the windows that they fill to the table."""
    if not (listens(KAFKA) and listens(POSTGRES)):
        print(START)
        return
    spark = wr.local_spark(spark__jars__packages=PACKAGES)
    send(spark)
    url, key = f"jdbc:postgresql://{POSTGRES}/postgres", ["symbol", "window_id"]
    writer = trend(spark).writeStream.foreachBatch(
        wr.sinks.upsert(url, TABLE, key=key, properties=LOGIN)
    )
    writer = writer.option("checkpointLocation", str(CHECKPOINT))
    writer.trigger(availableNow=True).start().awaitTermination()  # without trigger: forever
    print(f"The windows are in the table {TABLE}, each of them once.")


if __name__ == "__main__":
    main()
