"""Windrow: parallel sliding-window patterns for PySpark.

Nothing heavy is imported here: PySpark, Numba and PyArrow come in when a query needs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow import functions
from windrow.api.join import Join, join
from windrow.api.query import Query, stream
from windrow.core import (
    Aggregate,
    Commutative,
    CountWindow,
    DeltaWindow,
    Idempotent,
    Invertible,
    LandmarkWindow,
    SessionWindow,
    SlideByTimeWindow,
    SlideByTupleWindow,
    TimeWindow,
    Window,
    WindrowError,
)
from windrow.core.errors import WindrowWarning
from windrow.core.predicates import band, equi, theta
from windrow.patterns import KeyFarm, PaneFarm, WinFarm, WinMapReduce, WinSeq

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__version__ = "0.1.0"


def local_spark(**conf: object) -> SparkSession:
    """A local Spark session for users who have none; see :mod:`windrow.spark.local`."""
    from windrow.spark.local import local_spark

    return local_spark(**conf)


def configure(spark: SparkSession) -> dict[str, tuple[str | None, str]]:
    """Give a session the settings that streams need; see :mod:`windrow.spark.session`.

    Returns the settings changed, each with its old and its new value. Settings that are set
    explicitly are never changed.
    """
    from windrow.spark.session import configure

    return configure(spark)


__all__ = [
    "Aggregate",
    "Commutative",
    "CountWindow",
    "DeltaWindow",
    "Idempotent",
    "Invertible",
    "Join",
    "KeyFarm",
    "LandmarkWindow",
    "PaneFarm",
    "Query",
    "SessionWindow",
    "SlideByTimeWindow",
    "SlideByTupleWindow",
    "TimeWindow",
    "WinFarm",
    "WinMapReduce",
    "WinSeq",
    "Window",
    "WindrowError",
    "WindrowWarning",
    "band",
    "configure",
    "equi",
    "functions",
    "join",
    "local_spark",
    "stream",
    "theta",
]
