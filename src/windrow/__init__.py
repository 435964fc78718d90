"""Windrow: parallel sliding-window patterns for PySpark.

Nothing heavy is imported here: PySpark, Numba and PyArrow come in when a query needs them.
"""

from windrow import functions
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
from windrow.patterns import KeyFarm, PaneFarm, WinFarm, WinMapReduce, WinSeq
from windrow.query import Query, stream

__version__ = "0.1.0"

__all__ = [
    "Aggregate",
    "Commutative",
    "CountWindow",
    "DeltaWindow",
    "Idempotent",
    "Invertible",
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
    "functions",
    "stream",
]
