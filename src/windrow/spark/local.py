"""The embedded default: a local Spark session for users who have none."""

from __future__ import annotations

import logging
import os
import sys

import pyspark
from pyspark import SparkContext
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from windrow.core.checks import positive_workers
from windrow.core.errors import WindrowError, warn
from windrow.spark.quiet_start import start_quietly
from windrow.spark.session import value_of
from windrow.spark.settings import FOR_STREAMS, OWN_PARTITIONS, PARTITIONS, local_checkpoints

_DEFAULTS: dict[str, str] = {
    "spark.app.name": "windrow",
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

    A program that has a session already gets that one, as it is, with a warning that lists the
    settings that were ignored.
    """
    wanted = conf.pop("cores", None)
    cores = str(
        os.cpu_count() or 1 if wanted is None else positive_workers(wanted, "cores", "cores")
    )
    given = {name.replace("__", "."): _setting(name, value) for name, value in conf.items()}
    sized = {
        "spark.master": f"local[{cores}]",
        "spark.sql.session.timeZone": "UTC",
        PARTITIONS: cores,
        "spark.driver.memory": f"{_half_of_memory()}m",
        **given,
    }
    if (existing := _existing()) is not None:
        _warn_of_ignored(existing, sized)
        return existing
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if PARTITIONS not in given:
        sized[OWN_PARTITIONS] = cores
    settings = {**_DEFAULTS, **sized}
    start_quietly(settings)
    _quieten()
    return SparkSession.builder.config(map={**settings}).getOrCreate()


def _quieten() -> None:
    """Keep PySpark from printing the stack traces of exceptions that it raises anyway."""
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)


def _setting(name: str, value: object) -> str:
    """The value of a setting; raises if Spark would not look at it."""
    if not name.startswith(("spark__", "spark.")):
        rule = f"local_spark takes cores and settings of Spark: {name!r} is neither"
        hint = 'write the dots of a setting as "__", for example spark__driver__memory="8g".'
        raise WindrowError(rule, f"{name}={value!r}", hint)
    if value is None:
        raise WindrowError("a setting of Spark needs a value", f"{name}=None", "leave it out.")
    return str(value)


def _existing() -> SparkSession | None:
    """The program's session, also if another thread has made it."""
    if SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    return SparkSession.getActiveSession()


def _warn_of_ignored(spark: SparkSession, wanted: dict[str, str]) -> None:
    """Say which settings the session lacks; partitions that Windrow has raised are no lack."""
    explicit = spark.conf.getAll
    if PARTITIONS in explicit and explicit[PARTITIONS] == explicit.get(OWN_PARTITIONS):
        del wanted[PARTITIONS]
    present = {name: value_of(spark, name) for name in wanted}
    ignored = [
        f"{name}={value} (it has {present[name] or 'none'})"
        for name, value in wanted.items()
        if value != present[name]
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
