"""Partials kept from one firing to the next equal those combined anew, whatever comes when."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.own_aggregates import Latest, Moments, Seen, Total
from tests.trail import Trail
from windrow.core.decimals import wide_decimals
from windrow.engine.evaluate.partial_ranges import Known
from windrow.engine.evaluate.sliding import SlidingPartials
from windrow.engine.windows.fired import FiredWindows

FUNCTIONS = [Total("x"), Moments("x"), Seen("x"), Latest("x"), Trail("x")]
Ranges = list[tuple[int, int]]


@st.composite
def firings(draw: st.DrawFn, n: int) -> list[Ranges]:
    """Ranges of one key over panes, in several firings: sliding, growing, or any others."""
    kind = draw(st.sampled_from(["sliding", "growing", "any"]))
    if kind == "sliding":
        length, slide = draw(st.integers(1, n + 2)), draw(st.integers(1, 6))
        ranges = [(w, min(w + length, n)) for w in range(0, n, slide)]
    elif kind == "growing":
        every = draw(st.integers(1, n + 1))
        ranges = [(end // every * every, end + 1) for end in range(n)]
    else:
        ends = st.tuples(st.integers(0, n), st.integers(0, n))
        ranges = [(min(p), max(p)) for p in draw(st.lists(ends, max_size=12)) if p[0] != p[1]]
    cuts = sorted(draw(st.lists(st.integers(0, len(ranges)), max_size=3)))
    return [ranges[a:b] for a, b in zip([0, *cuts], [*cuts, len(ranges)], strict=True)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=repr)
@examples(100)
@given(data=st.data())
def test_windows_equal_those_combined_one_by_one(function: Any, data: st.DataObject) -> None:
    known = st.sampled_from("abc") if isinstance(function, Trail) else st.integers(0, 9)
    keys = data.draw(st.integers(1, 3))
    pane = data.draw(st.none() | st.integers(1, 3))
    columns = [data.draw(st.lists(st.none() | known, min_size=1, max_size=24)) for _ in range(keys)]
    width = 1 if pane is None else pane
    drawn = [data.draw(firings(len(column))) for column in columns]
    sliding = SlidingPartials(function)
    offsets = [data.draw(st.integers(0, 5)) for _ in range(keys)]
    for firing in range(max(map(len, drawn))):
        own = [(k, r) for k in range(keys) for r in (drawn[k][firing : firing + 1] or [[]])[0]]
        # Windows begin and end where panes do.
        own = [
            (k, (lo // width * width, min(-(-hi // width) * width, len(columns[k]))))
            for k, (lo, hi) in own
        ]
        if not own:
            continue
        later = [[r for ranges in drawn[k][firing + 1 :] for r in ranges] for k in range(keys)]
        held = [min([lo // width * width for lo, _ in later[k]], default=99) for k in range(keys)]
        # Where the tuples are changes from one firing to the next; their numbers stay.
        starts = np.cumsum([0, *map(len, columns)])[:-1] + firing
        found = sliding.over(
            _windows(own, starts, offsets, held),
            _lift(function, columns, starts),
            None if pane is None else _panes(columns, starts, pane),
        )
        assert found == [_naive(function, columns[k][lo:hi]) for k, (lo, hi) in own]


def _windows(own: Any, starts: Any, offsets: list[int], held: list[int]) -> FiredWindows:
    keys = np.array([k for k, _ in own])
    lo, hi = (np.array([r[i] for _, r in own]) + starts[keys] for i in (0, 1))
    numbers = np.array(offsets)[keys] - starts[keys]
    return FiredWindows(
        keys, lo, lo, hi, lo, hi, numbers, np.array(held)[keys] + np.array(offsets)[keys]
    )


def _lift(function: Any, columns: list[list[Any]], starts: Any) -> Any:
    every = [None] * int(starts[0]) + [value for column in columns for value in column]

    def lift(positions: Any, numbers: Any) -> Any:
        values = [every[p] for p in positions.tolist()]
        return lambda i: None if values[i] is None else (function.lift(values[i]),)

    return lift


def _panes(columns: list[list[Any]], starts: Any, pane: int) -> Any:
    every = [0] * int(starts[0]) + [i // pane for column in columns for i in range(len(column))]
    return lambda positions: np.array(every, np.int64)[positions]


def _naive(function: Any, values: list[Any]) -> Known:
    with wide_decimals():
        some = [function.lift(v) for v in values if v is not None]
        return (reduce(function.combine, some),) if some else None
