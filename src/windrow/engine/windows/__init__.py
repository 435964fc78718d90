"""The windows of a worker: placing tuples, the buffer, and one windower per kind of model.

A new window model needs its own windower: a subclass of ``Windower``, decorated with
``register_windower``.
"""

from windrow.engine.windows.buffer import WindowBuffer
from windrow.engine.windows.delta import DeltaWindower
from windrow.engine.windows.fired import FiredWindows
from windrow.engine.windows.interval import CountWindower, IntervalWindower
from windrow.engine.windows.session import SessionWindower
from windrow.engine.windows.slide_by_time import SlideByTimeWindower
from windrow.engine.windows.slide_by_tuple import SlideByTupleWindower
from windrow.engine.windows.windower import (
    Late,
    RefusedTuple,
    Share,
    Windower,
    register_windower,
    windower_class,
)

__all__ = [
    "CountWindower",
    "DeltaWindower",
    "FiredWindows",
    "IntervalWindower",
    "Late",
    "RefusedTuple",
    "SessionWindower",
    "Share",
    "SlideByTimeWindower",
    "SlideByTupleWindower",
    "WindowBuffer",
    "Windower",
    "register_windower",
    "windower_class",
]
