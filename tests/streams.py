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


def window_models(unit: int = 1) -> dict[str, st.SearchStrategy[WindowModel]]:
    """A strategy per window model; durations and origins are multiples of the unit."""
    lasting, every = lengths.map(lambda n: n * unit), slides.map(lambda n: n * unit)
    since = origins.map(lambda n: n * unit)
    change = lasting | st.floats(0.1 * unit, 9.0 * unit)
    landmarks = st.tuples(every, st.integers(1, 5), since)
    return {
        "count": st.builds(wr.CountWindow, lengths, st.none() | slides),
        "time": st.builds(wr.TimeWindow, lasting, st.none() | every, since),
        "landmark": landmarks.map(lambda m: wr.LandmarkWindow(m[0] * m[1], m[0], m[2])),
        "session": st.builds(wr.SessionWindow, lasting),
        "slide by tuple": st.builds(wr.SlideByTupleWindow, lasting, slides),
        "slide by time": st.builds(wr.SlideByTimeWindow, lengths, every, since),
        "delta": st.builds(wr.DeltaWindow, st.just("d"), change, change),
    }


_MODELS: dict[str, st.SearchStrategy[Any]] = dict(window_models())
count_windows, time_windows = _MODELS["count"], _MODELS["time"]
landmark_windows, session_windows = _MODELS["landmark"], _MODELS["session"]
slide_by_tuple_windows, slide_by_time_windows = _MODELS["slide by tuple"], _MODELS["slide by time"]
delta_windows = _MODELS["delta"]
interval_windows = count_windows | time_windows | landmark_windows
models: st.SearchStrategy[WindowModel] = st.one_of(*window_models().values())
models_in_milliseconds = st.one_of(*window_models(1000).values())
"""The watermark moves in milliseconds, so durations of streams with a delay do too."""

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
