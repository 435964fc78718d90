"""The embedded default: a local Spark session for users who have none."""

from __future__ import annotations

import os
import sys

import pyspark
from pyspark import SparkContext
from pyspark.sql import SparkSession

from windrow.core.errors import warn
from windrow.spark.settings import FOR_STREAMS, OWN_PARTITIONS, PARTITIONS, local_checkpoints

_DEFAULTS: dict[str, str] = {
    "spark.app.name": "windrow",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    **FOR_STREAMS,
    **local_checkpoints(pyspark.__version__),
}


def local_spark(**conf: object) -> SparkSession:
    """A local Spark session for users who have none: quiet, in UTC, sized for this machine.

    Settings given override ours; their dots are written as double underscores:
    ``local_spark(spark__driver__memory="8g")``. ``cores=4`` limits the cores.

    A program that has a session already gets that one, as it is, and a warning that lists the
    settings it lacks.
    """
    cores = str(conf.pop("cores", None) or os.cpu_count() or 1)
    given = {name.replace("__", "."): str(value) for name, value in conf.items()}
    settings = {
        **_DEFAULTS,
        "spark.master": f"local[{cores}]",
        PARTITIONS: cores,
        "spark.driver.memory": f"{_half_of_memory()}m",
        **given,
    }
    if (existing := _existing()) is not None:
        _warn_of_ignored(existing, settings)
        return existing
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if PARTITIONS not in given:
        settings[OWN_PARTITIONS] = cores
    return SparkSession.builder.config(map=dict(settings)).getOrCreate()


def _existing() -> SparkSession | None:
    """The program's session, also if another thread has made it."""
    if SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    return SparkSession.getActiveSession()


def _warn_of_ignored(spark: SparkSession, settings: dict[str, str]) -> None:
    """Say which settings the session lacks; a number of partitions we have raised is no lack."""
    has = spark.conf.getAll
    ours = {PARTITIONS} if has.get(OWN_PARTITIONS) == has.get(PARTITIONS) else set()
    ignored = [
        f"{name}={value} (it has {has.get(name, 'none')})"
        for name, value in settings.items()
        if has.get(name) != value and name not in ours
    ]
    if ignored:
        warn(
            "local_spark returns the session that exists, as it is; these settings are ignored: "
            f"{', '.join(ignored)}. Stop that session first to have them."
        )


def _half_of_memory() -> int:
    """Half of the machine's memory in MiB, 1 to 8 GiB: the other half is for Python."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return max(1024, min(total // 2, 8192))
