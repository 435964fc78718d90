"""Every window function equals its definition, however a window is split, and in columnar form."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.effort import examples
from tests.naive_functions import (
    Tuples,
    exact_sum,
    key,
    naive_arg,
    naive_count_distinct,
    naive_fit,
    naive_line,
    naive_mean,
    naive_mode,
    naive_ohlc,
    naive_quantile,
    naive_skyline,
    naive_stddev,
    naive_sum,
    naive_top_by,
    naive_var,
    present,
    values,
)
from windrow import functions as wf
from windrow.core.aggregate import Aggregate, Commutative
from windrow.functions.columnar import Columnar, Values
from windrow.functions.reducible import Reducible

Ranges = list[tuple[int, int]]

matrix_settings = examples(30)


@dataclass(frozen=True)
class Case:
    function: Aggregate[Any, Any, Any]
    naive: Callable[[Tuples], Any]
    kinds: tuple[str, ...] = ("int", "float")
    slack: float = 0.0
    """What may be lost to rounding, relative to the sum of magnitudes."""


CASES = [
    Case(wf.count(), len),
    Case(wf.count("x"), lambda tuples: len(present(tuples))),
    Case(wf.sum("x"), naive_sum, slack=1e-12),
    Case(wf.mean("x"), naive_mean, slack=1e-12),
    Case(wf.min("x"), lambda tuples: min(values(tuples), key=key, default=None)),
    Case(wf.max("x"), lambda tuples: max(values(tuples), key=key, default=None)),
    Case(wf.var("x"), naive_var),
    Case(wf.stddev("x"), naive_stddev),
    Case(wf.first("x"), lambda tuples: tuples[0][0]),
    Case(wf.last("x"), lambda tuples: tuples[-1][0]),
    Case(wf.first("x", ignore_nulls=True), lambda tuples: next(iter(values(tuples)), None)),
    Case(wf.last("x", ignore_nulls=True), lambda tuples: (values(tuples) or [None])[-1]),
    Case(wf.arg_min("x", by="y"), naive_arg(min)),
    Case(wf.arg_max("x", by="y"), naive_arg(max)),
    Case(wf.median("x"), naive_quantile(0.5)),
    Case(wf.quantile("x", 0.9), naive_quantile(0.9)),
    Case(wf.quantile("x", 1), naive_quantile(1.0)),
    Case(wf.mode("x"), naive_mode),
    Case(wf.count_distinct("x"), naive_count_distinct),
    Case(wf.count_distinct("x", "y", "z"), naive_count_distinct),
    Case(wf.top_k("x", 3), lambda tuples: sorted(values(tuples), key=key, reverse=True)[:3]),
    Case(wf.top_k("x", 2, by="y"), naive_top_by(2)),
    Case(wf.collect("x"), values),
    Case(wf.ohlc("x"), naive_ohlc),
    Case(wf.linear_regression("y", "x"), naive_line, ("int", "quarter"), slack=1e-9),
    Case(wf.polynomial_fit("y", "x", 2), naive_fit(2), ("quarter",), slack=1e-6),
    Case(wf.skyline("x", "y"), naive_skyline({"x": 1, "y": 1})),
    Case(
        wf.skyline("x", "y", "z", maximise=(True, False, True)),
        naive_skyline({"x": -1, "y": 1, "z": -1}),
    ),
]
MATRIX = pytest.mark.parametrize(
    ("case", "kind"),
    [pytest.param(c, k, id=f"{c.function!r}-{k}") for c in CASES for k in c.kinds],
)

ELEMENTS: dict[str, st.SearchStrategy[Any]] = {
    "int": st.one_of(st.integers(-3, 3), st.integers(-(2**40), 2**40)),
    "float": st.one_of(
        st.integers(-3, 3).map(float),
        st.floats(-1e6, 1e6),
        st.sampled_from([1e8, 1e8 + 1, -0.0, math.nan, math.inf, -math.inf]),
    ),
    "quarter": st.integers(-40, 40).map(lambda i: i / 4),
}


@st.composite
def windows(draw: st.DrawFn, case: Case, kind: str) -> Tuples:
    element = ELEMENTS[kind]
    if draw(st.booleans()):
        element = st.none() | element
    width = max(len(case.function.columns), 1)
    return draw(st.lists(st.tuples(*[element] * width), min_size=1, max_size=25))


@st.composite
def ranges_over(draw: st.DrawFn, n: int) -> Ranges:
    """Non-empty ranges: sliding over one key or two, varying, and since the last landmark."""
    shape = draw(st.sampled_from(["sliding", "two keys", "varying", "landmark", "arbitrary"]))
    if shape in ("sliding", "two keys"):
        length, slide = draw(st.integers(1, n + 2)), draw(st.integers(1, 5))
        split = draw(st.integers(0, n)) if shape == "two keys" else n
        starts = [(w, split) for w in range(0, split, slide)]
        starts += [(w, n) for w in range(split, n, slide)]
        return [(w, min(w + length, end)) for w, end in starts]
    ends = st.lists(st.integers(1, n), max_size=12)
    if shape == "landmark":
        every = draw(st.integers(1, n))
        return [((high - 1) // every * every, high) for high in sorted(draw(ends))]
    highs = draw(ends)
    lows = [draw(st.integers(0, high - 1)) for high in highs]
    if shape == "varying":
        highs, lows = sorted(highs), sorted(lows)
        return [(low, max(high, low + 1)) for low, high in zip(lows, highs, strict=True)]
    return list(zip(lows, highs, strict=True))


def over(case: Case, tuples: Tuples) -> Any:
    columns = case.function.columns
    if len(columns) == 1:
        return case.function.over(t[0] for t in tuples)
    return case.function.over(tuples if columns else [() for _ in tuples])


def as_columns(case: Case, kind: str, tuples: Tuples) -> list[Values]:
    dtype = np.int64 if kind == "int" else np.float64
    columns = []
    for i in range(len(case.function.columns)):
        filled = [7 if t[i] is None else t[i] for t in tuples]
        valid = np.array([t[i] is not None for t in tuples], dtype=np.bool_)
        columns.append(Values(np.array(filled, dtype=dtype), None if valid.all() else valid))
    return columns


def same(actual: Any, expected: Any, slack: float = 0.0) -> bool:
    """Ints exactly; floats to 1e-9 relative, or to the slack."""
    if isinstance(expected, dict):
        return list(actual) == list(expected) and all(
            same(actual[field], expected[field], slack) for field in expected
        )
    if isinstance(expected, list):
        return len(actual) == len(expected) and all(
            same(a, e, slack) for a, e in zip(actual, expected, strict=True)
        )
    if type(actual) is not type(expected):
        return False
    if not isinstance(expected, float) or not math.isfinite(expected):
        return bool(key(actual) == key(expected))
    return math.isclose(actual, expected, rel_tol=1e-9, abs_tol=slack)


def check(case: Case, actual: Any, expected: Any, tuples: Tuples) -> None:
    magnitudes = [abs(v) for t in tuples for v in t if v is not None and math.isfinite(v)]
    slack = case.slack * (1.0 + math.fsum(magnitudes)) if case.slack else 0.0
    assert same(actual, expected, slack), f"{actual} is not {expected}"


def test_every_function_of_the_library_is_in_the_matrix() -> None:
    tested = {type(case.function) for case in CASES}
    arguments = {"quantile": ("x", 0.5), "top_k": ("x", 1), "polynomial_fit": ("y", "x", 1)}
    two_columns = {"arg_min", "arg_max", "linear_regression"}
    for name in wf.__all__:
        given_arguments = arguments.get(name, ("x", "y") if name in two_columns else ("x",))
        assert type(getattr(wf, name)(*given_arguments)) in tested


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.function))
def test_every_function_is_commutative_and_columnar(case: Case) -> None:
    assert isinstance(case.function, Commutative)
    assert isinstance(case.function, Columnar)


@MATRIX
@matrix_settings
@given(data=st.data())
def test_function_equals_its_definition(case: Case, kind: str, data: st.DataObject) -> None:
    tuples = data.draw(windows(case, kind))
    if isinstance(case.function, type(wf.polynomial_fit("y", "x", 2))):
        check_fit(over(case, tuples), case.naive(tuples), tuples)
    else:
        check(case, over(case, tuples), case.naive(tuples), tuples)


def check_fit(actual: Any, expected: Any, tuples: Tuples) -> None:
    """Ill-conditioned fits differ in their coefficients, not in their values at the points."""
    assert (actual is None) == (expected is None)
    if expected is not None:
        x = np.array([t[1] for t in present(tuples)])
        np.testing.assert_allclose(
            np.polynomial.Polynomial(actual)(x), np.polynomial.Polynomial(expected)(x), atol=1e-6
        )


@MATRIX
@matrix_settings
@given(data=st.data())
def test_parts_of_a_window_combine_in_any_order(case: Case, kind: str, data: st.DataObject) -> None:
    function = case.function
    tuples = data.draw(windows(case, kind))
    partials = []
    for position, t in enumerate(tuples):
        if not (function.skips_nulls and function.columns and None in t):
            partials.append(function.lift(function.at(position, t if len(t) > 1 else t[0])))
    if not partials:
        assert over(case, tuples) == function.empty
        return
    choose = data.draw(st.randoms(use_true_random=False))
    while len(partials) > 1:
        choose.shuffle(partials)
        partials.append(function.combine(partials.pop(), partials.pop()))
    check(case, function.lower(partials[0]), over(case, tuples), tuples)


@MATRIX
@matrix_settings
@given(data=st.data())
def test_columnar_form_equals_the_function_on_each_range(
    case: Case, kind: str, data: st.DataObject
) -> None:
    tuples = data.draw(windows(case, kind))
    ranges = data.draw(ranges_over(len(tuples)))
    assert isinstance(case.function, Columnar)
    results = case.function.over_ranges(as_columns(case, kind, tuples), *as_arrays(ranges))
    assert len(results) == len(ranges)
    for (low, high), result in zip(ranges, results.to_list(), strict=True):
        check(case, result, over(case, tuples[low:high]), tuples[low:high])


def as_arrays(ranges: Ranges) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    bounds = np.array(ranges, dtype=np.int64).reshape(-1, 2)
    return bounds[:, 0], bounds[:, 1]


REDUCERS: dict[str, Callable[[list[Any]], Any]] = {
    "count": len,
    "sum": lambda numbers: float(exact_sum(numbers)) if numbers else 0,
    "min": lambda numbers: min(numbers, key=key, default=0),
    "max": lambda numbers: max(numbers, key=key, default=0),
}


@pytest.mark.parametrize(
    "case",
    [c for c in CASES if isinstance(c.function, Reducible)],
    ids=lambda case: repr(case.function),
)
@matrix_settings
@given(data=st.data())
def test_reductions_lower_to_the_result(case: Case, data: st.DataObject) -> None:
    window_list = data.draw(st.lists(windows(case, "float"), min_size=1, max_size=4))
    assert isinstance(case.function, Reducible)
    partials = []
    for reduction in case.function.reductions:
        reduce = REDUCERS[reduction.op]
        inputs = [w if reduction.column is None else values(w) for w in window_list]
        partials.append(np.array([reduce(numbers) for numbers in inputs]))
    results = case.function.lower_reductions(partials).to_list()
    for result, tuples in zip(results, window_list, strict=True):
        check(case, result, over(case, tuples), tuples)
