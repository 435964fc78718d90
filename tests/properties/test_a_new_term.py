"""A term of a user's own: one class, and joins partition, narrow and verify by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import windrow as wr
from tests.effort import examples
from windrow.core import oracle

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Around(wr.Term):
    """Directions in degrees that are at most ``reach`` apart on the circle.

    Their cosines are near each other then, and the circle can be cut into arcs.
    """

    column: str
    reach: float

    narrows = "range"
    has_copies = True

    def columns(self, side: int) -> tuple[str, ...]:
        return (self.column,)

    def describe(self) -> str:
        return f"r.{self.column} is at most {self.reach} degrees from l.{self.column}"

    def attribute(self, side: int, tuples: pa.Table) -> tuple[NDArray[Any], Mask]:
        column = tuples[self.column]
        return np.cos(np.radians(self._degrees(tuples))), np.asarray(pc.is_valid(column))

    def bounds(self, side: int, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        # A chord is shorter than its arc; the rest is for rounding.
        chord = np.radians(self.reach) + 1e-9
        return values - chord, values + chord

    def verify(self, left: wr.Candidates, right: wr.Candidates) -> Mask:
        apart = np.abs(left[self.column] - right[self.column]) % 360
        mask: Mask = np.minimum(apart, 360 - apart) <= self.reach
        return mask

    @property
    def partitioned_by(self) -> str | None:
        return None if self._arcs < 2 else f"arc(l.{self.column}, {360 / self._arcs:g})"

    def partition(self, side: int, tuples: pa.Table) -> list[NDArray[np.int64]]:
        degrees, reaches = self._degrees(tuples), (0, -self.reach, self.reach)
        touched = reaches if side == 1 else (0,)
        return [((degrees + r) % 360 // (360 / self._arcs)).astype(np.int64) for r in touched]

    @property
    def _arcs(self) -> int:
        return min(64, int(360 // (4 * self.reach))) if self.reach else 64

    def _degrees(self, tuples: pa.Table) -> NDArray[Any]:
        return np.asarray(tuples[self.column].cast(pa.float64()).fill_null(0).to_numpy())


@dataclass(frozen=True)
class SameResidue(wr.Term):
    """``l.column % modulus = r.column % modulus``, of integers."""

    column: str
    modulus: int

    narrows = "code"
    is_exact = True

    def columns(self, side: int) -> tuple[str, ...]:
        return (self.column,)

    def describe(self) -> str:
        return f"l.{self.column} = r.{self.column} modulo {self.modulus}"

    def attribute(self, side: int, tuples: pa.Table) -> tuple[NDArray[Any], Mask]:
        column = tuples[self.column]
        residues = np.asarray(column.fill_null(0).to_numpy()) % self.modulus
        return residues, np.asarray(pc.is_valid(column))

    def verify(self, left: wr.Candidates, right: wr.Candidates) -> Mask:
        mask: Mask = left.attribute == right.attribute
        return mask


@dataclass(frozen=True)
class On:
    """A term or a predicate, and the same of two rows."""

    on: Any
    holds: Callable[[Any, Any], bool]

    def __and__(self, other: On) -> On:
        both = self.holds, other.holds
        return On(self.on & other.on, lambda x, y: both[0](x, y) and both[1](x, y))


def around(reach: float) -> On:
    def holds(x: Any, y: Any) -> bool:
        if x["d"] is None or y["d"] is None:
            return False
        apart = abs(x["d"] - y["d"]) % 360
        return bool(min(apart, 360 - apart) <= reach)

    return On(Around("d", reach), holds)


def same_residue(modulus: int) -> On:
    def holds(x: Any, y: Any) -> bool:
        known = x["i"] is not None and y["i"] is not None
        return known and x["i"] % modulus == y["i"] % modulus

    return On(SameResidue("i", modulus), holds)


OTHERS = [
    On(wr.equi("k"), lambda x, y: x["k"] is not None and x["k"] == y["k"]),
    On(wr.band(j=1), lambda x, y: abs(x["j"] - y["j"]) <= 1),
    On(wr.theta(lambda x, y: x["j"] < y["j"]), lambda x, y: x["j"] < y["j"]),
]
SCHEMA = pa.schema(
    [
        ("n", pa.int64()),
        ("t", pa.int64()),
        ("d", pa.float64()),
        ("i", pa.int64()),
        ("k", pa.string()),
        ("j", pa.int64()),
    ]
)
new_terms = st.sampled_from([0, 0.5, 10, 50, 180]).map(around) | st.sampled_from([1, 2, 7]).map(
    same_residue
)
predicates = st.lists(new_terms | st.sampled_from(OTHERS), max_size=2).flatmap(
    lambda others: new_terms.flatmap(
        lambda new: st.permutations([new, *others]).map(lambda parts: _all(parts))
    )
)
hows = st.sampled_from(["inner", "left", "right_outer", "full", "semi", "left_anti"])
layouts: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {},
        {"degree": 4},
        {"layout": (2, 2)},
        {"layout": "linear", "degree": 3},
        {"layout": (1, 2), "partitions": 3},
    ]
)
HOWS_OF_THE_ORACLE = {"left": "left_outer", "full": "full_outer", "left_anti": "anti"}


def _all(parts: list[On]) -> On:
    made = parts[0]
    for part in parts[1:]:
        made = made & part
    return made


@st.composite
def rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    values = st.tuples(
        st.integers(-20, 20),
        st.none() | st.integers(-720, 1440).map(lambda d: d / 2),
        st.none() | st.integers(-9, 9),
        st.sampled_from([None, "a", "b"]),
        st.integers(0, 3),
    )
    made = draw(st.lists(values, max_size=25))
    return [dict(zip(SCHEMA.names, (n, *row), strict=True)) for n, row in enumerate(made)]


@examples(400)
@given(rows(), rows(), predicates, st.sampled_from(["9 us", ("20 us", "3 us"), 6]), hows, layouts)
def test_joins_by_a_new_term_are_the_nested_loops(
    left: Any, right: Any, on: On, within: Any, how: Any, layout: dict[str, Any]
) -> None:
    tables = [pa.Table.from_pylist(side, SCHEMA) for side in (left, right)]
    terms = on.on.terms if isinstance(on.on, wr.Predicate) else (on.on,)
    if all(term.partitioned_by is None for term in terms):
        layout = {name: value for name, value in layout.items() if name != "partitions"}
    join = wr.join(*tables, within=within, on=on.on, time="t", how=how, **layout)
    known = HOWS_OF_THE_ORACLE.get(how, how)
    expected = oracle.join(left, right, on.holds, within=within, time="t", how=known)
    numbers = [(row["left_n"], row.get("right_n")) for row in join.collect().to_pylist()]
    assert Counter(numbers) == Counter((x and x["n"], y and y["n"]) for x, y in expected)


def directions(n: int) -> pa.Table:
    draw = np.random.default_rng(n)
    return pa.table({"t": np.arange(n), "d": draw.integers(0, 3600, n) / 10, "i": np.arange(n)})


def joined(on: Any, **more: Any) -> wr.Join:
    return wr.join(directions(300), directions(299), within="1 s", on=on, time="t", **more)


def test_a_new_term_partitions(capsys: pytest.CaptureFixture[str]) -> None:
    joined(Around("d", 5), degree=4).explain()
    assert "4 partitions by hash(arc(l.d, 20))" in capsys.readouterr().out
    joined(SameResidue("i", 5), degree=4).explain()
    assert "4 partitions by hash(l.i)" in capsys.readouterr().out
    with pytest.raises(wr.WindrowError, match="partitions need a term that can partition rows"):
        joined(Around("d", 100), partitions=2)


def test_a_new_term_narrows(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates = []
    verify = Around.verify

    def counted(self: Around, left: wr.Candidates, right: wr.Candidates) -> Mask:
        candidates.append(left.n)
        return verify(self, left, right)

    monkeypatch.setattr(Around, "verify", counted)
    found = len(joined(Around("d", 5)).collect())
    assert 0 < found < sum(candidates) < 300 * 299 / 4
    # An exact code alone is not verified.
    monkeypatch.setattr(SameResidue, "verify", None)
    assert len(joined(SameResidue("i", 5)).collect()) == 300 * 299 / 5


def test_a_new_term_is_checked_when_the_join_is_built_and_part_of_its_identity() -> None:
    with pytest.raises(wr.WindrowError, match="around: column not found on the left: 'e'"):
        joined(Around("e", 5))
    identity = joined(Around("d", 5) & wr.equi("i")).query.identity()
    assert identity["on"] == [
        {"term": "Around", "column": "d", "reach": 5},
        {"term": "Equi", "left": "i", "right": "i"},
    ]
