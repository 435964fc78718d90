from __future__ import annotations

import math

import numpy as np
import pytest

from windrow.kernels.skyline import skyline

NAN, INF = math.nan, math.inf


#   4 | a
#   3 |       c        c is dominated by b
#   2 |    b
#   1 |          d
#     +------------
#       1  2  3  4
POINTS = [[1, 4], [2, 2], [3, 3], [4, 1]]


def test_dominated_points_are_left_out() -> None:
    assert skyline(POINTS).tolist() == [0, 1, 3]


def test_sense_of_each_dimension() -> None:
    assert skyline(POINTS, larger_is_better={1}).tolist() == [0]
    assert skyline(POINTS, larger_is_better={0, 1}).tolist() == [0, 2, 3]


def test_duplicates_of_a_skyline_point_are_all_kept() -> None:
    assert skyline([[1, 1], [2, 2], [1, 1], [2, 2]]).tolist() == [0, 2]


def test_nan_is_the_worst_value_in_either_sense() -> None:
    points = [[NAN, 0.0], [1.0, 0.0], [NAN, -1.0]]
    assert skyline(points).tolist() == [1, 2]
    assert skyline(points, larger_is_better={0}).tolist() == [1, 2]


def test_infinities_of_both_signs_have_a_place() -> None:
    points = [[INF, -INF], [-INF, INF], [INF, INF], [0.0, 0.0], [INF, -5.0]]
    assert skyline(points).tolist() == [0, 1, 3]


def test_sums_that_round_alike_do_not_hide_a_dominated_point() -> None:
    points = [[1e16, 1.0], [1e16, 0.5], [1e16, 0.25]]
    assert skyline(points).tolist() == [2]


def test_one_dimension_keeps_the_minima() -> None:
    assert skyline([[3.0], [1.0], [2.0], [1.0]]).tolist() == [1, 3]


def test_no_points_have_no_skyline() -> None:
    assert skyline(np.empty((0, 3))).tolist() == []


def test_skyline_of_the_parts_skylines_is_that_of_the_whole() -> None:
    points = np.random.default_rng(6).random((600, 4))
    parts = [part[skyline(part)] for part in np.array_split(points, 5)]
    union = np.concatenate(parts)
    assert union[skyline(union)].tolist() == points[skyline(points)].tolist()


def test_unknown_dimension_is_refused() -> None:
    with pytest.raises(ValueError, match="dimensions below 2; got 2"):
        skyline(POINTS, larger_is_better={2})


def test_points_without_dimensions_are_refused() -> None:
    with pytest.raises(ValueError, match="n rows and d columns"):
        skyline([1.0, 2.0])
