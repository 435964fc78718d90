"""Windowers over a buffer of many keys fire the oracle's windows, however tuples come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import windrow as wr
from tests.streams import (
    delta_windows,
    extents,
    interval_windows,
    models,
    session_windows,
    time_windows,
    times,
)
from windrow.core import Axis, WindowModel
from windrow.core.watermark import END_OF_STREAM
from windrow.engine.columns.control import AXIS
from windrow.engine.columns.storage import Stored
from windrow.engine.windows import RefusedTuple, Share, WindowBuffer, windower_class

Window = tuple[int, int, Any, Any, tuple[int, ...]]
"""Key, id, start, end, and the places of its tuples within the key."""


class Keys:
    """A windower, its buffer, and which tuple of its key each held one is."""

    def __init__(
        self, model: WindowModel, n_keys: int, share: Share | None = None, kind: type = np.int64
    ) -> None:
        self.buffer, self.windower = WindowBuffer(), windower_class(model)(model, share)
        self.buffer.add_keys(n_keys)
        self.windower.add_keys(np.zeros(n_keys, np.int64))
        self.kind = kind
        self.is_ranked = model.axis is Axis.RANK

    def append(self, key: int, axis: list[Any], first: int) -> None:
        places = np.arange(first, first + len(axis))
        codes = np.full(len(axis), key, np.int64)
        ruling = places if self.is_ranked else np.array(axis, self.kind)
        self.buffer.append(codes, {AXIS: Stored(ruling), "place": Stored(places)})
        self.windower.place(codes)

    def fire(self, watermark: int) -> list[Window]:
        fired = self.windower.fire(self.buffer, watermark)
        places = self.buffer.columns["place"].values
        columns: list[NDArray[Any]] = [fired.keys, fired.ids, fired.start, fired.end]
        lists = [c.tolist() for c in (*columns, fired.lo, fired.hi)]
        return [
            (*window, tuple(places[lo:hi].tolist())) for *window, lo, hi in zip(*lists, strict=True)
        ]


def expected(model: WindowModel, axes: list[list[Any]]) -> list[Window]:
    return [
        (k, id, start, end, tuple(range(lo, hi)))
        for k, axis in enumerate(axes)
        for id, start, end, lo, hi in extents(model, axis)
    ]


@given(
    models, st.lists(times(), min_size=1, max_size=3), st.lists(st.integers(-60, 300)).map(sorted)
)
def test_windows_fired_in_steps_are_the_oracles(
    model: WindowModel, axes: list[list[int]], watermarks: list[int]
) -> None:
    keys, found = Keys(model, len(axes)), []
    passed = [0] * len(axes)
    for watermark in [*watermarks, END_OF_STREAM]:
        for k, axis in enumerate(axes):
            until = sum(t < watermark for t in axis)
            keys.append(k, axis[passed[k] : until], passed[k])
            passed[k] = until
        found += keys.fire(watermark)
    assert sorted(found) == sorted(expected(model, axes))


@given(
    interval_windows,
    times(),
    st.integers(1, 4),
    st.integers(1, 3),
)
def test_shares_of_the_windows_make_the_whole(
    model: WindowModel, axis: list[int], n: int, batch: int
) -> None:
    found = []
    for worker in range(n):
        keys = Keys(model, 1, Share.of(worker, n, batch))
        keys.append(0, axis, 0)
        own = keys.fire(END_OF_STREAM)
        assert all(id // batch % n == worker for _, id, *_ in own)
        found += own
    assert sorted(found) == sorted(expected(model, [axis]))


@given(models, times(), st.integers(-60, 200))
def test_a_windower_goes_on_from_its_state(
    model: WindowModel, axis: list[int], watermark: int
) -> None:
    first = Keys(model, 1)
    until = sum(t < watermark for t in axis)
    first.append(0, axis[:until], 0)
    found = first.fire(watermark)
    second = Keys(model, 1)
    by_key = {n: np.copy(v) for n, v in first.windower.by_key.items()}
    second.windower.restore(by_key, first.windower.scalars())
    held = first.buffer.positions_of(np.array([0]))
    columns = {name: c.take(held) for name, c in first.buffer.columns.items()}
    second.buffer.append(np.zeros(len(held), np.int64), columns)
    second.append(0, axis[until:], until)
    found += second.fire(END_OF_STREAM)
    assert sorted(found) == sorted(expected(model, [axis]))


@given(
    st.lists(st.floats(-50, 50), max_size=30).map(sorted), st.floats(0.01, 9), st.floats(0.01, 9)
)
def test_delta_windows_over_floats(deltas: list[float], length: float, slide: float) -> None:
    model = wr.DeltaWindow("d", length, slide)
    keys = Keys(model, 1, kind=np.float64)
    keys.append(0, deltas, 0)
    assert keys.fire(END_OF_STREAM) == expected(model, [deltas])


@given(time_windows | session_windows | delta_windows, times())
def test_at_the_end_a_key_holds_no_tuple_of_a_later_window(
    model: WindowModel, axis: list[int]
) -> None:
    keys = Keys(model, 1)
    keys.append(0, axis, 0)
    keys.fire(END_OF_STREAM)
    assert keys.fire(END_OF_STREAM) == []


def test_a_key_that_comes_late_gets_no_window_that_has_fired() -> None:
    keys = Keys(wr.TimeWindow(10, 5), 1)
    keys.append(0, [1], 0)
    assert [w[1] for w in keys.fire(12)] == [-1, 0]
    keys.buffer.add_keys(2)
    keys.windower.add_keys(np.zeros(1, np.int64))
    keys.append(1, [7], 0)
    assert keys.fire(12) == []
    assert keys.fire(15) == [(1, 1, 5, 15, (0,))]


def test_a_falling_delta_attribute_names_its_key() -> None:
    keys = Keys(wr.DeltaWindow("d", 1, 1), 2)
    keys.append(0, [1, 2], 0)
    keys.append(1, [5, 4], 0)
    with pytest.raises(RefusedTuple, match="4 after 5") as failure:
        keys.fire(END_OF_STREAM)
    assert failure.value.key == 1


def test_a_model_without_a_windower_is_refused() -> None:
    class Unknown(WindowModel):
        axis = Axis.TIME
        ranks_tuples = False

    with pytest.raises(wr.WindrowError, match="needs a windower; got Unknown"):
        windower_class(Unknown())


def test_a_derived_model_has_the_windower_of_its_base() -> None:
    class Minutes(wr.TimeWindow):
        pass

    assert windower_class(Minutes("1 min")) is windower_class(wr.TimeWindow(1))
