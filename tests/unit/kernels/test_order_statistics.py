from __future__ import annotations

import math

import numpy as np
import pytest

from windrow.kernels.order_statistics import (
    count_distinct_ranges,
    mode_ranges,
    quantile_ranges,
)

NAN, INF = math.nan, math.inf


#   values   4  1  3  5  2
#   windows  [---------)
#               [---------)
#                  [------
def test_median_of_an_even_number_lies_between_two_values() -> None:
    results = quantile_ranges([4, 1, 3, 5, 2], [0, 1, 2], [4, 5, 5], [0.5])[:, 0]
    assert results.tolist() == [3.5, 2.5, 3.0]


def test_quantile_interpolates_as_percentile_does_in_spark() -> None:
    # Position 0.9 * 4 = 3.6: four tenths of the fourth value, six tenths of the fifth.
    results = quantile_ranges([50, 10, 40, 20, 30], [0], [5], [0.0, 0.25, 0.9, 1.0])
    assert results.tolist() == [[10.0, 20.0, (4 - 3.6) * 40.0 + (3.6 - 3) * 50.0, 50.0]]


def test_quantile_between_equal_infinities_is_that_infinity() -> None:
    assert quantile_ranges([INF, INF], [0], [2], [0.5]).tolist() == [[INF]]


def test_nan_is_the_greatest_value() -> None:
    results = quantile_ranges([NAN, 1.0, 2.0], [0, 0], [3, 2], [0.0, 0.5, 1.0])
    np.testing.assert_equal(results, [[1.0, 2.0, NAN], [1.0, NAN, NAN]])


@pytest.mark.parametrize("fraction", [-0.1, 1.1, NAN])
def test_fractions_beyond_one_are_refused(fraction: float) -> None:
    with pytest.raises(ValueError, match=r"must be in \[0, 1\]"):
        quantile_ranges([1.0], [0], [1], [fraction])


def test_mode_of_a_tie_is_the_smallest_value() -> None:
    assert mode_ranges([5, 3, 5, 3, 9], [0, 2, 4], [4, 5, 5]).tolist() == [3, 3, 9]


def test_nan_is_a_value_of_its_own() -> None:
    values = [NAN, 1.0, NAN, 2.0]
    np.testing.assert_equal(mode_ranges(values, [0, 1], [4, 4]), [NAN, 1.0])
    assert count_distinct_ranges(values, [0, 0, 1], [4, 3, 2]).tolist() == [3, 2, 1]


def test_empty_range_has_no_order() -> None:
    assert math.isnan(quantile_ranges([1.0], [1], [1], [0.5])[0, 0])
    assert math.isnan(mode_ranges([1.0], [0], [0])[0])
    assert mode_ranges([1], [0], [0]).tolist() == [0]
    assert count_distinct_ranges([1], [0], [0]).tolist() == [0]
    assert quantile_ranges(np.empty(0), [0], [0], [0.5]).shape == (1, 1)


def test_many_distinct_values_need_a_tree_of_several_levels() -> None:
    values = np.random.default_rng(4).integers(0, 9_000, 20_000)
    lo = np.arange(0, 18_000, 900)
    hi = lo + 1_500
    windows = [values[a:b] for a, b in zip(lo, hi, strict=True)]
    medians = quantile_ranges(values, lo, hi, [0.5])[:, 0]
    assert medians.tolist() == [float(np.median(w)) for w in windows]
    assert count_distinct_ranges(values, lo, hi).tolist() == [len(set(w)) for w in windows]
    modes = [int(np.argmax(np.bincount(w))) for w in windows]
    assert mode_ranges(values, lo, hi).tolist() == modes
