from __future__ import annotations

import math

import numpy as np

from windrow.functions.ordering import are_less, distinct_key, is_less, keyed_value

ORDERED = [-math.inf, -1.0, 0.0, math.inf, math.nan]


def test_nan_is_the_greatest_and_equals_itself() -> None:
    for i, a in enumerate(ORDERED):
        for j, b in enumerate(ORDERED):
            assert is_less(a, b) == (i < j)
            assert are_less(np.array([a]), np.array([b])).tolist() == [i < j]


def test_zeros_are_one_value_and_so_are_nans() -> None:
    assert distinct_key(-0.0) == distinct_key(0.0)
    assert math.copysign(1.0, keyed_value(distinct_key(-0.0))) == 1.0
    assert distinct_key(math.nan) == distinct_key(-math.nan)
    assert distinct_key("a") == (False, "a")
