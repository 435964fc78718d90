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


EPOCHS = [0, 1_700_000_000, 1_700_000_000_000, 1_700_000_000_000_000, 1_700_000_000_000_000_000]
"""Now, in seconds, milliseconds, microseconds and nanoseconds since 1970."""


def exact_line(points: list[tuple[float, int]]) -> dict[str, float]:
    y, x = ([Fraction(v) for v in column] for column in zip(*points, strict=True))
    n, mean_x, mean_y = len(x), sum(x) / len(x), sum(y) / len(y)
    xx = sum((v - mean_x) ** 2 for v in x)
    yy = sum((v - mean_y) ** 2 for v in y)
    xy = sum((x[i] - mean_x) * (y[i] - mean_y) for i in range(n))
    slope = xy / xx
    line = {"slope": slope, "intercept": mean_y - slope * mean_x, "r2": xy * xy / (xx * yy)}
    return {field: float(value) for field, value in line.items()}


@pytest.mark.parametrize("epoch", EPOCHS)
def test_line_over_times_since_1970_is_exact(epoch: int) -> None:
    x = epoch + np.arange(60) * 7
    y = np.round(5.0 + 2.0 * (x - epoch) + NOISE[:60], 3)
    function = wf.linear_regression("y", "x")
    found = function.over_ranges([Values(y), Values(x)], np.array([0, 7]), np.array([50, 60]))
    for low, high, line in zip([0, 7], [50, 60], found.to_list(), strict=True):
        points = list(zip(y.tolist()[low:high], x.tolist()[low:high], strict=True))
        exact = exact_line(points)
        assert line == pytest.approx(exact, rel=1e-12)
        assert function.over(points) == pytest.approx(exact, rel=1e-12)
        parts = [[function.lift(p) for p in points[i::3]] for i in range(3)]
        combined = function.combine_all([function.combine_all(part) for part in parts])
        assert function.lower(combined) == pytest.approx(exact, rel=1e-12)


def test_line_whose_products_cancel_is_exact() -> None:
    points = [(1e16, 0), (1.0, 1), (2.0, 2), (-1e16, 0), (0.5, 2)]
    exact = exact_line(points)
    assert wf.linear_regression("y", "x").over(points) == pytest.approx(exact, rel=1e-12)


def test_partials_of_lines_with_fewer_digits_are_still_combined() -> None:
    """As older versions stored them: a point, means as distances from it, centred squares."""
    function = wf.linear_regression("y", "x")
    older = (3, 10.0, 1.0, 5.0, 2.0, 2.0, 4.0, 8.0)  # (10, 5), (11, 7), (12, 9)
    newer = function.combine(function.lift((11.5, 13)), function.lift((13.0, 14)))
    exact = exact_line([(5, 10), (7, 11), (9, 12), (11.5, 13), (13.0, 14)])
    for whole in (function.combine(older, newer), function.combine(newer, older)):
        assert function.lower(whole) == pytest.approx(exact, rel=1e-12)


def exact_fit(x: list[int], y: list[float], degree: int, origin: int = 0) -> list[float]:
    """Solve the normal equations in fractions; about ``origin``."""
    u, terms = [Fraction(v - origin) for v in x], range(degree + 1)
    rows = [
        [sum((v ** (i + j) for v in u), Fraction()) for j in terms]
        + [sum((v**i * Fraction(w) for v, w in zip(u, y, strict=True)), Fraction())]
        for i in terms
    ]
    for i in terms:
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in terms:
            if j != i:
                rows[j] = [b - rows[j][i] * a for a, b in zip(rows[i], rows[j], strict=True)]
    return [float(row[-1]) for row in rows]


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize(
    ("epoch", "step"), [(0, 1), *zip(EPOCHS[1:4], (1, 1_000, 50_000), strict=True)]
)
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_polynomial_over_times_since_1970_has_exact_coefficients(
    degree: int, epoch: int, step: int, noise: float
) -> None:
    x = epoch + np.arange(50) * step
    u = (x - epoch) / (50 * step)
    y = np.round(3.0 + 2.0 * u - 4.0 * u**degree + noise * NOISE[:50], 3)
    function = wf.polynomial_fit("y", "x", degree)
    (fit,) = function.over_ranges([Values(y), Values(x)], np.array([0]), np.array([50])).to_list()
    assert fit == pytest.approx(exact_fit(x.tolist(), y.tolist(), degree), rel=1e-9)
    assert function.over(zip(y.tolist(), x.tolist(), strict=True)) == fit
    near = np.polynomial.Polynomial.fit(x - epoch, y, degree).convert().coef
    assert exact_fit(x.tolist(), y.tolist(), degree, epoch) == pytest.approx(near, rel=1e-6)


def test_polynomial_of_a_line_over_seconds_since_1970_has_no_other_terms() -> None:
    x = 1_700_000_000 + np.arange(60)
    fit = wf.polynomial_fit("y", "x", 2).over(zip((2 * x).tolist(), x.tolist(), strict=True))
    assert fit == pytest.approx([0.0, 2.0, 0.0], abs=1e-9)


@pytest.mark.parametrize(
    ("degree", "half_width"), [(2, 1_700_000), (3, 1_700_000_000), (5, 10**11)]
)
@pytest.mark.parametrize("noise", [0.0, 1e6])
def test_coefficients_are_as_exact_as_documented_at_the_limit(
    degree: int, half_width: int, noise: float
) -> None:
    x = 1_700_000_000_000_000 + np.linspace(-half_width, half_width, 40).astype(np.int64)
    y = np.round(2.0 * x + noise * NOISE[:40])
    fit = wf.polynomial_fit("y", "x", degree).over(zip(y.tolist(), x.tolist(), strict=True))
    assert fit is not None
    for k, exact in enumerate(exact_fit(x.tolist(), y.tolist(), degree)):
        tolerance = 1e-9 * max(abs(exact), 3.4e15 / 1.7e15**k)
        assert abs(fit[k] - exact) <= tolerance
