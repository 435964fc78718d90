from __future__ import annotations

import math

import numpy as np
import pytest

from windrow.kernels.groups import number_groups, rank_values, sort_codes


@pytest.mark.parametrize("scale", [1, 2**59], ids=["packed", "by position"])
def test_groups_follow_the_order_of_codes(scale: int) -> None:
    groups, codes = number_groups(np.array([7, 5, 7, 9, 5]) * scale)
    assert groups.tolist() == [1, 0, 1, 2, 0]
    assert codes.tolist() == [5 * scale, 7 * scale, 9 * scale]


@pytest.mark.parametrize("scale", [1, 2**59], ids=["packed", "by position"])
def test_equal_codes_stay_in_order(scale: int) -> None:
    _, order = sort_codes(np.array([3, 1, 3, 1, 3]) * scale)
    assert order.tolist() == [1, 3, 0, 2, 4]


def test_no_codes_make_no_groups() -> None:
    groups, codes = number_groups(np.empty(0, dtype=np.int64))
    assert len(groups) == len(codes) == 0


def test_nan_takes_the_last_rank_and_is_one_value() -> None:
    ranks, distinct = rank_values(np.array([math.nan, math.inf, -0.0, math.nan, 0.0, -math.inf]))
    assert ranks.tolist() == [3, 2, 1, 3, 1, 0]
    np.testing.assert_equal(distinct, [-math.inf, 0.0, math.inf, math.nan])


@pytest.mark.parametrize("scale", [1, 2**60], ids=["marked", "sorted"])
@pytest.mark.parametrize("low", [0, -(2**63), 2**63 - 8 * 2**60], ids=["zero", "least", "most"])
def test_integers_are_ranked_alike_however_far_apart_they_are(scale: int, low: int) -> None:
    values = np.array([int(low + v * scale) for v in (7, 0, 3, 7)])
    ranks, distinct = rank_values(values)
    assert ranks.tolist() == [2, 0, 1, 2]
    assert distinct.tolist() == [low, low + 3 * scale, low + 7 * scale]
