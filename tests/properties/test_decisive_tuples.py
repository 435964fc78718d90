"""Windows computed from the tuples of panes that can decide a result are those of all tuples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.naive_ranges import order_key
from tests.properties.test_patterns_match_oracle import FUNCTIONS, arrivals, check, draw_query
from tests.ranges import Ranges, cases, float_values, int_values, special_floats
from tests.streams import window_models
from windrow.core import WindowModel, oracle
from windrow.engine.evaluate import decisive
from windrow.kernels.best_of_ranges import extreme_of_ranges, greatest_of_ranges

FEW = [
    "least_s", "first", "last", "arg_min", "arg_max", "top", "ohlc", "skyline", "top_by", "ohlc_m"
]  # fmt: skip
"""Functions that need few rows of a pane."""
_MODELS = window_models(1000)
PANED: st.SearchStrategy[WindowModel] = _MODELS["time"] | _MODELS["count"] | _MODELS["landmark"]


@examples(400)
@given(st.data(), PANED, st.integers(0, 6))
def test_results_equal_the_oracles_however_few_tuples_are_kept(
    data: st.DataObject, model: WindowModel, delay: int
) -> None:
    names = data.draw(st.lists(st.sampled_from(FEW), min_size=1, max_size=3, unique=True))
    functions = {name: FUNCTIONS[name] for name in names}
    query: Any = draw_query(data, model, delay).agg(**functions)
    rows = data.draw(arrivals(delay if query.time else 0))

    def naive(w: oracle.OracleWindow) -> list[Any]:
        return [[oracle.aggregate(f, w.rows) for f in functions.values()]]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decisive, "_LEAST", 1)
        assert decisive.DecisiveTuples.of(query.window_query()) is not None
        check(data, model, query, rows, naive, names)


@examples(80)
@given(cases(int_values | float_values(special_floats)), st.sampled_from([1, -1]))
def test_extremes_are_the_first_of_equal_values(case: tuple[list[Any], Ranges], sign: int) -> None:
    values, (lo, hi) = case
    found = extreme_of_ranges(np.array(values or [0]), lo, hi, sign)
    best = max if sign > 0 else min
    for low, high, at in zip(lo.tolist(), hi.tolist(), found.tolist(), strict=True):
        if low < high:
            assert at == best(range(low, high), key=lambda i: order_key(values[i]))


@examples(80)
@given(cases(int_values | float_values(special_floats)), st.integers(1, 5))
def test_the_greatest_are_the_first_of_equal_values(case: tuple[list[Any], Ranges], k: int) -> None:
    values, (lo, hi) = case
    found = greatest_of_ranges(np.array(values or [0]), lo, hi, k).tolist()
    expected = []
    for low, high in zip(lo.tolist(), hi.tolist(), strict=True):
        by_rank = sorted(range(low, high), key=lambda i: order_key(values[i]), reverse=True)
        expected += sorted(by_rank[:k])
    assert found == expected
