"""Custom functions of every algebra equal their definition on any ranges, and under any pattern."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.effort import examples
from tests.own_aggregates import Latest, Moments, Seen, Total
from tests.patterns import patterns
from tests.streams import models_in_milliseconds, rows
from windrow.core import WindowModel, oracle
from windrow.core.decimals import wide_decimals
from windrow.engine.evaluate.partial_ranges import Known, combine_partials

Ranges = list[tuple[int, int]]


@st.composite
def ranges_over(draw: st.DrawFn, n: int) -> Ranges:
    """Sliding ranges, and any others: out of order, within each other, empty."""
    if draw(st.booleans()):
        length, slide = draw(st.integers(1, n + 2)), draw(st.integers(1, 5))
        return [(w, min(w + length, n)) for w in range(0, n, slide)]
    ends = st.tuples(st.integers(0, n), st.integers(0, n))
    return [(min(pair), max(pair)) for pair in draw(st.lists(ends, max_size=15))]


def check(function: Any, values: list[Any], ranges: Ranges) -> None:
    """Compare every range's partial with the partials of its values, combined one by one."""
    bounds = np.array(ranges, np.int64).reshape(-1, 2).T
    with wide_decimals():
        partials: list[Known] = [None if v is None else (function.lift(v),) for v in values]
        found = combine_partials(function, partials, *bounds)
        for (lo, hi), partial in zip(ranges, found, strict=True):
            some = [p[0] for p in partials[lo:hi] if p is not None]
            assert partial == ((reduce(function.combine, some),) if some else None)


# Decimals of one column have one scale, and up to 38 digits.
VALUES = {
    "integers": st.integers(-(2**70), 2**70),
    "great decimals": st.decimals(-(10**33), 10**33, places=5),
    "small decimals": st.decimals(-1, 1, places=37),
    "few": st.integers(0, 5),
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("function", [Total("x"), Moments("x"), Seen("x"), Latest("x")], ids=repr)
@examples(60)
@given(data=st.data())
def test_exact_partials_equal_those_combined_one_by_one(
    function: Any, kind: str, data: st.DataObject
) -> None:
    values = data.draw(st.lists(st.none() | VALUES[kind], max_size=30))
    check(function, values, data.draw(ranges_over(len(values))))


special = st.sampled_from([math.nan, math.inf, -math.inf, 1e300, -1e300, 1e16, 1e-16, 1.0, -0.0])


@examples(200)
@given(data=st.data())
def test_a_float_affects_the_ranges_that_hold_it_and_no_other(data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | special | st.floats(-1e3, 1e3), max_size=30))
    ranges = data.draw(ranges_over(len(values)))
    bounds = np.array(ranges, np.int64).reshape(-1, 2).T
    partials: list[Known] = [None if v is None else (v,) for v in values]
    found = combine_partials(Total("x"), partials, *bounds)
    for (lo, hi), partial in zip(ranges, found, strict=True):
        some = [v for v in values[lo:hi] if v is not None]
        assert (partial is None) == (not some)
        if partial is None:
            continue
        if broken := [v for v in some if not math.isfinite(v)]:
            assert repr(partial[0]) == repr(sum(broken))
        else:
            exact = sum(map(Fraction, some), Fraction(0))
            size = sum(abs(Fraction(v)) for v in some)
            assert abs(Fraction(partial[0]) - exact) <= Fraction(1e-14) * size


FUNCTIONS: dict[str, Any] = {
    "total": Total("x"),
    "total_m": Total("m"),
    "total_y": Total("y"),
    "moments": Moments("m"),
    "seen": Seen("x"),
    "latest": Latest("x"),
}
SCHEMA = pa.schema(
    [
        ("k", pa.string()),
        ("t", pa.int64()),
        ("seq", pa.int64()),
        ("x", pa.int64()),
        ("y", pa.float64()),
        ("m", pa.decimal128(38, 5)),
        ("d", pa.int64()),
    ]
)


@examples(400)
@given(st.data(), models_in_milliseconds, rows(scale=1000))
def test_custom_functions_equal_the_oracle_under_every_pattern(
    data: st.DataObject, model: WindowModel, stream: list[dict[str, Any]]
) -> None:
    for row in stream:
        row["m"] = None if row["x"] is None else Decimal(f"{row['x']}{'0' * 25}.12345")
    name = data.draw(st.sampled_from([*FUNCTIONS]))
    function = FUNCTIONS[name]
    base = wr.stream(pa.Table.from_pylist(stream, SCHEMA)).key_by("k").event_time("t")
    query = base.order_by("seq").window(model).agg(found=function)
    query = query.using(data.draw(patterns(model, is_decomposable=True)))
    windows = oracle.windows(model, stream, key=("k",), time="t", order_by=["seq"])
    with wide_decimals():
        expected = {(w.key[0], w.id): oracle.aggregate(function, w.rows) for w in windows}
    result = query.collect().to_pylist()
    got = {(row["k"], row["window_id"]): row["found"] for row in result}
    assert got.keys() == expected.keys()
    for window, value in expected.items():
        if isinstance(value, float):
            assert math.isclose(got[window], value, rel_tol=1e-9, abs_tol=1e-9)
        else:
            assert got[window] == value
