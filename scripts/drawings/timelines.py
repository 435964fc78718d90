"""A timeline of every window model: its rows, its windows, and the rows in each window."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np

import windrow as wr
from scripts.drawings.svg import BLUE, PALE, box, dot, line, svg, text
from windrow import functions as wf

TIMES = (1, 2, 3, 5, 6, 9, 10, 14, 15)
KM = (0, 1, 2, 3, 5, 6, 8, 9, 12)
MODELS: dict[str, tuple[wr.WindowModel, str]] = {
    "count": (wr.CountWindow(4, 2), "rank"),
    "time": (wr.TimeWindow("6 s", "3 s"), "seconds"),
    "landmark": (wr.LandmarkWindow("8 s", "4 s"), "seconds"),
    "session": (wr.SessionWindow("2 s"), "seconds"),
    "slide_by_tuple": (wr.SlideByTupleWindow("5 s", 2), "seconds"),
    "slide_by_time": (wr.SlideByTimeWindow(3, "4 s"), "seconds"),
    "delta": (wr.DeltaWindow("km", 5, 3), "km"),
}
"""Models with the axis that they are drawn on."""
_WIDTH, _LEFT, _STEP, _TOP, _ROW = 720, 90, 34, 58, 30


def timeline(model: wr.WindowModel, axis: str) -> str:
    """The picture of a model over the rows of this module."""
    rows = {"i": np.arange(len(TIMES)), "t": np.array(TIMES), "km": np.array(KM)}
    places = {"rank": rows["i"], "seconds": rows["t"], "km": rows["km"]}[axis]
    query = wr.stream(rows).event_time("t", unit="s").window(model)
    windows = query.agg(rows=wf.collect("i")).ordered().collect().to_pylist()
    end = _TOP + _ROW * len(windows)
    parts = [text(_LEFT - 16, 26, axis, anchor="end"), line(_LEFT - 8, 36, _WIDTH - 10, 36)]
    for place in range(max(places) + 3):
        parts += [line(_x(place), 32, _x(place), 36), text(_x(place), 22, str(place))]
    for place in places:
        parts += [dot(_x(place), 36), line(_x(place), 42, _x(place), end, stroke="#7a879440")]
    for number, window in enumerate(windows):
        parts += _bar(_TOP + _ROW * number, window, places)
    return svg(_WIDTH, end + 8, parts, f"The windows of {model!r}")


def _x(place: float) -> float:
    return _LEFT + _STEP * place


def _bar(y: float, window: dict[str, Any], places: Any) -> list[str]:
    first, last = (_place(window[name]) for name in ("window_start", "window_end"))
    first = max(first, -0.2)
    bar = box(_x(first), y, max(3, _x(last) - _x(first)), 20, fill=PALE, stroke=BLUE)
    held = [dot(_x(places[i]), y + 10, radius=4) for i in window["rows"]]
    return [text(_LEFT - 16, y + 14, f"window {window['window_id']}", anchor="end"), bar, *held]


def _place(bound: Any) -> float:
    if isinstance(bound, datetime):
        return (bound - datetime(1970, 1, 1, tzinfo=bound.tzinfo)).total_seconds()
    return float(bound)


def timelines() -> dict[str, str]:
    """The pictures by file name."""
    return {f"window_{name}.svg": timeline(*what) for name, what in MODELS.items()}
