"""The Spark settings that streams need, and the settings of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
PARTITIONS = "spark.sql.shuffle.partitions"

FOR_STREAMS = {
    PROVIDER: "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
"""Stateful streaming in Python demands the first; the second makes small batches cheap."""

CORES = "spark.windrow.cores"
"""How many tasks run at once; overrides what Spark tells."""
OWN_PARTITIONS = "spark.windrow.shufflePartitions"
"""The number of shuffle partitions that Windrow has set, which tells it from a user's."""

SAMPLE = "spark.windrow.sample"
"""Whether bounded input is sampled for the planner where that costs little; true by default."""
MEASURE = "spark.windrow.measureFunctions"
"""Whether the driver calls your functions on a few windows of a sample, for the planner.

True by default. It calls copies, and only where a call takes less than 1 % of what the query does.
"""

COLUMNAR_SCAN = "spark.windrow.columnarScan"
"""Whether tasks may read the Parquet files of a DataFrame themselves; true unless it is set."""

COLUMNAR_STREAMS = "spark.windrow.columnarStreams"
"""Whether tasks may read the Parquet files of a streaming DataFrame themselves; false by default.

The files of a stream are not known before they come, so nothing is certain when it starts.
"""

NATIVE_STREAMS = "spark.windrow.nativeStreams"
"""Whether Spark's own aggregation computes windows of streams where it can; false by default."""


def is_on(spark: SparkSession, setting: str, *, by_default: bool) -> bool:
    """Whether a setting that is true or false is true in this session."""
    return str(spark.conf.get(setting, str(by_default).lower())).lower() == "true"


def local_checkpoints(version: str) -> dict[str, str]:
    """The checkpoint file manager for local disks in this version of Spark.

    Spark's own choice starts some fifty processes per batch, only to read links.

    >>> list(local_checkpoints("4.0.1").values())
    ['org.apache.spark.sql.execution.streaming.FileSystemBasedCheckpointFileManager']
    """
    package = "org.apache.spark.sql.execution.streaming"
    if not version.startswith("4.0."):
        package += ".checkpointing"
    manager = f"{package}.FileSystemBasedCheckpointFileManager"
    return {"spark.sql.streaming.checkpointFileManagerClass": manager}
