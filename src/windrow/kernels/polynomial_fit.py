"""Polynomials fitted to ranges by least squares, with the method of Levenberg and Marquardt."""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windrow.kernels.columns import Column, Positions, as_ranges
from windrow.kernels.compiled import compiled
from windrow.kernels.double_double import add, as_pairs, multiply

Floats = NDArray[np.float64]

FIRST_DAMPING = 1e-6
"""Small: a polynomial is linear in its coefficients, so the first step nearly solves it."""
LARGEST_DAMPING = 1e12
MOST_STEPS = 40
SMALLEST_STEP = 1e-11
"""Relative to the greatest coefficient; a smaller step ends the iteration."""
FAR = 1e3
"""If an error grows more than this on the way to x = 0, the coefficients are refined first."""
MOST_REFINEMENTS = 6
SMALLEST_REFINEMENT = 1e-28
NOISE = 1e-12
"""A squared error that grows by less than this share counts as rounding."""


def fit_ranges(
    x: ArrayLike, y: ArrayLike, lo: ArrayLike, hi: ArrayLike, degree: int
) -> NDArray[np.float64]:
    """The coefficients, by ascending powers of x, of the polynomial nearest each range [lo, hi).

    Internally, x is centred near its mean and scaled to [-1, 1]. Each step solves the damped normal
    equations. If the step reduces the squared error, it is taken and the damping falls. Otherwise
    it is rejected and the damping rises. Each step takes the gradient from the residuals, so later
    steps also repair rounding errors in the normal equations.

    The coefficients refer to x = 0. If x is far from 0 compared with its spread, an error in a
    coefficient of the centred polynomial grows by (distance / spread) ** degree. Then a few more
    steps take the residuals with twice the digits of a float, and so does the way back to x = 0.
    Integers are taken as they are, not rounded to floats.

    A range with fewer than degree + 1 different x, or with a value that is not finite, gives NaN.

    Ordering: none. Time O(length * (degree + steps) + steps * degree**3) per range, with about 4
    steps; space O(ranges * degree).
    K. Levenberg, 1944; D. Marquardt, An algorithm for least-squares estimation of nonlinear
    parameters, 1963. The algotrader of Mencagli 2018, section 5.1, uses this method.

    >>> x = np.arange(6.0)
    >>> fit_ranges(x, 2 * x**2 - 3 * x + 1, [0, 2, 0], [4, 6, 2], degree=2).round(9)
    array([[ 1., -3.,  2.],
           [ 1., -3.,  2.],
           [nan, nan, nan]])
    """
    if degree < 0:
        raise ValueError(f"a polynomial's degree must not be negative; got degree={degree}")
    xs, ys = as_pairs(x), as_pairs(y)
    if xs[0].ndim != 1 or xs[0].shape != ys[0].shape:
        raise ValueError(f"x and y must have the same length; got {xs[0].shape} and {ys[0].shape}")
    first, last = as_ranges(lo, hi, len(xs[0]))
    coefficients = np.full((len(first), degree + 1), np.nan)
    _fit(*xs, *ys, first, last, coefficients)
    return coefficients


@compiled
def _fit(
    x: Column,
    x_low: Column,
    y: Column,
    y_low: Column,
    lo: Positions,
    hi: Positions,
    coefficients: Floats,
) -> None:
    terms = coefficients.shape[1]
    low = np.empty(terms)
    for r in range(lo.shape[0]):
        xs, ys = x[lo[r] : hi[r]], y[lo[r] : hi[r]]
        if not (np.isfinite(xs).all() and np.isfinite(ys).all()):
            continue
        middle = xs.mean()
        u, u_low = np.empty(xs.shape[0]), np.empty(xs.shape[0])
        for i in range(xs.shape[0]):
            u[i], u_low[i] = add(xs[i], x_low[lo[r] + i], -middle, 0.0)
        if not _has_distinct(u, terms):
            continue
        spread = _power_of_two_above(np.abs(u).max())
        u /= spread
        u_low /= spread
        moments = _minimise(u, ys, coefficients[r])
        low[:] = 0.0
        if (1.0 + abs(middle) / spread) ** (terms - 1) > FAR:
            _refine(moments, u, u_low, ys, y_low[lo[r] : hi[r]], coefficients[r], low)
        _unscale(coefficients[r], low, middle, spread)


@compiled
def _power_of_two_above(number: float) -> float:
    """Dividing by a power of two rounds nothing."""
    return 2.0 ** np.ceil(np.log2(number)) if number > 0.0 else 1.0


@compiled
def _has_distinct(xs: Column, wanted: int) -> bool:
    """Whether there are this many different values; stops as soon as they are found."""
    seen = np.empty(wanted, dtype=np.float64)
    n_seen = 0
    for value in xs:
        known = False
        for s in range(n_seen):
            known |= seen[s] == value
        if not known:
            seen[n_seen] = value
            n_seen += 1
            if n_seen == wanted:
                return True
    return False


