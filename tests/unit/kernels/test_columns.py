from __future__ import annotations

import numpy as np
import pytest

from windrow.kernels.columns import as_column, as_ranges


def test_column_is_a_view_of_values_that_fit() -> None:
    values = np.arange(3.0)
    assert np.shares_memory(as_column(values), values)


def test_column_is_read_only_and_leaves_the_values_writable() -> None:
    values = np.arange(3)
    assert not as_column(values).flags.writeable
    assert values.flags.writeable


def test_strided_values_become_contiguous() -> None:
    column = as_column(np.arange(6)[::2])
    assert column.flags.c_contiguous
    assert column.tolist() == [0, 2, 4]


@pytest.mark.parametrize("values", [np.array(["a"]), np.array([1j]), np.array([1], dtype="u8")])
def test_values_that_are_not_numbers_of_64_bits_are_refused(values: np.ndarray) -> None:
    with pytest.raises(TypeError, match="must hold int64 or float64"):
        as_column(values)


@pytest.mark.parametrize(
    ("lo", "hi"), [([-1], [2]), ([0], [4]), ([2], [1]), ([0, 3], [3, 2]), ([0, 1], [3])]
)
def test_ranges_outside_the_values_are_refused(lo: list[int], hi: list[int]) -> None:
    with pytest.raises(ValueError, match=r"range must satisfy|same length"):
        as_ranges(lo, hi, n=3)


def test_the_message_names_the_range_at_fault() -> None:
    with pytest.raises(ValueError, match=r"0 <= lo <= hi <= 3; got \[2, 5\)"):
        as_ranges([0, 2], [3, 5], n=3)
