from __future__ import annotations

import numpy as np
import pytest

from windrow import functions as wf
from windrow.functions.columnar import Values
from windrow.functions.reducible import Reducible, Reduction


def test_count_of_tuples_names_no_column() -> None:
    assert wf.count().reductions == (Reduction("count", None),)
    assert wf.count("x").reductions == (Reduction("count", 0),)


@pytest.mark.parametrize(
    ("function", "op"),
    [(wf.sum("x"), "sum"), (wf.mean("x"), "sum"), (wf.min("x"), "min"), (wf.max("x"), "max")],
    ids=repr,
)
def test_other_reductions_come_with_their_count(function: Reducible, op: str) -> None:
    assert [(r.op, r.column) for r in function.reductions] == [("count", 0), (op, 0)]


@pytest.mark.parametrize(
    "function", [wf.sum("x"), wf.mean("x"), wf.min("x"), wf.max("x")], ids=repr
)
def test_result_is_null_where_the_count_is_zero(function: Reducible) -> None:
    assert function.lower_reductions([np.array([0, 1]), np.array([9, 9])]).to_list() == [None, 9]


def test_mean_divides() -> None:
    means = wf.mean("x").lower_reductions([np.array([2, 4]), np.array([3, 6])])
    assert means.to_list() == [1.5, 1.5]


def test_windows_without_values_are_null_in_columnar_form() -> None:
    x = Values(np.array([1, 2]), np.array([False, True]))
    results = wf.sum("x").over_ranges([x], np.array([0, 0]), np.array([1, 2]))
    assert results.to_list() == [None, 2]


def test_mean_of_great_longs_does_not_overflow() -> None:
    x = Values(np.array([2**62, 2**62, 2**62]))
    means = wf.mean("x").over_ranges([x], np.array([0]), np.array([3]))
    assert means.to_list() == [float(2**62)]
