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
    Axis,
    Commutative,
    Context,
    CountWindow,
    DeltaWindow,
    Idempotent,
    Invertible,
    LandmarkWindow,
    MappedWindow,
    SessionWindow,
    SlideByTimeWindow,
    SlideByTupleWindow,
    TimeWindow,
    Window,
    WindowModel,
    WindrowError,
)
from windrow.core.predicates import band, equi, theta
from windrow.patterns import KeyFarm, PaneFarm, WinFarm, WinMapReduce, WinSeq

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__version__ = "0.1.0"


def local_spark(**conf: object) -> SparkSession:
    """A local Spark session for users who have none; see :mod:`windrow.spark.session`."""
    from windrow.spark.session import local_spark

    return local_spark(**conf)


__all__ = [
    "Aggregate",
    "Axis",
    "Commutative",
    "Context",
    "CountWindow",
    "DeltaWindow",
    "Idempotent",
    "Invertible",
    "Join",
    "KeyFarm",
    "LandmarkWindow",
    "MappedWindow",
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
    "WindowModel",
    "WindrowError",
    "band",
    "equi",
    "functions",
    "join",
    "local_spark",
    "stream",
    "theta",
]
