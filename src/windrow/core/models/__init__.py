"""The seven window models, one per file."""

from windrow.core.models.count import CountWindow
from windrow.core.models.delta import DeltaWindow
from windrow.core.models.interval import IntervalWindow, over_ranks
from windrow.core.models.landmark import LandmarkWindow
from windrow.core.models.model import Axis, Context, MappedWindow, WindowModel, mapped
from windrow.core.models.session import SessionWindow
from windrow.core.models.slide_by_time import SlideByTimeWindow
from windrow.core.models.slide_by_tuple import SlideByTupleWindow
from windrow.core.models.time import TimeWindow

__all__ = [
    "Axis",
    "Context",
    "CountWindow",
    "DeltaWindow",
    "IntervalWindow",
    "LandmarkWindow",
    "MappedWindow",
    "SessionWindow",
    "SlideByTimeWindow",
    "SlideByTupleWindow",
    "TimeWindow",
    "WindowModel",
    "mapped",
    "over_ranks",
]
