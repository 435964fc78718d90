from __future__ import annotations

import math

import numpy as np

from windrow import functions as wf
from windrow.functions.columnar import Values


def test_oldest_of_equals_is_chosen() -> None:
    ties = [("a", 2), ("b", 1), ("c", 2), ("d", 1)]
    assert wf.arg_max("x", by="y").over(ties) == "a"
    assert wf.arg_min("x", by="y").over(ties) == "b"


def test_null_by_is_skipped_but_a_null_value_may_be_chosen() -> None:
    assert wf.arg_max("x", by="y").over([("a", None), (None, 2), ("c", 1)]) is None
    assert wf.arg_min("x", by="y").over([("a", None), (None, 2), ("c", 1)]) == "c"
    assert wf.arg_min("x", by="y").over([("a", None)]) is None


def test_nan_is_the_greatest_by() -> None:
    by_nan = [("a", 1.0), ("b", math.nan), ("c", math.nan)]
    assert wf.arg_max("x", by="y").over(by_nan) == "b"
    assert wf.arg_min("x", by="y").over(by_nan) == "a"


def test_nulls_in_columnar_form() -> None:
    x = Values(np.array([10, 0, 12]), np.array([True, False, True]))
    y = Values(np.array([1, 2, 0]), np.array([True, True, False]))
    results = wf.arg_max("x", by="y").over_ranges([x, y], np.array([0, 0, 2]), np.array([1, 2, 3]))
    assert results.to_list() == [10, None, None]
