from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from windrow.engine.columns.storage import Stored
from windrow.engine.windows.buffer import WindowBuffer
from windrow.engine.windows.segments import spread


def int64s(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def append(buffer: WindowBuffer, codes: list[int], values: list[Any], name: str = "x") -> None:
    buffer.add_keys(max(codes, default=-1) + 1)
    buffer.append(int64s(*codes), {name: Stored(np.array(values))})


def held(buffer: WindowBuffer, key: int, name: str = "x") -> list[Any]:
    """A key's values, None for null."""
    column = buffer.columns[name].slice(int(buffer.head[key]), int(buffer.tail[key]))
    values: list[Any] = column.values.tolist()
    if column.valid is None:
        return values
    return [v if ok else None for v, ok in zip(values, column.valid.tolist(), strict=True)]


def test_spread_of_ranges_also_empty_ones() -> None:
    assert spread(int64s(5, 9, 0), int64s(2, 0, 3)).tolist() == [5, 6, 0, 1, 2]
    assert spread(int64s(), int64s()).tolist() == []


def test_each_key_has_its_tuples_in_order_of_appending() -> None:
    buffer = WindowBuffer()
    append(buffer, [0, 0, 2], [1, 2, 3])
    append(buffer, [0, 1, 2, 2], [4, 5, 6, 7])
    assert [held(buffer, k) for k in range(3)] == [[1, 2, 4], [5], [3, 6, 7]]
    assert buffer.alive == 7


def test_a_key_without_tuples_is_empty() -> None:
    buffer = WindowBuffer()
    append(buffer, [3], [1])
    assert buffer.n_keys == 4
    assert held(buffer, 1) == []


def test_appending_nothing_makes_columns_known() -> None:
    buffer = WindowBuffer()
    buffer.append(int64s(), {"x": Stored(np.zeros(0))})
    assert list(buffer.columns) == ["x"]
    assert buffer.alive == 0


def test_segments_grow_and_move() -> None:
    buffer = WindowBuffer()
    for i in range(200):
        append(buffer, [0, 1], [i, -i])
    assert held(buffer, 0) == list(range(200))
    assert held(buffer, 1) == [-i for i in range(200)]


def test_views_stay_as_they_are_through_growth_eviction_and_renewal() -> None:
    buffer, views = WindowBuffer(), []
    for i in range(300):
        append(buffer, [0, 1], [i, 1000 + i])
        lo, hi = int(buffer.head[0]), int(buffer.tail[0])
        views.append((buffer.columns["x"].values[lo:hi], held(buffer, 0)))
        if i % 3 == 0:
            buffer.head[0] = max(lo, hi - 5)
        if i % 50 == 0:
            buffer.replace(int64s(1), int64s(1), {"x": Stored(int64s(i))})
    for view, seen in views:
        assert view.tolist() == seen


def test_room_does_not_grow_with_what_was_evicted() -> None:
    buffer = WindowBuffer()
    for i in range(5000):
        append(buffer, [0], [i])
        buffer.head[0] = max(buffer.head[0], buffer.tail[0] - 4)
    assert held(buffer, 0) == [4996, 4997, 4998, 4999]
    assert len(buffer.columns["x"].values) < 200


def test_a_key_evicted_entirely_can_come_back() -> None:
    buffer = WindowBuffer()
    append(buffer, [0, 1], [1, 2])
    buffer.head[0] = buffer.tail[0]
    for i in range(100):
        append(buffer, [1], [i])
    append(buffer, [0], [7])
    assert held(buffer, 0) == [7]
    assert held(buffer, 1) == [2, *range(100)]


def test_replace_gives_a_key_other_tuples() -> None:
    buffer = WindowBuffer()
    append(buffer, [0, 0, 1, 2], [1, 2, 3, 4])
    buffer.replace(int64s(0, 2), int64s(0, 0, 0, 2), {"x": Stored(int64s(7, 8, 9, 5))})
    assert [held(buffer, k) for k in range(3)] == [[7, 8, 9], [3], [5]]
    buffer.replace(int64s(1), int64s(), {"x": Stored(int64s())})
    assert held(buffer, 1) == []


def test_positions_of_several_keys() -> None:
    buffer = WindowBuffer()
    append(buffer, [0, 0, 1, 2], [1, 2, 3, 4])
    positions = buffer.positions_of(int64s(0, 2))
    assert buffer.columns["x"].values[positions].tolist() == [1, 2, 4]


def test_a_mask_that_appears_late_leaves_earlier_values_valid() -> None:
    buffer = WindowBuffer()
    append(buffer, [0, 1], [1, 2])
    buffer.append(int64s(0), {"x": Stored(int64s(0), np.array([False]))})
    append(buffer, [0, 1], [4, 5])
    assert held(buffer, 0) == [1, None, 4]
    assert held(buffer, 1) == [2, 5]
    for i in range(50):
        append(buffer, [0], [i])
    assert held(buffer, 0) == [1, None, 4, *range(50)]


def test_a_wider_type_widens_what_is_held() -> None:
    buffer = WindowBuffer()
    append(buffer, [0], [1])
    append(buffer, [0], [0.5])
    assert held(buffer, 0) == [1.0, 0.5]
    append(buffer, [0], [2])
    assert buffer.columns["x"].values.dtype == np.float64
    assert held(buffer, 0) == [1.0, 0.5, 2.0]


def test_a_column_may_hold_objects() -> None:
    buffer, names = WindowBuffer(), np.array(["p", None, [1, 2]], object)
    buffer.add_keys(1)
    buffer.append(int64s(0, 0, 0), {"s": Stored(names)})
    for _ in range(30):
        buffer.append(int64s(0), {"s": Stored(np.array(["q"], object))})
    assert held(buffer, 0, "s") == ["p", None, [1, 2], *["q"] * 30]


actions = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.lists(st.integers(0, 5), max_size=20).map(sorted)),
        st.tuples(st.just("nulls"), st.lists(st.integers(0, 5), max_size=4).map(sorted)),
        st.tuples(st.just("evict"), st.lists(st.integers(0, 9), min_size=6, max_size=6)),
        st.tuples(st.just("replace"), st.lists(st.integers(0, 5), max_size=5).map(sorted)),
    ),
    max_size=25,
)


