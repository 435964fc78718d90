"""Predicates and their terms: what they say, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow.engine.joins.terms.band import Band, buckets
from windrow.engine.joins.terms.equi import Equi
from windrow.engine.joins.terms.theta import Theta


def less(left: Any, right: Any) -> Any:
    return left["f"] < right["f"]


def test_a_band_is_symmetric_or_below_and_above() -> None:
    found = wr.band(a=10, b=(5, 10.5)).terms
    assert found == (Band("a", "a", 10, 10), Band("b", "b", 5, 10.5))


def test_a_band_of_a_pair_of_names() -> None:
    assert wr.band(("la", "ra"), (1, 2)).terms == (Band("la", "ra", 1, 2),)


def test_durations_are_microseconds() -> None:
    extents = ("1 ms", timedelta(seconds=1), np.timedelta64(2, "ms"))
    found = [wr.band(ts=extent).terms for extent in extents]
    wanted = [(Band("ts", "ts", n, n, is_duration=True),) for n in (1000, 1_000_000, 2000)]
    assert found == wanted


def test_numpy_numbers_are_numbers() -> None:
    assert wr.band(a=(np.int64(1), np.float32(0.5))).terms == (Band("a", "a", 1, 0.5),)


def test_predicates_add_up() -> None:
    made = wr.equi("k", ("lk", "rk")) & wr.band(a=1) & wr.theta(less) & wr.equi("j")
    band, equi, theta = Band("a", "a", 1, 1), Equi("j", "j"), Theta(less)
    assert made.terms == (Equi("k", "k"), Equi("lk", "rk"), band, theta, equi)
    assert made.describe().endswith("-1 <= r.a - l.a <= 1 and less(l, r) and l.j = r.j")
    assert (band & equi).terms == (wr.band(a=1) & equi).terms == (band & wr.equi("j")).terms


def test_a_predicate_knows_its_columns_unless_a_function_may_see_all() -> None:
    made = wr.equi("k", ("lk", "rk")) & wr.band(a=1)
    assert made.columns(0) == {"k", "lk", "a"}
    assert made.columns(1) == {"k", "rk", "a"}
    assert (made & wr.theta(less)).columns(0) is None


def test_an_identity_is_the_parameters_as_json() -> None:
    made = wr.equi(("lk", "rk")) & wr.band(a=(0.5, float("inf")), ts="1 s") & wr.theta(less)
    assert json.loads(json.dumps(made.identity(), allow_nan=False)) == [
        {"term": "Equi", "left": "lk", "right": "rk"},
        {"term": "Band", "left": "a", "right": "a", "below": 0.5, "above": "inf"},
        {
            "term": "Band", "left": "ts", "right": "ts",
            "below": 1_000_000, "above": 1_000_000, "is_duration": True,
        },
        {"term": "Theta", "function": "less"},
    ]  # fmt: skip


def test_only_what_the_search_leaves_open_is_verified() -> None:
    schema = pa.schema([("i", pa.int64()), ("j", pa.int32()), ("f", pa.float64())])

    def verified(on: wr.Predicate) -> list[str]:
        return [term.describe()[:8] for term in on.bind(schema, schema).verified]

    assert verified(wr.equi("i")) == []
    assert verified(wr.equi("i", "j")) == ["l.i = r.", "l.j = r."]
    assert verified(wr.equi("f")) == ["l.f = r."]
    assert verified(wr.equi("i") & wr.band(i=1, j=2)) == []
    assert verified(wr.band(i=1, j=2, f=3)) == ["-3 <= r."]
    assert verified(wr.band(f=1, i=2)) == ["-1 <= r."]
    assert verified(wr.band(i=1, f=3) & wr.band(j=2)) == ["-3 <= r.", "-2 <= r."]
    assert verified(wr.band(i=(-1, 3))) == ["1 <= r.i"]
    assert verified(wr.theta(less) & wr.equi("f")) == ["l.f = r.", "less(l, "]


def test_bands_that_hold_nothing_or_all_have_no_buckets() -> None:
    assert Band("a", "a", 0, 0).partitioned_by is None
    assert Band("a", "a", float("inf"), 0).partitioned_by is None
    assert Band("a", "a", 5, 10).partitioned_by == "bucket(l.a, 120)"


def test_buckets_never_decrease_whatever_the_values() -> None:
    values = np.array([-np.inf, -1e300, -1e17, -81.0, -1.0, 0.0, 79.0, 80.0, 1e17, 1e300, np.inf])
    assert (np.diff(buckets(values, 80.0)) >= 0).all()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: wr.band(), "band needs a column"),
        (lambda: wr.band("a"), "band takes columns by name"),
        (lambda: wr.band("a", 10), "band takes columns by name"),
        (lambda: wr.band(a=(1, 2, 3)), r"one extent or a pair; got a=\(1, 2, 3\)"),  # type: ignore[arg-type]
        (lambda: wr.band(a=-1), "must not be empty"),
        (lambda: wr.band(a=(-5, 4)), "must not be empty"),
        (lambda: wr.band(a=True), "extent must be a number; got a=True"),
        (lambda: wr.band(a=float("nan")), "extent must be a number; got a=nan"),
        (lambda: wr.band(a=None), "extent must be a number; got a=None"),  # type: ignore[arg-type]
        (lambda: wr.band(a="1 parsec"), "unknown unit 'parsec'"),
        (lambda: wr.equi(), "equi needs a column"),
        (lambda: wr.equi(3), "equi takes names of columns, or pairs of them; got 3"),  # type: ignore[arg-type]
        (lambda: wr.equi(("a", "b", "c")), "or pairs of them"),  # type: ignore[arg-type]
        (lambda: wr.theta("a < b"), "theta takes a function of two blocks; got 'a < b'"),  # type: ignore[arg-type]
        (lambda: wr.equi("k") & "a", "& combines two predicates; got 'a'"),  # type: ignore[operator]
        (lambda: Equi("k", "k") and wr.band(a=1), "combined with &"),
        (lambda: wr.equi("k") and wr.band(a=1), "combined with &"),
    ],
)
def test_what_is_wrong_is_said(build: Callable[[], object], message: str) -> None:
    with pytest.raises(wr.WindrowError, match=message):
        build()


def test_a_term_that_narrows_must_define_how() -> None:
    class Narrow(wr.Term):
        narrows = "range"

        def columns(self, side: int) -> tuple[str, ...]:
            return ()

        def describe(self) -> str:
            return ""

        def verify(self, left: Any, right: Any) -> Any: ...

    with pytest.raises(wr.WindrowError, match=r"narrows by range must define attribute\(\)"):
        Narrow().attribute(0, pa.table({}))
    with pytest.raises(wr.WindrowError, match=r"narrows by range must define bounds\(\)"):
        Narrow().bounds(0, np.zeros(0))
