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
from windrow.core.predicates import band, equi, theta
from windrow.core.version import VERSION
from windrow.patterns import KeyFarm, PaneFarm, WinFarm, WinMapReduce, WinSeq

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__version__ = VERSION


def local_spark(**conf: object) -> SparkSession:
    """A local Spark session for users who have none; see :mod:`windrow.spark.session`."""
    from windrow.spark.session import local_spark

    return local_spark(**conf)


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
    "band",
    "equi",
    "functions",
    "join",
    "local_spark",
    "stream",
    "theta",
]
