"""Where a session runs its tasks, as far as it tells."""

from __future__ import annotations

import re

from pyspark.sql import SparkSession


def is_connect(spark: SparkSession) -> bool:
    """Whether the session is a client of Spark Connect, which has no Spark context."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def master_of(spark: SparkSession) -> str:
    """The master, such as ``local[2]``; empty where a server does not tell it."""
    if is_connect(spark):
        return spark.conf.get("spark.master", None) or ""
    # The setting may have been overwritten since the context started.
    return str(spark.sparkContext.master)


def is_in_this_process(spark: SparkSession) -> bool:
    """Whether tasks run in the driver's own JVM, on this machine."""
    return not is_connect(spark) and re.match(r"local(\[|$)", master_of(spark)) is not None
