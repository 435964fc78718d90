"""The seven window models, one a file."""

from windrow.core.models.count import CountWindow
from windrow.core.models.delta import DeltaWindow
from windrow.core.models.landmark import LandmarkWindow
from windrow.core.models.model import Bounds, Context, Extents, MappedWindow, WindowModel
from windrow.core.models.session import SessionWindow
from windrow.core.models.slide_by_time import SlideByTimeWindow
from windrow.core.models.slide_by_tuple import SlideByTupleWindow
from windrow.core.models.time import TimeWindow

__all__ = [
    "Bounds",
    "Context",
    "CountWindow",
    "DeltaWindow",
    "Extents",
    "LandmarkWindow",
    "MappedWindow",
    "SessionWindow",
    "SlideByTimeWindow",
    "SlideByTupleWindow",
    "TimeWindow",
    "WindowModel",
]
