"""The release and the kind of PySpark that Windrow needs."""

from __future__ import annotations

import pyspark

from windrow.core.errors import WindrowError

LEAST = (4, 0)
"""The first release with transformWithState in Python."""


def is_at_least(least: tuple[int, int], release: str) -> bool:
    """Whether a release is this one or a newer one.

    >>> is_at_least((4, 0), "3.5.6"), is_at_least((4, 0), "4.0.0.dev1")
    (False, True)
    """
    return tuple(int(part) for part in release.split(".")[:2]) >= least


def is_new_enough(release: str) -> bool:
    """Whether Windrow runs on this release."""
    return is_at_least(LEAST, release)


def check_pyspark() -> None:
    """Raise if the installed PySpark is too old."""
    if not is_new_enough(pyspark.__version__):
        hint = 'pip install "pyspark>=4.0", for the driver and the executors.'
        raise WindrowError("Windrow needs PySpark 4.0 or newer", pyspark.__version__, hint)


def has_spark() -> bool:
    """Whether the installed PySpark brings Spark, and is no mere client of Spark Connect."""
    if not is_new_enough(pyspark.__version__):
        return True
    from pyspark.util import is_remote_only  # which older releases lack

    return not is_remote_only()


def check_has_spark(step: str) -> None:
    """Raise if the installed PySpark is a client of Spark Connect, without Spark."""
    if not has_spark():
        rule = f"{step} starts Spark on this machine, and pyspark-client has none"
        hint = (
            'take a session of a server, SparkSession.builder.remote("sc://host:15002")'
            '.getOrCreate(), or pip uninstall pyspark-client and pip install "windrow[spark]".'
        )
        raise WindrowError(rule, hint=hint)
