"""mode and count_distinct."""

from __future__ import annotations

import math

import numpy as np
import pytest

from windrow import functions as wf
from windrow.core import WindrowError
from windrow.functions.columnar import Values

ONE_WINDOW = np.array([0]), np.array([4])


def test_smallest_of_the_most_frequent_is_the_mode() -> None:
    assert wf.mode("x").over(["b", "a", "c", "a", "b"]) == "a"
    assert wf.mode("x").over([None, None, 3]) == 3
    assert wf.mode("x").over([None]) is None


def test_nans_are_one_value() -> None:
    assert str(wf.mode("x").over([1.0, math.nan, float("nan")])) == "nan"
    assert wf.mode("x").over([math.nan, 1.0]) == 1.0
    assert wf.count_distinct("x").over([math.nan, float("nan"), 1.0]) == 2


def test_zeros_are_one_value() -> None:
    assert wf.count_distinct("x").over([0.0, -0.0]) == 1
    zeros = Values(np.array([0.0, -0.0, 1.0, 1.0]))
    assert wf.count_distinct("x").over_ranges([zeros], *ONE_WINDOW).to_list() == [2]
    assert wf.mode("x").over([0.0, -0.0, 1.0]) == 0.0


def test_tuple_with_a_null_does_not_count() -> None:
    assert wf.count_distinct("x", "y").over([(1, None), (None, 1), (1, 1), (1, 2)]) == 2
    assert wf.count_distinct("x").over([None]) == 0


def test_several_columns_count_their_combinations() -> None:
    x, y = Values(np.array([1, 1, 2, 2])), Values(np.array([np.nan, np.nan, 0.0, 1.0]))
    assert wf.count_distinct("x", "y").over_ranges([x, y], *ONE_WINDOW).to_list() == [3]


def test_count_distinct_needs_a_column() -> None:
    with pytest.raises(WindrowError, match="count_distinct needs a column"):
        wf.count_distinct()
