"""Kernels that combine with any function equal naive recompute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.effort import examples
from tests.ranges import Ranges, cases
from windrow.kernels.block_scan import scan_ranges_with
from windrow.kernels.sparse_table import disjoint_ranges_with, overlapping_ranges_with

Column = NDArray[Any]

matrix_settings = examples(80)


PRIME = 10_007
"""Composing x -> a*x + b modulo a prime is associative, not commutative."""
GENERIC = [scan_ranges_with, disjoint_ranges_with]


def compose(
    first: tuple[Column, ...], then: tuple[Column, ...]
) -> tuple[NDArray[Any], NDArray[Any]]:
    (a, b), (c, d) = first, then
    return a * c % PRIME, (b * c + d) % PRIME


@pytest.mark.parametrize("reduce", GENERIC)
@matrix_settings
@given(
    case=cases(
        st.lists(st.tuples(st.integers(0, PRIME - 1), st.integers(0, PRIME - 1)), max_size=40)
    )
)
def test_any_associative_function_is_combined_from_left_to_right(
    reduce: Callable[..., tuple[Column, ...]], case: tuple[list[tuple[int, int]], Ranges]
) -> None:
    maps, (lo, hi) = case
    columns = tuple(np.array([m[i] for m in maps], dtype=np.int64) for i in range(2))
    slopes, shifts = reduce(columns, lo, hi, compose, (1, 0))
    for low, high, slope, shift in zip(lo, hi, slopes.tolist(), shifts.tolist(), strict=True):
        a, b = 1, 0
        for c, d in maps[low:high]:
            a, b = a * c % PRIME, (b * c + d) % PRIME
        assert (slope, shift) == (a, b)


@matrix_settings
@given(case=cases(st.lists(st.integers(0, 255), max_size=40)))
def test_any_idempotent_function_may_overlap(case: tuple[list[int], Ranges]) -> None:
    values, (lo, hi) = case
    columns = (np.array(values, dtype=np.int64),)
    (union,) = overlapping_ranges_with(columns, lo, hi, lambda a, b: (a[0] | b[0],), (0,))
    for low, high, actual in zip(lo, hi, union.tolist(), strict=True):
        expected = 0
        for value in values[low:high]:
            expected |= value
        assert actual == expected
