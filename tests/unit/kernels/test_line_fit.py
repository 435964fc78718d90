from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from windrow.kernels.line_fit import line_sums, lines_of


def line_ranges(x: Any, y: Any, lo: Any, hi: Any) -> tuple[Any, Any]:
    return lines_of(line_sums(x, y, lo, hi))


def test_ranges_in_any_order_give_the_same_lines() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 50, 300), rng.normal(size=300)
    lo = rng.integers(0, 250, 40)
    hi = lo + rng.integers(2, 50, 40)
    lines, are_known = line_ranges(x, y, lo, hi)
    order = np.lexsort((hi, lo))
    in_order, _ = line_ranges(x, y, lo[order], hi[order])
    np.testing.assert_allclose(lines[order], in_order, rtol=1e-14, atol=1e-14)
    for low, high, (slope, intercept, r2), is_known in zip(lo, hi, lines, are_known, strict=True):
        points = x[low:high], y[low:high]
        assert is_known == (len(set(points[0].tolist())) > 1)
        if is_known:
            np.testing.assert_allclose([slope, intercept], np.polyfit(*points, 1), rtol=1e-7)
            assert r2 == pytest.approx(np.corrcoef(*points)[0, 1] ** 2, abs=1e-9)


def test_a_value_that_is_not_finite_spoils_only_the_ranges_that_contain_it() -> None:
    x, y = [0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 2.0, math.inf, 6.0, 8.0]
    lines, are_known = line_ranges(x, y, [0, 1, 3], [2, 4, 5])
    assert are_known.all()
    assert lines[[0, 2]].tolist() == [[2.0, 0.0, 1.0]] * 2
    assert np.isnan(lines[1]).all()


def test_empty_ranges_and_single_points_have_no_line() -> None:
    _, are_known = line_ranges([1.0, 2.0], [1.0, 2.0], [0, 0, 1], [0, 1, 2])
    assert not are_known.any()
