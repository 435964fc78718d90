from __future__ import annotations

import math

import numpy as np
import pytest

from windrow import functions as wf
from windrow.core import WindrowError
from windrow.functions.columnar import Values

#  y
#  4 | a
#  3 |       c
#  2 |    b
#  1 |          d
#    +-1--2--3--4- x
A, B, C, D = (1, 4), (2, 2), (3, 3), (4, 1)


def points(*found: tuple[float, float]) -> list[dict[str, float]]:
    return [{"x": float(x), "y": float(y)} for x, y in found]


def test_dominated_points_are_left_out() -> None:
    assert wf.skyline("x", "y").over([A, B, C, D]) == points(A, B, D)


def test_maximise_turns_the_direction() -> None:
    assert wf.skyline("x", "y", maximise=True).over([A, B, C, D]) == points(A, C, D)
    assert wf.skyline("x", "y", maximise=(True, False)).over([A, B, C, D]) == points(D)


def test_duplicates_are_kept_and_nulls_skipped() -> None:
    assert wf.skyline("x", "y").over([B, C, (0, None), B]) == points(B, B)
    assert wf.skyline("x", "y").over([(None, 1)]) == []


def test_nan_is_the_worst_in_either_direction() -> None:
    assert wf.skyline("x", "y").over([(math.nan, 2), B]) == points(B)
    assert wf.skyline("x", "y", maximise=True).over([(math.nan, 2), B]) == points(B)
    assert str(wf.skyline("x").over([math.nan, math.nan])) == "[{'x': nan}, {'x': nan}]"


def test_columnar_form_keeps_the_order_of_tuples() -> None:
    x = Values(np.array([4, 2, 1, 3]))
    y = Values(np.array([1.0, 2.0, 4.0, 0.0]), np.array([True, True, True, False]))
    results = wf.skyline("x", "y").over_ranges([x, y], np.array([0, 3]), np.array([4, 4]))
    assert results.to_list() == [points(D, B, A), []]


def test_columns_must_differ() -> None:
    with pytest.raises(WindrowError, match=r"one or more different columns; got \['x', 'x'\]"):
        wf.skyline("x", "x")
    with pytest.raises(WindrowError, match=r"one or more different columns; got \[\]"):
        wf.skyline()


@pytest.mark.parametrize("maximise", [(True,), (True, False, True), (1, 0)])
def test_maximise_must_have_one_direction_a_column(maximise: tuple[bool, ...]) -> None:
    with pytest.raises(WindrowError) as refusal:
        wf.skyline("x", "y", maximise=maximise)
    assert str(refusal.value) == (
        "skyline maximise must be True or False, or a sequence with one per column; "
        f"got maximise={maximise}.\nHint: the columns are ['x', 'y']."
    )
