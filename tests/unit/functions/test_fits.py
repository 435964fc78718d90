"""Variance, regression and polynomials: functions that must not lose precision."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest

from windrow import functions as wf
from windrow.core import WindrowError
from windrow.functions.columnar import Values

LENGTH, SLIDE = 100, 7
NOISE = np.random.default_rng(3).normal(size=500)
LO = np.arange(0, len(NOISE) - LENGTH, SLIDE)
RANGES = LO, LO + LENGTH


@pytest.mark.parametrize("level", [0.0, 1e8, -1e12])
def test_variance_far_from_zero_is_as_exact_as_near_it(level: float) -> None:
    values = NOISE + level
    results = wf.var("x").over_ranges([Values(values)], *RANGES)
    for low, result in zip(LO.tolist(), results.to_list(), strict=True):
        window = values[low : low + LENGTH].tolist()
        exact = float(statistics.variance(map(Fraction, window)))
        assert result == pytest.approx(exact, rel=1e-12)
        assert wf.var("x").over(window) == pytest.approx(exact, rel=1e-12)


def test_variance_with_an_infinity_is_nan_wherever_it_stands() -> None:
    for at in range(4):
        values = [1.0, 2.0, 3.0, 4.0]
        values[at] = math.inf
        assert math.isnan(wf.var("x").over(values) or 0.0)
    assert wf.var("x").over([math.inf]) is None


def test_line_far_from_zero_keeps_its_slope() -> None:
    x = np.arange(500.0) + 1e8
    y = 3.0 * (x - 1e8) + 1e8
    results = wf.linear_regression("y", "x").over_ranges([Values(y), Values(x)], *RANGES)
    for result in results.to_list():
        assert result["slope"] == pytest.approx(3.0, rel=1e-12)
        assert result["intercept"] == pytest.approx(-2e8, rel=1e-12)
        assert result["r2"] == pytest.approx(1.0, rel=1e-12)


def test_regression_is_that_of_the_standard_library() -> None:
    x, y = [1.0, 2.0, 4.0, 7.0], [2.0, 1.0, 5.0, 3.0]
    found = wf.linear_regression("y", "x").over(zip(y, x, strict=True))
    assert found is not None
    slope, intercept = statistics.linear_regression(x, y)
    assert (found["slope"], found["intercept"]) == pytest.approx((slope, intercept))
    assert found["r2"] == pytest.approx(statistics.correlation(x, y) ** 2)


def test_one_distinct_x_gives_no_line() -> None:
    line = wf.linear_regression("y", "x")
    assert line.over([(1.0, 5), (2.0, 5), (None, 6)]) is None
    assert line.over([(1.0, 5)]) is None
    assert line.over([(None, 5)]) is None


def test_level_points_fit_perfectly() -> None:
    flat = wf.linear_regression("y", "x").over([(2.0, 0), (2.0, 1)])
    assert flat == {"slope": 0.0, "intercept": 2.0, "r2": 1.0}


def test_polynomial_is_found_again() -> None:
    x = np.linspace(-2.0, 2.0, 9)
    fit = wf.polynomial_fit("y", "x", 3).over(zip(1 - x + 2 * x**3, x, strict=True))
    assert fit == pytest.approx([1.0, -1.0, 0.0, 2.0], abs=1e-9)


def test_polynomial_needs_more_distinct_x_than_its_degree() -> None:
    parabola = wf.polynomial_fit("y", "x", 2)
    assert parabola.over([(1, 0), (2, 1), (3, 1), (None, 2), (4, None)]) is None
    assert parabola.over([]) is None
    assert parabola.over([(1, 0), (math.nan, 1), (2, 2)]) is None
    assert wf.polynomial_fit("y", "x", 0).over([(1, 0), (3, 0)]) == pytest.approx([2.0])


@pytest.mark.parametrize("degree", [-1, 1.0, True])
def test_degree_must_be_a_number_from_zero_up(degree: object) -> None:
    with pytest.raises(WindrowError) as refusal:
        wf.polynomial_fit("y", "x", degree)  # type: ignore[arg-type]
    assert str(refusal.value) == (
        f"polynomial_fit degree must be a whole number from 0 to 100; got degree={degree}.\n"
        "Hint: 1 is a straight line."
    )