@compiled
def _minimise(u: Floats, y: Column, coefficients: Floats) -> Floats:
    """Levenberg-Marquardt from zero: leaves the coefficients over u; returns the moments of u."""
    terms = coefficients.shape[0]
    coefficients[:] = 0.0
    moments = np.zeros(2 * terms - 1)
    for value in u:
        power = 1.0
        for k in range(2 * terms - 1):
            moments[k] += power
            power *= value
    gradient, next_gradient = np.empty(terms), np.empty(terms)
    error = _residuals(u, y, coefficients, gradient)
    damping = FIRST_DAMPING
    step, candidate = np.empty(terms), np.empty(terms)
    for _ in range(MOST_STEPS):
        if damping > LARGEST_DAMPING:
            return moments
        if not _solve_damped(moments, damping, gradient, step):
            damping *= 10.0
            continue
        candidate[:] = coefficients + step
        next_error = _residuals(u, y, candidate, next_gradient)
        is_small = np.abs(step).max() <= SMALLEST_STEP * np.abs(candidate).max()
        if next_error <= error * (1.0 + NOISE):
            coefficients[:] = candidate
            gradient[:] = next_gradient
            error = next_error
            damping /= 10.0
        else:
            damping *= 10.0
        if is_small:
            return moments
    return moments


@compiled
def _refine(
    moments: Floats,
    u: Floats,
    u_low: Floats,
    y: Column,
    y_low: Column,
    coefficients: Floats,
    low: Floats,
) -> None:
    """Newton steps with gradients of twice the digits; ``low`` gets the coefficients' lower digits.

    A step is exact to a few digits at least, so each step adds as many digits.
    """
    terms = coefficients.shape[0]
    gradient, gradient_low, step = np.empty(terms), np.empty(terms), np.empty(terms)
    for _ in range(MOST_REFINEMENTS):
        gradient[:] = 0.0
        gradient_low[:] = 0.0
        for i in range(u.shape[0]):
            rest, rest_low = coefficients[terms - 1], low[terms - 1]
            for k in range(terms - 2, -1, -1):
                rest, rest_low = multiply(rest, rest_low, u[i], u_low[i])
                rest, rest_low = add(rest, rest_low, coefficients[k], low[k])
            rest, rest_low = add(y[i], y_low[i], -rest, -rest_low)
            for k in range(terms):
                gradient[k], gradient_low[k] = add(gradient[k], gradient_low[k], rest, rest_low)
                rest, rest_low = multiply(rest, rest_low, u[i], u_low[i])
        if not _solve_damped(moments, 0.0, gradient, step):
            return
        for k in range(terms):
            coefficients[k], low[k] = add(coefficients[k], low[k], step[k], 0.0)
        if np.abs(step).max() <= SMALLEST_REFINEMENT * np.abs(coefficients).max():
            return


@compiled
def _residuals(u: Floats, y: Column, coefficients: Floats, gradient: Floats) -> float:
    """The squared error; also fills the right-hand side of the normal equations."""
    terms = coefficients.shape[0]
    gradient[:] = 0.0
    error = 0.0
    for i in range(u.shape[0]):
        value = coefficients[terms - 1]
        for k in range(terms - 2, -1, -1):
            value = value * u[i] + coefficients[k]
        residual = y[i] - value
        error += residual * residual
        for k in range(terms):
            gradient[k] += residual
            residual *= u[i]
    return error


@compiled
def _solve_damped(moments: Floats, damping: float, right: Floats, step: Floats) -> bool:
    """Solve (M + damping * diag(M)) step = right by Cholesky; false if M is not definite."""
    terms = right.shape[0]
    factor = np.zeros((terms, terms))
    for i in range(terms):
        for j in range(i + 1):
            value = moments[i + j] * (1.0 + damping) if i == j else moments[i + j]
            for k in range(j):
                value -= factor[i, k] * factor[j, k]
            if i == j:
                if not (value > 0.0 and isfinite(value)):
                    return False
                factor[i, i] = np.sqrt(value)
            else:
                factor[i, j] = value / factor[j, j]
    for i in range(terms):
        value = right[i]
        for k in range(i):
            value -= factor[i, k] * step[k]
        step[i] = value / factor[i, i]
    for i in range(terms - 1, -1, -1):
        value = step[i]
        for k in range(i + 1, terms):
            value -= factor[k, i] * step[k]
        step[i] = value / factor[i, i]
    return True


@compiled
def _unscale(coefficients: Floats, low: Floats, middle: float, spread: float) -> None:
    """From powers of (x - middle) / spread to powers of x, in place, by Horner's scheme."""
    terms = coefficients.shape[0]
    scale = 1.0
    for k in range(terms):
        coefficients[k] *= scale
        low[k] *= scale
        scale /= spread
    for start in range(terms - 1):
        for k in range(terms - 2, start - 1, -1):
            less, less_low = multiply(coefficients[k + 1], low[k + 1], middle, 0.0)
            coefficients[k], low[k] = add(coefficients[k], low[k], -less, -less_low)
