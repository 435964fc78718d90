from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.kernels.search import first_above, first_at_least

segments = st.lists(st.integers(-5, 5), max_size=40).map(sorted)


@given(segments, st.data(), st.integers(-6, 6))
def test_searches_agree_with_numpy_within_any_segment(
    values: list[int], data: st.DataObject, value: int
) -> None:
    axis = np.array(values, np.int64)
    lo = data.draw(st.integers(0, len(axis)))
    hi = data.draw(st.integers(lo, len(axis)))
    part = axis[lo:hi]
    assert first_at_least(axis, lo, hi, value) == lo + np.searchsorted(part, value, "left")
    assert first_above(axis, lo, hi, value) == lo + np.searchsorted(part, value, "right")


@pytest.mark.parametrize("search", [first_at_least, first_above])
def test_an_empty_segment_gives_its_end(search: type) -> None:
    assert search(np.array([1, 2, 3]), 2, 2, 0) == 2
    assert search(np.array([1, 2, 3]), 3, 3, 9) == 3


def test_what_lies_outside_the_segment_is_not_looked_at() -> None:
    axis = np.array([9, 9, 1, 2, 3, 0, 0])
    assert first_at_least(axis, 2, 5, 3) == 4
    assert first_above(axis, 2, 5, 3) == 5


def test_floats_are_searched_too() -> None:
    axis = np.array([0.5, 1.5, np.inf])
    assert first_at_least(axis, 0, 3, 1.5) == 1
    assert first_above(axis, 0, 3, 1.5) == 2
