"""Interval windows fired step by step equal the oracle's over all tuples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import windrow as wr
from tests.streams import (
    count_windows,
    extents,
    interval_windows,
    landmark_windows,
    time_windows,
    times,
)
from windrow.core import IntervalWindow
from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.kernels.interval_windows import fire_intervals, next_hosted

Int64s = NDArray[np.int64]
ALL = np.ones(1, np.bool_)


class Keys:
    """The tuples and the state of a few keys, as the kernel wants them."""

    def __init__(self, axes: list[list[int]], model: IntervalWindow, shift: list[int]) -> None:
        self.model = model
        self.axis = np.array([t for axis in axes for t in axis], np.int64)
        ends = np.cumsum([len(a) for a in axes], dtype=np.int64)
        self.head = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        self.begin, self.tail, self.end = self.head.copy(), self.head.copy(), ends
        self.is_ranked = model.ranks_tuples
        self.next_id = np.full(len(axes), 0 if self.is_ranked else BEGINNING, np.int64)
        self.shift = np.array(shift, np.int64)

    def fire(
        self, watermark: int, hosted: NDArray[np.bool_] = ALL, batch: int = 1
    ) -> list[list[int]]:
        """Fire at a watermark; with ranks, at those that have come, unless it is the end."""
        model = self.model
        reached = np.full(len(self.head), watermark, np.int64)
        if self.is_ranked and watermark != END_OF_STREAM:
            reached = self.tail - self.begin
        found = fire_intervals(
            self.axis,
            self.head,
            self.tail,
            self.next_id,
            self.shift,
            hosted,
            batch,
            model.length,
            model.slide,
            model.every,
            model.origin,
            reached,
        )
        rows: list[list[int]] = found.tolist()
        return rows


def expected(model: IntervalWindow, axes: list[list[int]]) -> list[list[int]]:
    """Key, id and the positions of the tuples of every window."""
    rows, before = [], 0
    for k, axis in enumerate(axes):
        rows += [[k, id, lo + before, hi + before] for id, _, _, lo, hi in extents(model, axis)]
        before += len(axis)
    return rows


@given(
    time_windows | landmark_windows,
    st.lists(times(), min_size=1, max_size=3),
    st.lists(st.integers(-60, 300), max_size=5).map(sorted),
)
def test_time_and_landmark_windows(
    model: IntervalWindow, axes: list[list[int]], watermarks: list[int]
) -> None:
    keys = Keys(axes, model, [0] * len(axes))
    found: list[list[int]] = []
    for watermark in watermarks:
        passed = [sum(t < watermark for t in axis) for axis in axes]
        keys.tail = np.maximum(keys.tail, keys.end - [len(a) for a in axes] + passed)
        fired = keys.fire(watermark)
        assert all(_end(model, id) <= watermark for _, id, _, _ in fired)
        found += fired
    keys.tail = keys.end.copy()
    found += keys.fire(END_OF_STREAM)
    assert sorted(found) == expected(model, axes)


def _end(model: IntervalWindow, id: int) -> int:
    return model.origin + id * model.slide + model.length


@given(count_windows, st.lists(st.integers(0, 25), min_size=1, max_size=3), st.integers(1, 4))
def test_count_windows_fire_with_their_last_tuple(
    model: wr.CountWindow, counts: list[int], step: int
) -> None:
    axes = [list(range(n)) for n in counts]
    keys = Keys(axes, model, [0] * len(axes))
    found: list[list[int]] = []
    for placed in range(0, max(counts) + step, step):
        keys.tail = np.minimum(keys.begin + placed, keys.end)
        fired = keys.fire(BEGINNING)
        assert all(hi - lo == model.length for _, _, lo, hi in fired)
        found += fired
    full = [w for w in expected(model, axes) if w[3] - w[2] == model.length]
    assert sorted(found) == full
    assert sorted(found + keys.fire(END_OF_STREAM)) == expected(model, axes)


@given(
    interval_windows,
    st.lists(st.integers(0, 40), max_size=20).map(sorted),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(0, 5),
)
def test_every_window_is_fired_by_exactly_one_worker(
    model: IntervalWindow, axis: list[int], n: int, batch: int, shift: int
) -> None:
    axis = list(range(len(axis))) if model.ranks_tuples else axis
    found = []
    for worker in range(n):
        keys = Keys([axis], model, [shift])
        keys.tail = keys.end.copy()
        fired = keys.fire(END_OF_STREAM, np.arange(n) == worker, batch)
        assert all((shift + id // batch) % n == worker for _, id, _, _ in fired)
        found += fired
    assert sorted(found) == expected(model, [axis])


def test_a_window_fires_exactly_when_the_watermark_reaches_its_end() -> None:
    keys = Keys([[0, 9]], wr.TimeWindow(10), [0])
    keys.tail = keys.end.copy()
    assert keys.fire(9) == []
    assert keys.fire(10) == [[0, 0, 0, 2]]
    assert keys.fire(END_OF_STREAM) == []


def test_tuples_no_later_window_holds_are_evicted() -> None:
    keys = Keys([[0, 4, 5, 9]], wr.TimeWindow(10, 5), [0])
    keys.tail = keys.end.copy()
    keys.fire(10)
    assert keys.head.tolist() == [2]


def test_tuples_before_the_own_next_window_of_a_worker_are_evicted() -> None:
    """Worker 2 of 3 computes windows 2, 5, ...: after window 2 it slides on to [25, 35)."""
    for worker, head in ((0, 3), (1, 4), (2, 5)):
        keys = Keys([list(range(0, 40, 5))], wr.TimeWindow(10, 5), [0])
        keys.tail = keys.end.copy()
        keys.fire(20, np.arange(3) == worker)
        assert keys.head.tolist() == [head]


@pytest.mark.parametrize(("id", "first"), [(-5, -4), (-4, -4), (-3, -3), (-2, 2), (0, 2), (2, 2)])
def test_next_hosted_counts_blocks_of_windows_also_below_zero(id: int, first: int) -> None:
    # Worker 1 of 3 with batches of 2: blocks -2, 1, 4, ... that is windows -4, -3, 2, 3, 8, ...
    assert next_hosted(id, 0, 2, np.arange(3) == 1) == first


def test_a_worker_that_hosts_nothing_fires_nothing() -> None:
    keys = Keys([[0, 1, 2]], wr.TimeWindow(1), [0])
    keys.tail = keys.end.copy()
    assert keys.fire(END_OF_STREAM, np.zeros(2, np.bool_)) == []
