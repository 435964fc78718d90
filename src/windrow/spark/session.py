"""A user's Spark session: what streams need of it, changed only where nobody has set it."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from windrow.core.errors import WindrowError, warn
from windrow.spark.cores import cores_of
from windrow.spark.master import is_in_this_process
from windrow.spark.monitor import watch
from windrow.spark.settings import (
    FOR_STREAMS,
    OWN_PARTITIONS,
    PARTITIONS,
    PROVIDER,
    local_checkpoints,
)

Changes = dict[str, tuple[str | None, str]]
"""Settings that were changed, each with its old value (None: there was none) and its new one."""

_LOG = logging.getLogger("windrow")
_TOO_MANY = 4
"""So many partitions per worker are worth a warning."""


def configure(spark: SparkSession) -> Changes:
    """Give a session the settings that streams need, and return what was changed.

    Settings that are set explicitly stay as they are. The others become: the RocksDB state store
    with changelog checkpointing; one shuffle partition per core; with a local master whose files
    are on a local disk, the checkpoint file manager that starts no processes.

    Queries over streams do the same by themselves. This function does it up front and visibly.
    """
    if not hasattr(spark, "conf"):
        raise WindrowError("configure takes a Spark session", repr(spark))
    changes = _configured(spark, cores_of(spark))
    _LOG.info("%s", _described(changes))
    return changes


def make_ready_for_streams(spark: SparkSession, partitions: int) -> None:
    """Give the session what a stateful stream with so many partitions needs.

    Spark reads the number of shuffle partitions when a query starts, for all that the session
    runs. So a number that Windrow has set is raised, and never lowered: an earlier query may not
    have started yet. A number that the user has set stays, with a warning where it makes the
    stream slow.
    """
    watch(spark)
    if changes := _configured(spark, partitions):
        _LOG.warning("%s; wr.configure(spark) does it up front", _described(changes))
    actual = int(spark.conf.get(PARTITIONS) or partitions)
    if actual < partitions:
        warn(
            f"{PARTITIONS} is set to {actual}, and this query has {partitions} workers with "
            f"state: some of them share a partition and take turns. Set it to {partitions} or more."
        )
    elif actual > _TOO_MANY * partitions:
        warn(
            f"{PARTITIONS} is {actual}, and this query has {partitions} workers with state: "
            f"every batch also waits for {actual - partitions} empty partitions, about 0.05 s of "
            f"work each. Set it to {partitions} before the query starts for the first time."
        )


def _configured(spark: SparkSession, partitions: int) -> Changes:
    """Set what is not set explicitly, and tell what that has changed."""
    explicit = spark.conf.getAll
    _check_provider(explicit)
    wanted = {n: v for n, v in _wanted(spark).items() if n not in explicit}
    of_ours = explicit.get(OWN_PARTITIONS)
    present = explicit.get(PARTITIONS)
    if present is None or (present == of_ours and int(present) < partitions):
        wanted[PARTITIONS] = str(partitions)
        spark.conf.set(OWN_PARTITIONS, str(partitions))
    changes = {name: (value_of(spark, name), value) for name, value in wanted.items()}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    return {name: (old, new) for name, (old, new) in changes.items() if old != new}


def _wanted(spark: SparkSession) -> dict[str, str]:
    wanted = dict(FOR_STREAMS)
    if is_in_this_process(spark):
        files = spark.sparkContext._jsc.hadoopConfiguration().get("fs.defaultFS")
        if str(files).startswith("file:"):
            wanted.update(local_checkpoints(spark.version))
    return wanted


def _check_provider(explicit: Mapping[str, str]) -> None:
    provider = explicit.get(PROVIDER, "")
    if "HDFSBacked" in provider:
        raise WindrowError(
            "stateful streams in Python need the RocksDB state store",
            f"{PROVIDER}={provider}",
            "unset it, and Windrow sets it to RocksDBStateStoreProvider.",
        )


def value_of(spark: SparkSession, name: str) -> str | None:
    """The value that holds now, be it Spark's default."""
    try:
        return spark.conf.get(name)
    except PySparkException:
        return None


def _described(changes: Changes) -> str:
    if not changes:
        return "the session has all settings that streams need"
    each = (f"{name} from {old or 'no value'} to {new}" for name, (old, new) in changes.items())
    return f"changed settings of the Spark session for streams: {', '.join(each)}"
