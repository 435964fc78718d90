from __future__ import annotations

import math
import random
import statistics
from decimal import Decimal

import numpy as np
import pytest

from windrow import functions as wf
from windrow.core import WindrowError
from windrow.functions.columnar import Values


@pytest.mark.parametrize("q", [-0.1, 1.1, math.nan, "0.5", None, True])
def test_q_outside_of_zero_to_one_is_refused(q: object) -> None:
    with pytest.raises(WindrowError, match="quantile q must be a number from 0 to 1; got q="):
        wf.quantile("x", q)  # type: ignore[arg-type]


def test_refusal_hints_at_the_median() -> None:
    with pytest.raises(WindrowError) as refusal:
        wf.quantile("x", 50)
    assert str(refusal.value) == (
        "quantile q must be a number from 0 to 1; got q=50.\nHint: 0.5 is the median."
    )


def test_quantiles_are_those_of_numpy() -> None:
    values = [random.Random(1).uniform(-5, 5) for _ in range(20)]
    for q in (0, 0.1, 0.5, 0.77, 1):
        assert wf.quantile("x", q).over(values) == pytest.approx(float(np.quantile(values, q)))
    assert wf.median("x").over(values) == pytest.approx(statistics.median(values))


def test_nulls_are_skipped_and_nothing_gives_null() -> None:
    assert wf.median("x").over([None, 3, None, 1]) == 2.0
    assert wf.median("x").over([None]) is None
    nulls = Values(np.array([3.0, 4.0]), np.array([False, True]))
    results = wf.median("x").over_ranges([nulls], np.array([0, 0]), np.array([1, 2]))
    assert results.to_list() == [None, 4.0]


def test_nan_is_the_greatest() -> None:
    assert wf.median("x").over([math.nan, 1.0, 2.0]) == 2.0
    assert math.isnan(wf.quantile("x", 1).over([math.nan, 1.0]) or 0.0)


INF = math.inf


@pytest.mark.parametrize(
    ("values", "q", "expected"),
    [
        ([-INF, 1.0, 2.0], 0.25, math.nan),
        ([-INF, 1.0, 2.0], 0.5, 1.0),
        ([-INF, -INF, 1.0], 0.25, -INF),
        ([1.0, 2.0, INF], 0.75, INF),
        ([INF, INF, 1.0], 0.75, INF),
        ([-INF, INF], 0.5, math.nan),
        ([1.0, math.nan], 0.5, math.nan),
        ([-1.7e308, 1.7e308], 0.5, INF),
    ],
)
def test_quantile_beside_an_infinity_is_that_of_the_formula(
    values: list[float], q: float, expected: float
) -> None:
    function = wf.quantile("x", q)
    whole = np.array([0]), np.array([len(values)])
    (columnar,) = function.over_ranges([Values(np.array(values))], *whole).to_list()
    for result in (function.over(values), columnar):
        assert result == pytest.approx(expected, nan_ok=True)


def test_decimals_give_a_double() -> None:
    result = wf.median("x").over([Decimal("1.50"), Decimal("2.50")])
    assert result == 2.0 and isinstance(result, float)


def test_repr_tells_q() -> None:
    assert repr(wf.quantile("x", 0.9)) == "Quantile('x', q=0.9)"
