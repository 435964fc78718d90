from __future__ import annotations

import math

import numpy as np
import pytest

from windrow import functions as wf
from windrow.core import WindrowError
from windrow.functions.columnar import Values


@pytest.mark.parametrize("k", [0, -1, 1.5, True, None])
def test_k_must_be_positive(k: object) -> None:
    with pytest.raises(WindrowError, match="top_k k must be a positive number of values; got k="):
        wf.top_k("x", k)  # type: ignore[arg-type]


def test_greatest_values_come_first_with_their_duplicates() -> None:
    assert wf.top_k("x", 3).over([1, 5, None, 5, 2]) == [5, 5, 2]
    assert wf.top_k("x", 3).over([1]) == [1]
    assert str(wf.top_k("x", 2).over([1.0, math.nan, math.inf])) == "[nan, inf]"


def test_nothing_gives_no_value() -> None:
    assert wf.top_k("x", 3).over([None]) == []
    assert wf.top_k("x", 3, by="y").over([("a", None)]) == []


def test_by_another_column_the_oldest_of_equals_comes_first() -> None:
    by_size = wf.top_k("x", 3, by="y")
    assert by_size.over([("a", 1), ("b", 2), ("c", 1), ("d", 2)]) == ["b", "d", "a"]
    assert by_size.over([(None, 1), ("b", None), ("c", 0)]) == [None, "c"]


def test_nulls_among_the_values_in_columnar_form() -> None:
    x = Values(np.array([0, 11, 12]), np.array([False, True, True]))
    y = Values(np.array([9, 8, 0]), np.array([True, True, False]))
    results = wf.top_k("x", 2, by="y").over_ranges([x, y], np.array([0, 2]), np.array([3, 3]))
    assert results.to_list() == [[None, 11], []]


def test_repr_tells_k_and_by() -> None:
    assert repr(wf.top_k("x", 3)) == "TopK('x', k=3)"
    assert repr(wf.top_k("x", 3, by="y")) == "TopK('x', k=3, by='y')"
