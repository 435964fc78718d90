"""The session of a program that runs on its own, on a cluster or through Spark Connect."""

from __future__ import annotations

from pyspark.sql import SparkSession


def start(master: str, is_remote: bool, **more: str) -> SparkSession:
    """A session; tells when it has started."""
    builder = SparkSession.builder
    builder = builder.remote(master) if is_remote else builder.master(master)
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        **more,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    print("starting", flush=True)
    spark = builder.getOrCreate()
    print("started", flush=True)
    return spark
