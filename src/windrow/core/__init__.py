"""Window models, the algebra of aggregates and the oracle; they need only NumPy."""

from windrow.core import oracle
from windrow.core.aggregate import Aggregate, Commutative, Idempotent, Invertible
from windrow.core.durations import Duration, instant, microseconds
from windrow.core.errors import WindrowError
from windrow.core.models import (
    Axis,
    Context,
    CountWindow,
    DeltaWindow,
    IntervalWindow,
    LandmarkWindow,
    MappedWindow,
    SessionWindow,
    SlideByTimeWindow,
    SlideByTupleWindow,
    TimeWindow,
    WindowModel,
)
from windrow.core.window import Window

__all__ = [
    "Aggregate",
    "Axis",
    "Commutative",
    "Context",
    "CountWindow",
    "DeltaWindow",
    "Duration",
    "Idempotent",
    "IntervalWindow",
    "Invertible",
    "LandmarkWindow",
    "MappedWindow",
    "SessionWindow",
    "SlideByTimeWindow",
    "SlideByTupleWindow",
    "TimeWindow",
    "Window",
    "WindowModel",
    "WindrowError",
    "instant",
    "microseconds",
    "oracle",
]
