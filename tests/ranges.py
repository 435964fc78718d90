"""Values with ties, extremes and every special float; ranges of every window model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

INT64 = np.iinfo(np.int64)

Ranges = tuple[NDArray[np.int64], NDArray[np.int64]]

int_values = st.one_of(
    st.lists(st.integers(-3, 3), max_size=40),
    st.lists(st.integers(INT64.min, INT64.max), max_size=40),
)
ordinary_floats = st.one_of(
    st.integers(-3, 3).map(float), st.floats(-1e6, 1e6), st.sampled_from([1e8, -1e8, 1e-8, -0.0])
)
special_floats = st.one_of(ordinary_floats, st.sampled_from([math.nan, math.inf, -math.inf]))
extreme_floats = st.floats(allow_nan=True, allow_infinity=True)


def float_values(elements: st.SearchStrategy[float]) -> st.SearchStrategy[list[float]]:
    return st.lists(elements, max_size=40)


@st.composite
def ranges_over(draw: st.DrawFn, n: int) -> Ranges:
    """Sliding, tumbling, hopping, varying, landmark-like and arbitrary ranges over n positions."""
    kind = draw(st.sampled_from(["sliding", "varying", "landmark", "arbitrary", "two keys"]))
    position = st.integers(0, n)
    if kind == "sliding":
        length, slide = draw(st.integers(1, n + 2)), draw(st.integers(1, 5))
        pairs = [(w, min(w + length, n)) for w in range(0, n, slide)]
    elif kind == "two keys":
        length, slide, split = draw(st.integers(1, n + 1)), draw(st.integers(1, 4)), draw(position)
        pairs = [(w, min(w + length, split)) for w in range(0, split, slide)]
        pairs += [(w, min(w + length, n)) for w in range(split, n, slide)]
    elif kind == "varying":
        lows = sorted(draw(st.lists(position, max_size=20)))
        highs = sorted(draw(st.lists(position, min_size=len(lows), max_size=len(lows))))
        pairs = [(low, max(low, high)) for low, high in zip(lows, highs, strict=True)]
    elif kind == "landmark":
        every = draw(st.integers(1, n + 1))
        highs = sorted(draw(st.lists(position, max_size=20)))
        pairs = [((high - 1) // every * every if high else 0, high) for high in highs]
    else:
        pairs = [
            (min(pair), max(pair))
            for pair in draw(st.lists(st.tuples(position, position), max_size=20))
        ]
    lo = np.array([low for low, _ in pairs], dtype=np.int64)
    return lo, np.array([high for _, high in pairs], dtype=np.int64)


@st.composite
def cases(draw: st.DrawFn, values: st.SearchStrategy[list[Any]]) -> tuple[list[Any], Ranges]:
    drawn = draw(values)
    return drawn, draw(ranges_over(len(drawn)))
