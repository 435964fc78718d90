"""Random streams and windows for the property tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import windrow as wr
from windrow.core import WindowModel, oracle

lengths = st.integers(1, 12)
slides = st.integers(1, 12)
origins = st.integers(-20, 20)

count_windows = st.builds(wr.CountWindow, lengths, st.none() | slides)
time_windows = st.builds(wr.TimeWindow, lengths, st.none() | slides, origins)
landmark_windows = st.builds(
    lambda slide, times, origin: wr.LandmarkWindow(slide * times, slide, origin),
    slides,
    st.integers(1, 5),
    origins,
)
session_windows = st.builds(wr.SessionWindow, lengths)
slide_by_tuple_windows = st.builds(wr.SlideByTupleWindow, lengths, slides)
slide_by_time_windows = st.builds(wr.SlideByTimeWindow, lengths, slides, origins)
delta_windows = st.builds(wr.DeltaWindow, st.just("d"), lengths, slides) | st.builds(
    wr.DeltaWindow, st.just("d"), st.floats(0.1, 9), st.floats(0.1, 9)
)
interval_windows = count_windows | time_windows | landmark_windows
models: st.SearchStrategy[WindowModel] = st.one_of(
    count_windows,
    time_windows,
    landmark_windows,
    session_windows,
    slide_by_tuple_windows,
    slide_by_time_windows,
    delta_windows,
)


Extent = tuple[int, Any, Any, int, int]
"""Id, start, end, and the places [lo, hi) of the tuples within their key."""


def extents(model: WindowModel, axis: list[Any]) -> list[Extent]:
    """The oracle's windows over one key's times, which a delta window takes for its attribute."""
    rows = [{"t": t, "d": t, "place": i} for i, t in enumerate(axis)]
    found = oracle.windows(model, rows, time="t" if model.needs_event_time else None)
    places = [[row["place"] for row in w.rows] for w in found]
    assert all(p == list(range(p[0], p[-1] + 1)) for p in places)
    return [(w.id, w.start, w.end, p[0], p[-1] + 1) for w, p in zip(found, places, strict=True)]


@st.composite
def times(draw: st.DrawFn, max_size: int = 30) -> list[int]:
    """Ordered times with ties, gaps and negative values."""
    steps = st.sampled_from([0, 0, 1, 1, 2, 3, 7, 40])
    start = draw(st.integers(-50, 50))
    gaps = draw(st.lists(steps, max_size=max_size))
    return [] if not gaps else (start + np.cumsum(gaps)).tolist()


@st.composite
def rows(draw: st.DrawFn, max_size: int = 30, scale: int = 1) -> list[dict[str, Any]]:
    """Tuples in disordered arrival: a key (or null), a time, a tie-breaker, values, a delta."""
    ordered = draw(times(max_size))
    key_sets: list[list[str | None]] = [["a"], ["a", "b"], ["a", "b", None], [*"abcdefgh"]]
    keys = draw(st.sampled_from(key_sets))
    made = []
    for t in ordered:
        made.append(
            {
                "k": draw(st.sampled_from(keys)),
                "t": t * scale,
                "seq": draw(st.integers(0, 3)),
                "x": draw(st.none() | st.integers(-100, 100)),
                "y": draw(st.none() | st.floats(-1e3, 1e3)),
                "d": t * scale // 2,
            }
        )
    return draw(st.permutations(made))


def in_milliseconds(model: WindowModel) -> WindowModel:
    """The watermark moves in milliseconds, so times and durations do too."""
    if isinstance(model, wr.TimeWindow):
        return wr.TimeWindow(model.length * 1000, model.slide * 1000, model.origin * 1000)
    if isinstance(model, wr.LandmarkWindow):
        return wr.LandmarkWindow(model.every * 1000, model.slide * 1000, model.origin * 1000)
    if isinstance(model, wr.SessionWindow):
        return wr.SessionWindow(model.gap * 1000)
    if isinstance(model, wr.SlideByTupleWindow):
        return wr.SlideByTupleWindow(model.length * 1000, model.slide)
    if isinstance(model, wr.SlideByTimeWindow):
        return wr.SlideByTimeWindow(model.length, model.slide * 1000, model.origin * 1000)
    if isinstance(model, wr.DeltaWindow):
        return wr.DeltaWindow(model.on, model.length * 1000, model.slide * 1000)
    return model