@given(actions)
def test_a_buffer_is_a_list_for_each_key(steps: list[tuple[str, list[int]]]) -> None:
    buffer, lists = WindowBuffer(), {k: list[Any]() for k in range(6)}
    buffer.add_keys(6)
    views, value = [], 0
    for action, numbers in steps:
        codes = int64s(*numbers)
        values = np.arange(value, value + len(codes))
        value += len(codes)
        if action == "evict":
            for k, n in enumerate(numbers):
                buffer.head[k] = min(buffer.head[k] + n, buffer.tail[k])
                lists[k] = lists[k][n:]
        elif action == "replace":
            keys = np.unique(codes)
            buffer.replace(keys, codes, {"x": Stored(values), "y": Stored(values * 0.5)})
            for k in keys.tolist():
                lists[k] = values[codes == k].tolist()
        else:
            valid = np.zeros(len(codes), np.bool_) if action == "nulls" else None
            buffer.append(codes, {"x": Stored(values, valid), "y": Stored(values * 0.5)})
            for k, v in zip(numbers, values.tolist(), strict=True):
                lists[k].append(None if action == "nulls" else v)
        for k in range(6) if buffer.columns else ():
            assert held(buffer, k) == lists[k]
            part = slice(int(buffer.head[k]), int(buffer.tail[k]))
            views.append((buffer.columns["y"].values[part], held(buffer, k, "y")))
        assert buffer.alive == sum(map(len, lists.values()))
    for view, seen in views:
        assert view.tolist() == seen
