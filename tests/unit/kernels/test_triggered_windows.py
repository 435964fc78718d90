"""Triggered windows and sessions fired step by step equal the oracle's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import windrow as wr
from tests.streams import (
    delta_windows,
    extents,
    session_windows,
    slide_by_time_windows,
    slide_by_tuple_windows,
    times,
)
from windrow.core import WindowModel
from windrow.core.watermark import END_OF_STREAM
from windrow.kernels.triggered_windows import (
    fire_deltas,
    fire_sessions,
    fire_slide_by_time,
    fire_slide_by_tuple,
)

Int64s = NDArray[np.int64]
Fired = list[tuple[int, int, int]]
watermarks = st.lists(st.integers(-60, 300), max_size=5).map(sorted)


def one(value: int = 0) -> Int64s:
    return np.array([value], np.int64)


def passes(axis: list[int], marks: list[int]) -> Iterator[tuple[int, int]]:
    """The watermarks, the end of the stream last, and how many tuples each has passed."""
    for mark in [*marks, END_OF_STREAM]:
        yield mark, sum(t < mark for t in axis)


def expected(model: WindowModel, axis: list[int]) -> Fired:
    return [(id, lo, hi) for id, _, _, lo, hi in extents(model, axis)]


def run(axis: list[int], marks: list[int], fire: Callable[[Int64s, Int64s, int], Any]) -> Fired:
    """Fire at every watermark; ``fire(head, tail, watermark)``."""
    head, found = one(), []
    for mark, passed in passes(axis, marks):
        found += [tuple(row[1:]) for row in fire(head, one(passed), mark).tolist()]
    return found


@given(slide_by_tuple_windows, times(), watermarks)
def test_slide_by_tuple(model: wr.SlideByTupleWindow, axis: list[int], marks: list[int]) -> None:
    next_id, values = one(), np.array(axis, np.int64)

    def fire(head: Int64s, tail: Int64s, mark: int) -> Any:
        return fire_slide_by_tuple(values, head, tail, tail, next_id, model.length, model.slide)

    assert run(axis, marks, fire) == expected(model, axis)


@given(slide_by_time_windows, times(), watermarks)
def test_slide_by_time(model: wr.SlideByTimeWindow, axis: list[int], marks: list[int]) -> None:
    scanned, values = one(), np.array(axis, np.int64)

    def fire(head: Int64s, tail: Int64s, mark: int) -> Any:
        found = fire_slide_by_time(
            values, head, tail, scanned, model.length, model.slide, model.origin, mark
        )
        assert all(model.origin + id * model.slide <= mark for id in found[:, 1].tolist())
        return found

    assert run(axis, marks, fire) == expected(model, axis)


@given(session_windows, times(), watermarks)
def test_sessions(model: wr.SessionWindow, axis: list[int], marks: list[int]) -> None:
    scanned, next_id, values = one(), one(), np.array(axis, np.int64)

    def fire(head: Int64s, tail: Int64s, mark: int) -> Any:
        found = fire_sessions(values, head, tail, scanned, next_id, model.gap, mark)
        assert all(axis[hi - 1] + model.gap < mark for hi in found[:, 3].tolist())
        return found

    assert run(axis, marks, fire) == expected(model, axis)


@given(delta_windows, times(), watermarks)
def test_deltas(model: wr.DeltaWindow, axis: list[int], marks: list[int]) -> None:
    scanned, next_id, last_trigger = one(), one(), one()
    values, ends = np.array(axis, np.int64), []

    def fire(head: Int64s, tail: Int64s, mark: int) -> Any:
        found, triggers, fall = fire_deltas(
            values, head, tail, scanned, next_id, last_trigger, model.length, model.slide
        )
        assert fall == -1
        ends.extend(values[triggers].tolist())
        return found

    assert run(axis, marks, fire) == expected(model, axis)
    assert ends == [end for _, _, end, *_ in extents(model, axis)]


def test_a_session_at_its_end_is_open() -> None:
    axis = np.array([0, 5])
    arguments = (axis, one(), one(2), one(), one(), 5)
    assert len(fire_sessions(*arguments, 10)) == 0
    assert fire_sessions(*arguments, 11).tolist() == [[0, 0, 0, 2]]


def test_a_falling_attribute_is_found_also_between_batches() -> None:
    axis = np.array([1, 5, 4])
    state = (one(), one(), one())
    head = one()
    _, _, fall = fire_deltas(axis, head, one(2), *state, 1, 1)
    assert fall == -1
    _, _, fall = fire_deltas(axis, head, one(3), *state, 1, 1)
    assert fall == 2
