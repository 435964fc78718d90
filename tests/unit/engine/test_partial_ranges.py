from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windrow.engine.evaluate.aggregation import slide_partials

ranges = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20), st.integers(1, 8)), max_size=15)


def slide(windows: list[tuple[int, int, int]]) -> tuple[list[Any], list[int]]:
    """Texts of the windows (key, lo, hi), and which tuples were lifted."""
    lifted: list[int] = []

    def lift(i: int) -> str:
        lifted.append(i)
        return f"{i},"

    fields = np.array(windows, np.int64).reshape(-1, 3).T
    return slide_partials(lift, str.__add__, *fields), lifted


def text(lo: int, hi: int) -> str:
    return "".join(f"{i}," for i in range(lo, hi))


@given(ranges)
def test_sliding_ranges_of_keys_in_order(given: list[tuple[int, int, int]]) -> None:
    windows = []
    for key in range(4):
        los = sorted(lo for k, lo, _ in given if k == key)
        his = sorted(lo + length for k, lo, length in given if k == key)
        windows += [(key, lo, hi) for lo, hi in zip(los, his, strict=True) if lo < hi]
    found, _ = slide(windows)
    assert found == [text(lo, hi) for _, lo, hi in windows]


def test_a_tuple_is_lifted_at_most_twice_however_many_windows_share_it() -> None:
    windows = [(0, i, i + 50) for i in range(200)]
    found, lifted = slide(windows)
    assert found == [text(i, i + 50) for i in range(200)]
    assert max(np.bincount(lifted)) <= 2


def test_no_windows() -> None:
    assert slide([]) == ([], [])


def test_a_key_may_look_at_the_tuples_of_the_key_before() -> None:
    found, _ = slide([(0, 0, 3), (1, 0, 3), (1, 2, 3), (0, 1, 2)])
    assert found == [text(0, 3), text(0, 3), text(2, 3), text(1, 2)]


def test_windows_that_start_over_as_landmark_windows_do() -> None:
    found, _ = slide([(0, 0, 2), (0, 0, 4), (0, 4, 6), (0, 4, 7), (0, 9, 10)])
    assert found == [text(0, 2), text(0, 4), text(4, 6), text(4, 7), text(9, 10)]
