"""Every range kernel equals naive recompute, whatever the values and the ranges."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.effort import examples
from windrow.kernels.block_scan import scan_ranges, scan_ranges_with
from windrow.kernels.columns import as_column
from windrow.kernels.operators import Operator, identity
from windrow.kernels.order_statistics import (
    count_distinct_ranges,
    mode_ranges,
    quantile_ranges,
)
from windrow.kernels.pane_reduce import reduce_panes
from windrow.kernels.polynomial_fit import fit_ranges
from windrow.kernels.prefix_difference import sum_ranges
from windrow.kernels.skyline import skyline
from windrow.kernels.skyline_ranges import skyline_ranges
from windrow.kernels.sparse_table import (
    disjoint_ranges_with,
    overlapping_ranges,
    overlapping_ranges_with,
)

Column = NDArray[Any]
Ranges = tuple[NDArray[np.int64], NDArray[np.int64]]
INT64 = np.iinfo(np.int64)

matrix_settings = examples(80)


# Naive recompute: one range at a time, in plain Python.


def naive_sum(values: list[Any]) -> Any:
    if all(isinstance(v, int) for v in values):
        return (sum(values) - INT64.min) % 2**64 + INT64.min
    if not all(math.isfinite(v) for v in values):
        return sum(v for v in values if not math.isfinite(v))
    exact = sum((Fraction(v) for v in values), Fraction(0))
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def order_key(value: Any) -> tuple[bool, Any]:
    """NaN is greater than every number and equal to itself."""
    return (True, 0) if value != value else (False, value)


def naive_min(values: list[Any]) -> Any:
    return min(values, key=order_key)


def naive_max(values: list[Any]) -> Any:
    return max(values, key=order_key)


def naive_quantile(fraction: float) -> Callable[[list[Any]], float]:
    def quantile(values: list[Any]) -> float:
        ordered = sorted(values, key=order_key)
        position = fraction * (len(ordered) - 1)
        lower, upper = math.floor(position), math.ceil(position)
        below, above = ordered[lower], ordered[upper]
        if lower == upper or order_key(below) == order_key(above):
            return float(below)
        return float(below) + (position - lower) * (float(above) - float(below))

    return quantile


def naive_mode(values: list[Any]) -> Any:
    counts = Counter(map(order_key, values))
    most = max(counts.values())
    is_nan, value = min(key for key, count in counts.items() if count == most)
    return math.nan if is_nan else value


def naive_count_distinct(values: list[Any]) -> int:
    return len(set(map(order_key, values)))


NAIVE: dict[str, Callable[[list[Any]], Any]] = {
    "sum": naive_sum,
    "min": naive_min,
    "max": naive_max,
    "median": naive_quantile(0.5),
    "quantile(0.9)": naive_quantile(0.9),
    "mode": naive_mode,
    "count_distinct": naive_count_distinct,
}

EMPTY: dict[tuple[str, str], Any] = {
    ("sum", "i"): 0,
    ("sum", "f"): 0.0,
    ("min", "i"): INT64.max,
    ("min", "f"): math.nan,
    ("max", "i"): INT64.min,
    ("max", "f"): -math.inf,
    ("median", "i"): math.nan,
    ("median", "f"): math.nan,
    ("quantile(0.9)", "i"): math.nan,
    ("quantile(0.9)", "f"): math.nan,
    ("mode", "i"): 0,
    ("mode", "f"): math.nan,
    ("count_distinct", "i"): 0,
    ("count_distinct", "f"): 0,
}


# The kernels that give one number per range.


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


# Values with ties, extremes and every special float; ranges of every window model.

int_values = st.one_of(
    st.lists(st.integers(-3, 3), max_size=40),
    st.lists(st.integers(INT64.min, INT64.max), max_size=40),
)
ordinary_floats = st.one_of(
    st.integers(-3, 3).map(float), st.floats(-1e6, 1e6), st.sampled_from([1e8, -1e8, 1e-8, -0.0])
)
special_floats = st.one_of(ordinary_floats, st.sampled_from([math.nan, math.inf, -math.inf]))
extreme_floats = st.floats(allow_nan=True, allow_infinity=True)


def float_values(elements: st.SearchStrategy[float]) -> st.SearchStrategy[list[float]]:
    return st.lists(elements, max_size=40)


@st.composite
def ranges_over(draw: st.DrawFn, n: int) -> Ranges:
    """Sliding, tumbling, hopping, varying, landmark-like and arbitrary ranges over n positions."""
    kind = draw(st.sampled_from(["sliding", "varying", "landmark", "arbitrary", "two keys"]))
    position = st.integers(0, n)
    if kind == "sliding":
        length, slide = draw(st.integers(1, n + 2)), draw(st.integers(1, 5))
        pairs = [(w, min(w + length, n)) for w in range(0, n, slide)]
    elif kind == "two keys":
        length, slide, split = draw(st.integers(1, n + 1)), draw(st.integers(1, 4)), draw(position)
        pairs = [(w, min(w + length, split)) for w in range(0, split, slide)]
        pairs += [(w, min(w + length, n)) for w in range(split, n, slide)]
    elif kind == "varying":
        lows = sorted(draw(st.lists(position, max_size=20)))
        highs = sorted(draw(st.lists(position, min_size=len(lows), max_size=len(lows))))
        pairs = [(low, max(low, high)) for low, high in zip(lows, highs, strict=True)]
    elif kind == "landmark":
        every = draw(st.integers(1, n + 1))
        highs = sorted(draw(st.lists(position, max_size=20)))
        pairs = [((high - 1) // every * every if high else 0, high) for high in highs]
    else:
        pairs = [
            (min(pair), max(pair))
            for pair in draw(st.lists(st.tuples(position, position), max_size=20))
        ]
    lo = np.array([low for low, _ in pairs], dtype=np.int64)
    return lo, np.array([high for _, high in pairs], dtype=np.int64)


@st.composite
def cases(draw: st.DrawFn, values: st.SearchStrategy[list[Any]]) -> tuple[list[Any], Ranges]:
    drawn = draw(values)
    return drawn, draw(ranges_over(len(drawn)))


def assert_same(actual: Any, expected: Any, scale: float = 0.0) -> None:
    if isinstance(expected, float) and math.isnan(expected):
        assert math.isnan(actual)
    elif scale:
        assert math.isclose(actual, expected, rel_tol=1e-12, abs_tol=scale)
    else:
        assert actual == expected


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


# Any associative function: composing x -> a*x + b modulo a prime is associative, not commutative.

PRIME = 10_007
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


# Skylines and polynomials: their results are not one number a range.


def dominates(p: tuple[float, ...], q: tuple[float, ...]) -> bool:
    return all(a <= b for a, b in zip(p, q, strict=True)) and p != q


def naive_skyline(points: list[tuple[float, ...]]) -> list[int]:
    worst = [tuple(math.inf if v != v else v for v in p) for p in points]
    return [i for i, q in enumerate(worst) if not any(dominates(p, q) for p in worst)]


coordinates = st.one_of(
    st.integers(0, 4).map(float), st.floats(allow_nan=True, allow_infinity=True)
)
clouds = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.tuples(*[coordinates] * d), max_size=25).map(lambda ps: (d, ps))
)


def as_points(d: int, points: list[tuple[float, ...]]) -> NDArray[np.float64]:
    return np.array(points, dtype=np.float64).reshape(-1, d)


@matrix_settings
@given(cloud=clouds)
def test_skyline_equals_naive_recompute(cloud: tuple[int, list[tuple[float, ...]]]) -> None:
    assert skyline(as_points(*cloud)).tolist() == naive_skyline(cloud[1])


@matrix_settings
@given(cloud=clouds, data=st.data())
def test_skyline_of_every_range_equals_naive_recompute(
    cloud: tuple[int, list[tuple[float, ...]]], data: st.DataObject
) -> None:
    lo, hi = data.draw(ranges_over(len(cloud[1])))
    members, bounds = skyline_ranges(as_points(*cloud), lo, hi)
    for w, (low, high) in enumerate(zip(lo.tolist(), hi.tolist(), strict=True)):
        expected = [low + i for i in naive_skyline(cloud[1][low:high])]
        assert members[bounds[w] : bounds[w + 1]].tolist() == expected


@matrix_settings
@given(cloud=clouds, parts=st.integers(1, 4))
def test_skyline_of_sub_skylines_is_the_skyline_of_the_whole(
    cloud: tuple[int, list[tuple[float, ...]]], parts: int
) -> None:
    points = as_points(*cloud)
    subs = [points[p::parts][skyline(points[p::parts])] for p in range(parts)]
    union = np.concatenate(subs)
    merged = union[skyline(union)]
    expected = points[naive_skyline(cloud[1])]
    assert sorted(map(repr, merged.tolist())) == sorted(map(repr, expected.tolist()))


@matrix_settings
@given(
    ys=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30),
    degree=st.integers(0, 3),
    data=st.data(),
)
def test_polynomial_fit_equals_numpy_polyfit(
    ys: list[float], degree: int, data: st.DataObject
) -> None:
    lo, hi = data.draw(ranges_over(len(ys)))
    x = np.cumsum(data.draw(st.lists(st.integers(0, 3), min_size=len(ys), max_size=len(ys)))) / 4.0
    y = np.array(ys)
    fitted = fit_ranges(x, y, lo, hi, degree)
    for row, low, high in zip(fitted, lo.tolist(), hi.tolist(), strict=True):
        if len(np.unique(x[low:high])) <= degree:
            assert np.isnan(row).all()
            continue
        middle = x[low:high].mean()
        expected = np.polynomial.Polynomial.fit(x[low:high], y[low:high], degree)
        largest = np.abs(y[low:high]).max()
        np.testing.assert_allclose(
            np.polynomial.Polynomial(row)(x[low:high]),
            expected(x[low:high]),
            rtol=1e-6,
            atol=1e-6 * largest + 1e-9,
            err_msg=f"around x={middle}",
        )


# Panes: the partials of every (key, pane), in a dense table or a sparse one.


@pytest.mark.parametrize("n_keys", [4, 10**9, 2**50], ids=["dense", "sparse", "huge"])
@matrix_settings
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.integers(-(2**40), 2**40), special_floats, st.booleans()),
        max_size=40,
    ),
    spread=st.sampled_from([1, 2**20, 2**38]),
    length=st.integers(1, 10),
    origin=st.integers(-5, 5),
)
def test_panes_equal_naive_recompute(
    n_keys: int,
    rows: list[tuple[int, int, float, bool]],
    spread: int,
    length: int,
    origin: int,
) -> None:
    keys = np.array([row[0] for row in rows], dtype=np.int64)
    times = np.array([row[1] // spread for row in rows], dtype=np.int64)
    values = np.array([row[2] for row in rows], dtype=np.float64)
    valid = np.array([row[3] for row in rows], dtype=np.bool_)
    batch = reduce_panes(
        keys,
        times,
        values,
        n_keys=n_keys,
        length=length,
        origin=origin,
        valid=valid,
        wanted=["sum", "min", "max"],
    )
    cells: dict[tuple[int, int], list[int]] = {}
    for i, (key, time) in enumerate(zip(keys.tolist(), times.tolist(), strict=True)):
        cells.setdefault((key, (time - origin) // length), []).append(i)
    assert list(zip(batch.keys.tolist(), batch.panes.tolist(), strict=True)) == sorted(cells)
    for c, cell in enumerate(sorted(cells)):
        members = cells[cell]
        window = [float(values[i]) for i in members if valid[i]]
        assert (batch.rows[c], batch.counts[c]) == (len(members), len(window))
        results = {"sum": batch.sums, "min": batch.minima, "max": batch.maxima}
        for function, column in results.items():
            assert column is not None
            scale = 1e-12 * math.fsum(abs(v) for v in window if math.isfinite(v))
            expected = NAIVE[function](window) if window else EMPTY[function, "f"]
            assert_same(float(column[c]), expected, scale if function == "sum" else 0.0)
