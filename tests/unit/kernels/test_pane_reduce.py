from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from windrow.kernels.pane_reduce import Wanted, reduce_panes

NAN, INF = math.nan, math.inf

# A key more than the dense table can hold makes the same batch take the sparse path.
TABLES = pytest.mark.parametrize("n_keys", [2, 10**9, 2**40], ids=["dense", "sparse", "huge"])


#   time  -3      2   3      9 | 12   14
#   pane  -1 |    0            |  1
#   key    0      1   0      0 |  1    0
KEYS = [0, 1, 0, 0, 1, 0]
TIMES = [-3, 2, 3, 9, 12, 14]
VALUES = [7, 1, -2, 4, 8, 5]


@TABLES
def test_each_key_and_pane_has_its_partials(n_keys: int) -> None:
    wanted: list[Wanted] = ["sum", "min", "max"]
    batch = reduce_panes(KEYS, TIMES, VALUES, n_keys=n_keys, length=10, wanted=wanted)
    assert batch.keys.tolist() == [0, 0, 0, 1, 1]
    assert batch.panes.tolist() == [-1, 0, 1, 0, 1]
    assert batch.rows.tolist() == [1, 2, 1, 1, 1]
    assert batch.counts.tolist() == [1, 2, 1, 1, 1]
    expected: dict[str, list[int]] = {
        "sums": [7, 2, 5, 1, 8],
        "minima": [7, -2, 5, 1, 8],
        "maxima": [7, 4, 5, 1, 8],
    }
    assert {name: getattr(batch, name).tolist() for name in expected} == expected


@TABLES
def test_arrival_order_does_not_matter(n_keys: int) -> None:
    order = [3, 0, 5, 2, 4, 1]
    keys, times, values = (np.array(c)[order] for c in (KEYS, TIMES, VALUES))
    batch = reduce_panes(keys, times, values, n_keys=n_keys, length=10, wanted=["sum"])
    assert batch.sums is not None
    assert (batch.panes.tolist(), batch.sums.tolist()) == ([-1, 0, 1, 0, 1], [7, 2, 5, 1, 8])


def test_origin_moves_the_panes() -> None:
    batch = reduce_panes(KEYS, TIMES, n_keys=2, length=10, origin=3)
    assert list(zip(batch.keys.tolist(), batch.panes.tolist(), strict=True)) == [
        (0, -1),
        (0, 0),
        (0, 1),
        (1, -1),
        (1, 0),
    ]
    assert batch.rows.tolist() == [1, 2, 1, 1, 1]


@TABLES
def test_invalid_values_count_as_rows_only(n_keys: int) -> None:
    valid = np.array([0, 1, 1, 0, 0, 1], dtype=np.uint8)
    batch = reduce_panes(
        KEYS,
        TIMES,
        np.array(VALUES, dtype=np.float64),
        n_keys=n_keys,
        length=10,
        valid=valid,
        wanted=["sum", "min", "max"],
    )
    assert batch.rows.tolist() == [1, 2, 1, 1, 1]
    assert batch.counts.tolist() == [0, 1, 1, 1, 0]
    np.testing.assert_equal(batch.sums, [0.0, -2.0, 5.0, 1.0, 0.0])
    np.testing.assert_equal(batch.minima, [NAN, -2.0, 5.0, 1.0, NAN])
    np.testing.assert_equal(batch.maxima, [-INF, -2.0, 5.0, 1.0, -INF])


def test_nan_is_greater_than_any_number() -> None:
    batch = reduce_panes(
        [0, 0, 1, 1], [0, 1, 0, 1], [NAN, 1.0, NAN, NAN], n_keys=2, length=2, wanted=["min", "max"]
    )
    np.testing.assert_equal(batch.minima, [1.0, NAN])
    np.testing.assert_equal(batch.maxima, [NAN, NAN])


def test_what_is_not_wanted_is_none() -> None:
    batch = reduce_panes(KEYS, TIMES, VALUES, n_keys=2, length=10, wanted=["max"])
    assert batch.sums is batch.minima is None


def test_sum_of_integers_wraps_around() -> None:
    batch = reduce_panes([0, 0], [0, 1], [2**63 - 1, 1], n_keys=1, length=5, wanted=["sum"])
    assert batch.sums is not None
    assert batch.sums.tolist() == [-(2**63)]


def test_ranks_are_panes_of_length_in_tuples() -> None:
    batch = reduce_panes([0] * 5, np.arange(5), n_keys=1, length=2)
    assert (batch.panes.tolist(), batch.rows.tolist()) == ([0, 1, 2], [2, 2, 1])


def test_empty_batch_has_no_panes() -> None:
    nothing = np.empty(0, dtype=np.int64)
    batch = reduce_panes(nothing, nothing, nothing, n_keys=3, length=10, wanted=["sum"])
    assert len(batch.keys) == len(batch.rows) == 0


def test_read_only_columns_are_accepted() -> None:
    columns = [np.array(c) for c in (KEYS, TIMES, VALUES)]
    for column in columns:
        column.flags.writeable = False
    assert reduce_panes(*columns, n_keys=2, length=10).rows.sum() == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_keys": 1}, r"must be in \[0, 1\)"),
        ({"length": 0}, "must be positive"),
        ({"wanted": ["sum", "mean"]}, r"must be among .*; got \['mean'\]"),
        ({"valid": [True]}, "same length"),
    ],
)
def test_arguments_that_break_a_rule_are_refused(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"n_keys": 2, "length": 10, **change}
    with pytest.raises(ValueError, match=message):
        reduce_panes(KEYS, TIMES, VALUES, **arguments)


def test_what_rounding_has_lost_of_a_sum_comes_with_it() -> None:
    values = [1e16, 1.0, 0.5, math.inf, -1e16]
    batch = reduce_panes([0] * 5, [0, 1, 2, 10, 3], values, n_keys=1, length=10, wanted={"sum"})
    assert batch.sums is not None and batch.lost is not None
    assert (batch.sums + batch.lost).tolist() == [1.5, math.inf]
    assert reduce_panes([0], [0], [1], n_keys=1, length=10, wanted={"sum"}).lost is None
