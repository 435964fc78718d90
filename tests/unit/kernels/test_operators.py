from __future__ import annotations

import math

import numpy as np
import pytest

from windrow.kernels.operators import CODES, Operator, combine, identity

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("operator", "a", "b", "expected"),
    [
        ("add", 2.0, 3.0, 5.0),
        ("min", 2.0, 3.0, 2.0),
        ("max", 2.0, 3.0, 3.0),
        ("min", NAN, 3.0, 3.0),
        ("min", 3.0, NAN, 3.0),
        ("min", NAN, INF, INF),
        ("max", NAN, INF, NAN),
        ("max", INF, NAN, NAN),
        ("min", NAN, NAN, NAN),
    ],
)
def test_nan_is_greater_than_any_number(
    operator: Operator, a: float, b: float, expected: float
) -> None:
    np.testing.assert_equal(combine(CODES[operator], a, b), expected)


@pytest.mark.parametrize("operator", ["add", "min", "max"])
@pytest.mark.parametrize("value", [7.5, -0.5, NAN, INF, -INF])
def test_identity_of_floats_changes_nothing(operator: Operator, value: float) -> None:
    neutral = identity(operator, np.dtype("float64"))
    np.testing.assert_equal(combine(CODES[operator], neutral, value), value)
    np.testing.assert_equal(combine(CODES[operator], value, neutral), value)


@pytest.mark.parametrize("operator", ["add", "min", "max"])
@pytest.mark.parametrize("value", [0, -5, 2**63 - 1, -(2**63)])
def test_identity_of_integers_changes_nothing(operator: Operator, value: int) -> None:
    neutral = identity(operator, np.dtype("int64"))
    assert combine(CODES[operator], neutral, np.int64(value)) == value
    assert combine(CODES[operator], np.int64(value), neutral) == value
