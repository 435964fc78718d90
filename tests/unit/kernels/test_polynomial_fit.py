from __future__ import annotations

import math

import numpy as np
import pytest

from windrow.kernels.polynomial_fit import fit_ranges


def test_points_on_a_polynomial_give_it_back() -> None:
    x = np.array([0.0, 1.0, 2.0, 4.0, 7.0])
    fitted = fit_ranges(x, 5 - 3 * x + 0.5 * x**3, [0, 1], [4, 5], degree=3)
    np.testing.assert_allclose(fitted, [[5, -3, 0, 0.5]] * 2, atol=1e-9)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 5])
def test_coefficients_equal_those_of_numpy(degree: int) -> None:
    rng = np.random.default_rng(9)
    x = np.cumsum(rng.random(2_000)) / 100
    y = np.sin(x) + rng.normal(0, 0.3, 2_000)
    lo = np.arange(0, 1_700, 100)
    fitted = fit_ranges(x, y, lo, lo + 300, degree)
    expected = [np.polyfit(x[a : a + 300], y[a : a + 300], degree)[::-1] for a in lo]
    np.testing.assert_allclose(fitted, expected, rtol=1e-6)


def test_degree_zero_is_the_mean() -> None:
    fitted = fit_ranges([7.0, 7.0, 7.0], [1.0, 2.0, 6.0], [0], [3], 0)
    np.testing.assert_allclose(fitted, [[3.0]])


def test_too_few_different_x_give_nan() -> None:
    fitted = fit_ranges([1.0, 1.0, 2.0, 2.0], [1.0, 2.0, 3.0, 4.0], [0, 1, 0, 2], [2, 3, 4, 2], 1)
    assert np.isnan(fitted).all(axis=1).tolist() == [True, False, False, True]


def test_range_with_a_value_that_is_not_finite_gives_nan() -> None:
    y = [1.0, math.nan, 2.0, 3.0, math.inf]
    fitted = fit_ranges(np.arange(5.0), y, [0, 2, 3], [3, 4, 5], 1)
    assert np.isnan(fitted).any(axis=1).tolist() == [True, False, True]


def test_far_and_wide_x_are_brought_near_first() -> None:
    x = 1e6 + 1e3 * np.arange(50.0)
    fitted = fit_ranges(x, 2e-6 * (x - 1e6) ** 2 + 1, [0], [50], 2)
    np.testing.assert_allclose(fitted, [[2e6 + 1, -4.0, 2e-6]], rtol=1e-6)


def test_constant_zero_has_zero_coefficients() -> None:
    assert fit_ranges(np.arange(4.0), np.zeros(4), [0], [4], 2).tolist() == [[0.0, 0.0, 0.0]]


def test_negative_degree_is_refused() -> None:
    with pytest.raises(ValueError, match="must not be negative; got degree=-1"):
        fit_ranges([1.0], [1.0], [0], [1], -1)


def test_x_and_y_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="same length"):
        fit_ranges([1.0, 2.0], [1.0], [0], [1], 1)
