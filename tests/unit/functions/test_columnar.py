from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from windrow import functions as wf
from windrow.functions.columnar import Columnar, Values, skip_nulls, take


def test_valid_is_left_out_where_every_value_is_valid() -> None:
    assert Values.where(np.array([True, True]), np.array([1, 2])).valid is None


def test_lists_of_one_length_stay_lists() -> None:
    column = Values.of_objects([[1, 2], [3, 4]])
    assert column.values.shape == (2,)
    assert column.to_list() == [[1, 2], [3, 4]]


def test_missing_objects_are_null() -> None:
    assert Values.of_objects([{"a": 1}, None]).to_list() == [{"a": 1}, None]


def test_columns_without_nulls_are_not_copied() -> None:
    x, lo, hi = np.array([1, 2]), np.array([0]), np.array([2])
    (kept,), first, last = skip_nulls([Values(x)], lo, hi)
    assert kept is x and first is lo and last is hi


def test_null_in_any_column_takes_the_tuple_out() -> None:
    # tuple     0  1  2  3
    # x         5  .  7  8
    # y         1  2  .  4
    # ranges   [-----)
    #             [-----)
    #                [--)   left empty
    x = Values(np.array([5, 0, 7, 8]), np.array([True, False, True, True]))
    y = Values(np.array([1, 2, 0, 4]), np.array([True, True, False, True]))
    (xs, ys), lo, hi = skip_nulls([x, y], np.array([0, 1, 2]), np.array([2, 4, 3]))
    assert (xs.tolist(), ys.tolist()) == ([5, 8], [1, 4])
    assert (lo.tolist(), hi.tolist()) == ([0, 1, 1], [1, 2, 1])


def test_take_from_nothing_finds_nothing() -> None:
    nothing = take(np.empty(0, dtype=np.int64), np.array([0]), np.array([False]))
    assert nothing.to_list() == [None]


@pytest.mark.parametrize(
    ("function", "column"),
    [
        (wf.count("x"), None),
        (wf.sum("x"), None),
        (wf.median("x"), None),
        (wf.count_distinct("x"), None),
        (wf.min("x"), 0),
        (wf.last("x"), 0),
        (wf.mode("x"), 0),
        (wf.top_k("x", 2, by="y"), 0),
        (wf.collect("x"), 0),
        (wf.arg_max("x", by="y"), 0),
        (wf.ohlc("x"), 0),
    ],
    ids=repr,
)
def test_functions_tell_whose_values_their_results_are(function: object, column: object) -> None:
    assert function.returns_values_of == column  # type: ignore[attr-defined]


FUNCTIONS: list[Columnar] = [
    wf.count("x"),
    wf.sum("x"),
    wf.mean("x"),
    wf.min("x"),
    wf.max("x"),
    wf.var("x"),
    wf.stddev("x"),
    wf.first("x"),
    wf.last("x", ignore_nulls=True),
    wf.arg_min("x", by="y"),
    wf.arg_max("x", by="y"),
    wf.median("x"),
    wf.quantile("x", 0.9),
    wf.mode("x"),
    wf.count_distinct("x", "y"),
    wf.top_k("x", 2),
    wf.collect("x"),
    wf.ohlc("x"),
    wf.linear_regression("y", "x"),
    wf.polynomial_fit("y", "x", 2),
    wf.skyline("x", "y"),
]


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("function", FUNCTIONS, ids=repr)
def test_no_tuples_and_no_windows_give_no_results(function: Any, dtype: type) -> None:
    columns = [Values(np.empty(0, dtype=dtype)) for _ in function.columns]
    nowhere = np.empty(0, dtype=np.int64)
    assert len(function.over_ranges(columns, nowhere, nowhere)) == 0


@pytest.mark.parametrize("function", FUNCTIONS, ids=repr)
def test_window_of_nulls_gives_the_empty_result(function: Any) -> None:
    nulls = Values(np.array([1.0, 2.0]), np.array([False, False]))
    columns = [nulls for _ in function.columns]
    results = function.over_ranges(columns, np.array([0, 1]), np.array([2, 2]))
    assert results.to_list() == [function.empty, function.empty]


@pytest.mark.parametrize("function", FUNCTIONS, ids=repr)
def test_functions_can_be_sent_to_workers(function: Any) -> None:
    assert repr(pickle.loads(pickle.dumps(function))) == repr(function)


def test_importing_the_functions_does_not_import_numba() -> None:
    code = "import sys, windrow.functions; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
