"""M and E are inverse to each other: w is in M(t) if and only if t is in E(w)."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from tests.streams import extents, interval_windows, times
from windrow.core import Axis, IntervalWindow


@given(interval_windows, times())
def test_tuple_is_in_exactly_the_windows_it_maps_to(
    model: IntervalWindow, stream: list[int]
) -> None:
    axis = np.array(stream, np.int64)
    first, last = model.mapping(np.arange(len(axis)) if model.axis is Axis.RANK else axis)
    by_mapping = {(w, i) for i in range(len(axis)) for w in range(int(first[i]), int(last[i]) + 1)}
    by_extent = {(w, i) for w, _, _, lo, hi in extents(model, stream) for i in range(lo, hi)}
    assert by_mapping == by_extent


@given(interval_windows, times())
def test_bounds_are_those_of_the_definition(model: IntervalWindow, stream: list[int]) -> None:
    found = extents(model, stream)
    start, end = model.bounds(np.array([w for w, *_ in found], np.int64))
    assert start.tolist() == [s for _, s, *_ in found]
    assert end.tolist() == [e for _, _, e, *_ in found]


@given(interval_windows, times())
def test_a_window_is_whole_panes(model: IntervalWindow, stream: list[int]) -> None:
    """Tuples mapped to panes, then panes to windows, are in the windows of the tuples."""
    axis = np.arange(len(stream)) if model.axis is Axis.RANK else np.array(stream, np.int64)
    panes, same = model.panes().mapping(axis)
    assert panes.tolist() == same.tolist()
    expected = [ids.tolist() for ids in model.mapping(axis)]
    assert [ids.tolist() for ids in model.in_panes().mapping(panes)] == expected
