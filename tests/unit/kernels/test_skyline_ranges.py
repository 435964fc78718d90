from __future__ import annotations

from itertools import pairwise

import numpy as np

from windrow.kernels.skyline import skyline
from windrow.kernels.skyline_ranges import skyline_ranges

Skylines = list[list[int]]


def skylines(points: object, lo: object, hi: object, larger_is_better: object = ()) -> Skylines:
    members, bounds = skyline_ranges(points, lo, hi, larger_is_better)  # type: ignore[arg-type]
    return [members[a:b].tolist() for a, b in pairwise(bounds)]


#   position  0  1  2  3  4
#   value     3  1  4  2  5
def test_point_returns_when_its_older_dominator_has_left() -> None:
    values = [[3], [1], [4], [2], [5]]
    assert skylines(values, [0, 1, 2, 4], [3, 4, 5, 5]) == [[1], [1], [3], [4]]


def test_duplicates_are_kept_until_they_leave() -> None:
    assert skylines([[1, 1], [1, 1], [0, 2]], [0, 1], [2, 3]) == [[0, 1], [1, 2]]


def test_ranges_in_any_order_are_correct() -> None:
    values = [[3], [1], [4], [2], [5]]
    assert skylines(values, [2, 0, 1, 0], [5, 1, 3, 5]) == [[3], [0], [1], [1]]


def test_empty_ranges_have_empty_skylines() -> None:
    assert skylines([[1], [2]], [0, 0, 2], [0, 2, 2]) == [[], [0], []]
    assert skylines(np.empty((0, 2)), [0], [0]) == [[]]
    assert skylines(np.empty((0, 2)), [], []) == []


def test_sense_of_each_dimension() -> None:
    assert skylines([[3], [1], [4]], [0, 1], [2, 3], {0}) == [[0], [2]]


def test_sliding_skylines_equal_those_taken_one_by_one() -> None:
    points = np.random.default_rng(8).random((900, 3)).round(2)
    lo = np.arange(0, 800, 13)
    hi = np.minimum(lo + 150, 900)
    expected = [(a + skyline(points[a:b])).tolist() for a, b in zip(lo, hi, strict=True)]
    assert skylines(points, lo, hi) == expected
