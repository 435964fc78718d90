"""Spark sessions: an embedded default, and what we must know of a user's own."""

from __future__ import annotations

import os
import re
import sys

import pyspark
from pyspark.sql import SparkSession

_FOR_STREAMS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
"""Stateful streaming in Python demands the first; the second makes small batches cheap."""

LOCAL_CHECKPOINTS = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    ),
}
"""On a local disk Spark's own choice starts some fifty processes a batch, to read links."""

_DEFAULTS: dict[str, str] = {
    "spark.app.name": "windrow",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    **_FOR_STREAMS,
    # In 4.0 the class has another name.
    **({} if pyspark.__version__.startswith("4.0") else LOCAL_CHECKPOINTS),
}


def local_spark(**conf: object) -> SparkSession:
    """A local Spark session for users who have none: quiet, in UTC, sized for this machine.

    Settings given override ours; their dots are written as double underscores:
    ``local_spark(spark__driver__memory="8g")``. ``cores=4`` limits the cores.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    cores = conf.pop("cores", None) or os.cpu_count() or 1
    settings = {
        **_DEFAULTS,
        "spark.master": f"local[{cores}]",
        "spark.sql.shuffle.partitions": str(cores),
        "spark.driver.memory": f"{_half_of_memory()}m",
        **{name.replace("__", "."): str(value) for name, value in conf.items()},
    }
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _half_of_memory() -> int:
    """Half of the machine's memory in MiB, 1 to 8 GiB: the other half is for Python."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return max(1024, min(total // 2, 8192))


def make_ready_for_streams(spark: SparkSession, partitions: int) -> None:
    """Give the session the settings that stateful streams need, where it has Spark's defaults.

    Streams in Python need the RocksDB state store; each partition of a stateful stage costs a
    tenth of a second a batch, so that Spark's 200 would never finish one.
    """
    for name, value in _FOR_STREAMS.items():
        if spark.conf.get(name, "") in ("", "false") or "HDFSBacked" in str(spark.conf.get(name)):
            spark.conf.set(name, value)
    if spark.conf.get("spark.sql.shuffle.partitions") == "200":
        spark.conf.set("spark.sql.shuffle.partitions", str(partitions))


def cores_of(spark: SparkSession) -> int:
    """How many tasks the session runs at once, as far as its settings tell."""
    master = spark.conf.get("spark.master", "") or ""
    if found := re.fullmatch(r"local\[(\d+|\*)(?:,.*)?\]", master):
        return (os.cpu_count() or 1) if found[1] == "*" else int(found[1])
    if found := re.fullmatch(r"local-cluster\[(\d+),(\d+),\d+\]", master):
        return int(found[1]) * int(found[2])
    if master == "local":
        return 1
    for setting in ("spark.default.parallelism", "spark.cores.max"):
        if (value := spark.conf.get(setting, None)) is not None:
            return int(value)
    instances = int(spark.conf.get("spark.executor.instances", None) or 2)
    return instances * int(spark.conf.get("spark.executor.cores", None) or 1)
