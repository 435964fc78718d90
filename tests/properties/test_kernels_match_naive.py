"""Every kernel that gives one number per range equals naive recompute."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from tests.effort import examples
from tests.naive_ranges import EMPTY, NAIVE, assert_same
from tests.ranges import Ranges, cases, extreme_floats, float_values, int_values, special_floats
from windrow.kernels.block_scan import scan_ranges
from windrow.kernels.columns import as_column
from windrow.kernels.operators import Operator, identity
from windrow.kernels.order_statistics import count_distinct_ranges, mode_ranges, quantile_ranges
from windrow.kernels.prefix_difference import sum_ranges
from windrow.kernels.sparse_table import disjoint_ranges_with, overlapping_ranges

Column = NDArray[Any]
INT64 = np.iinfo(np.int64)

matrix_settings = examples(80)


@dataclass(frozen=True)
class Kernel:
    """``reduce(values, lo, hi)`` computes the function over each range.

    ``rounding`` bounds the error of a float64 result, relative to the sum of the magnitudes in its
    range. ``may_overflow`` tells that a partial may overflow where the result does not.
    """

    algorithm: str
    function: str
    reduce: Callable[[Column, Column, Column], Column]
    rounding: float = 0.0
    may_overflow: bool = False

    def __repr__(self) -> str:
        return f"{self.algorithm}:{self.function}"


OPERATORS: dict[str, tuple[Operator, Any]] = {
    "sum": ("add", np.add),
    "min": ("min", np.fmin),
    "max": ("max", np.maximum),
}


def scanned(function: str) -> Callable[[Column, Column, Column], Column]:
    return lambda values, lo, hi: scan_ranges(values, lo, hi, OPERATORS[function][0])


def overlapping(function: str) -> Callable[[Column, Column, Column], Column]:
    return lambda values, lo, hi: overlapping_ranges(values, lo, hi, OPERATORS[function][0])


def disjoint(function: str) -> Callable[[Column, Column, Column], Column]:
    operator, choose = OPERATORS[function]

    def reduce(values: Column, lo: Column, hi: Column) -> Column:
        column = (as_column(values),)
        neutral = (identity(operator, column[0].dtype),)
        with np.errstate(all="ignore"):
            return disjoint_ranges_with(
                column, lo, hi, lambda a, b: (choose(a[0], b[0]),), neutral
            )[0]

    return reduce


def at_fraction(fraction: float) -> Callable[[Column, Column, Column], Column]:
    return lambda values, lo, hi: quantile_ranges(values, lo, hi, [fraction])[:, 0]


EXACT_SUM, ORDINARY_SUM = 2.0**-50, 2.0**-40
KERNELS = [
    Kernel("prefix_difference", "sum", sum_ranges, EXACT_SUM),
    Kernel("block_scan", "sum", scanned("sum"), EXACT_SUM),
    Kernel("block_scan", "min", scanned("min")),
    Kernel("block_scan", "max", scanned("max")),
    Kernel("disjoint_sparse_table", "sum", disjoint("sum"), ORDINARY_SUM, may_overflow=True),
    Kernel("disjoint_sparse_table", "min", disjoint("min")),
    Kernel("disjoint_sparse_table", "max", disjoint("max")),
    Kernel("overlapping_sparse_table", "min", overlapping("min")),
    Kernel("overlapping_sparse_table", "max", overlapping("max")),
    Kernel("order_statistics", "median", at_fraction(0.5)),
    Kernel("order_statistics", "quantile(0.9)", at_fraction(0.9)),
    Kernel("order_statistics", "mode", mode_ranges),
    Kernel("order_statistics", "count_distinct", count_distinct_ranges),
]
EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def check(kernel: Kernel, values: list[Any], ranges: Ranges, dtype: str) -> None:
    lo, hi = ranges
    results = kernel.reduce(np.array(values, dtype=dtype), lo, hi)
    assert results.shape == lo.shape
    for low, high, actual in zip(lo.tolist(), hi.tolist(), results.tolist(), strict=True):
        window = values[low:high]
        scale = 0.0
        if kernel.function == "sum" and dtype == "float64" and window:
            total = math.fsum(abs(v) * kernel.rounding for v in window if math.isfinite(v))
            scale = max(total, 5e-324)
        if window:
            assert_same(actual, NAIVE[kernel.function](window), scale)
        else:
            assert_same(actual, EMPTY[kernel.function, dtype[0]])


@EVERY_KERNEL
@matrix_settings
@given(case=cases(int_values))
def test_int64_kernel_equals_naive_recompute(
    kernel: Kernel, case: tuple[list[int], Ranges]
) -> None:
    check(kernel, *case, dtype="int64")


@EVERY_KERNEL
@matrix_settings
@given(case=cases(float_values(special_floats)))
def test_float64_kernel_equals_naive_recompute(
    kernel: Kernel, case: tuple[list[float], Ranges]
) -> None:
    check(kernel, *case, dtype="float64")


@pytest.mark.parametrize("kernel", [k for k in KERNELS if not k.may_overflow], ids=repr)
@matrix_settings
@given(case=cases(float_values(extreme_floats)))
def test_float64_kernel_survives_every_magnitude(
    kernel: Kernel, case: tuple[list[float], Ranges]
) -> None:
    check(kernel, *case, dtype="float64")
