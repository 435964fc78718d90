"""Predicates: what they say, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest

import windrow as wr
from windrow.core.predicates import Band, Equi


def test_a_band_is_symmetric_or_below_and_above() -> None:
    found = wr.band(a=10, b=(5, 10.5)).bands
    assert found == (Band("a", "a", 10, 10), Band("b", "b", 5, 10.5))


def test_a_band_of_a_pair_of_names() -> None:
    assert wr.band(("la", "ra"), (1, 2)).bands == (Band("la", "ra", 1, 2),)


def test_durations_are_microseconds() -> None:
    extents = ("1 ms", timedelta(seconds=1), np.timedelta64(2, "ms"))
    found = [wr.band(ts=extent).bands[0] for extent in extents]
    assert [b.above for b in found] == [1000, 1_000_000, 2000]
    assert all(b.is_duration for b in found)


def test_numpy_numbers_are_numbers() -> None:
    assert wr.band(a=(np.int64(1), np.float32(0.5))).bands == (Band("a", "a", 1, 0.5),)


def test_predicates_add_up() -> None:
    made = wr.equi("k", ("lk", "rk")) & wr.band(a=1) & wr.theta(len) & wr.equi("j")  # type: ignore[arg-type]
    assert made.equis == (Equi("k", "k"), Equi("lk", "rk"), Equi("j", "j"))
    assert made.columns(0) == ["k", "lk", "j", "a"]
    assert made.columns(1) == ["k", "rk", "j", "a"]
    assert made.describe().endswith("-1 <= r.a - l.a <= 1 and len(l, r)")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: wr.band(), "band needs a column"),
        (lambda: wr.band("a"), "band takes columns by name"),
        (lambda: wr.band("a", 10), "band takes columns by name"),
        (lambda: wr.band(a=(1, 2, 3)), r"one extent or a pair; got a=\(1, 2, 3\)"),  # type: ignore[arg-type]
        (lambda: wr.band(a=-1), "must hold something"),
        (lambda: wr.band(a=(-5, 4)), "must hold something"),
        (lambda: wr.band(a=True), "extent must be a number; got a=True"),
        (lambda: wr.band(a=float("nan")), "extent must be a number; got a=nan"),
        (lambda: wr.band(a=None), "extent must be a number; got a=None"),  # type: ignore[arg-type]
        (lambda: wr.band(a="1 parsec"), "unknown unit 'parsec'"),
        (lambda: wr.equi(), "equi needs a column"),
        (lambda: wr.equi(3), "equi takes names of columns, or pairs of them; got 3"),  # type: ignore[arg-type]
        (lambda: wr.equi(("a", "b", "c")), "or pairs of them"),  # type: ignore[arg-type]
        (lambda: wr.theta("a < b"), "theta takes a function of two blocks; got 'a < b'"),  # type: ignore[arg-type]
        (lambda: wr.equi("k") & "a", "& joins two predicates; got 'a'"),
        (lambda: wr.equi("k") and wr.band(a=1), "combined with &"),
    ],
)
def test_what_is_wrong_is_said(build: Callable[[], object], message: str) -> None:
    with pytest.raises(wr.WindrowError, match=message):
        build()
