"""Skylines and polynomials of ranges equal naive recompute."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.effort import examples
from tests.ranges import ranges_over
from windrow.kernels.polynomial_fit import fit_ranges
from windrow.kernels.skyline import skyline
from windrow.kernels.skyline_ranges import skyline_ranges

matrix_settings = examples(80)


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
