"""Every pair meets in exactly one cell."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow.engine.columns.control import ARRIVAL
from windrow.engine.joins.grid import Grid, ToCells
from windrow.engine.joins.intake import join_tuples
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import HOME, placed
from windrow.engine.joins.terms.band import Band


def tables(n: int = 200) -> tuple[pa.Table, pa.Table]:
    rng = np.random.default_rng(n)
    values = [rng.normal(0, 50, n) for _ in (0, 1)]
    values[1][::9], values[1][5], values[0][7] = np.nan, np.inf, -np.inf
    made = [pa.table({"k": rng.integers(0, 9, n), "a": v}) for v in values]
    return made[0], made[1]


def spread(query: JoinQuery, grid: Grid) -> list[list[Any]]:
    """What each cell is sent, of the left and of the right."""
    sent = []
    for side, table in enumerate(tables()):
        message, _ = join_tuples(query, side, table, 0)
        sent.append(ToCells(query, grid).targets(message, 0))
    return sent


def query_of(on: wr.Predicate) -> JoinQuery:
    left, right = tables()
    return wr.join(left, right, within=10, on=on).query


def meetings(sent: list[list[Any]]) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()
    for left, right in zip(*sent, strict=True):
        rights = right[ARRIVAL].to_pylist()
        found.update((x, y) for x in left[ARRIVAL].to_pylist() for y in rights)
    return found


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (1, 4), (3, 1)])
def test_on_a_grid_all_pairs_meet_once(shape: tuple[int, int]) -> None:
    met = meetings(spread(query_of(wr.equi("k")), Grid(*shape)))
    assert set(met.values()) == {1}
    assert len(met) == 200 * 200


def test_a_left_tuple_is_copied_to_the_columns_a_right_one_to_the_rows() -> None:
    left, right = spread(query_of(wr.equi("k")), Grid(2, 3))
    assert sum(map(len, left)) == 3 * 200
    assert sum(map(len, right)) == 2 * 200
    assert {len(part) for part in left} == {100}


@pytest.mark.parametrize("shape", [(1, 1), (2, 2)])
def test_partitions_by_equality_let_equal_tuples_meet_once(shape: tuple[int, int]) -> None:
    met = meetings(spread(query_of(wr.equi("k")), Grid(*shape, partitions=3, by=(0,))))
    assert set(met.values()) == {1}
    left, right = (table["k"].to_numpy() for table in tables())
    assert set(met) >= {(x, y) for x in range(200) for y in range(200) if left[x] == right[y]}
    assert len(met) < 200 * 200


@pytest.mark.parametrize("extent", [1, 7.5, (2, 9), (-1, 3), 1e9])
def test_partitions_by_bucket_let_near_tuples_meet_once(extent: Any) -> None:
    query = query_of(wr.band(a=extent))
    sent = spread(query, Grid(partitions=4, by=(0,), has_copies=True))
    met = meetings(sent)
    assert set(met.values()) == {1}
    (band,) = query.on.terms
    assert isinstance(band, Band)
    left, right = (table["a"].to_pylist() for table in tables())
    near = {
        (x, y)
        for x in range(200)
        for y in range(200)
        if -band.below <= right[y] - left[x] <= band.above
    }
    assert set(met) >= near
    # One copy speaks for each tuple, and few have two, unless all are about the border of two.
    homes = [arrival for part in sent[1] for arrival in _homes(part)]
    assert sorted(homes) == list(range(200))
    assert sum(map(len, sent[1])) < (300 if extent != 1e9 else 401)


def _homes(part: pa.Table) -> list[int]:
    numbers: list[int] = part.filter(part[HOME])[ARRIVAL].to_pylist()
    return numbers


def test_progress_goes_to_all_cells() -> None:
    sent = ToCells(query_of(wr.equi("k")), Grid(2, 2)).targets(placed((3, 4)), 0)
    assert len(sent) == 4
    assert all(len(message) == 1 for message in sent)


def test_the_cell_that_speaks_is_in_the_first_column_or_row() -> None:
    seats = [Grid(2, 2).seat(index) for index in range(4)]
    assert [seat.speaks for seat in seats] == [
        (True, True), (False, True), (True, False), (False, False),
    ]  # fmt: skip
    assert Grid(1, 2).seat(0).is_shared == (True, False)
    assert Grid(partitions=2, by=(0,), has_copies=True).seat(0).is_shared == (False, True)


def test_infinity_is_in_no_band_and_goes_to_one_partition() -> None:
    left = {"t": np.array([0, 1]), "a": np.array([1.0, np.inf])}
    right = {"t": np.array([0, 1, 2]), "a": np.array([np.inf, -np.inf, 1.5])}
    joined = wr.join(left, right, within="1 s", on=wr.band(a=1.0), time="t", partitions=4)
    assert joined.collect().select(["left_a", "right_a"]).to_pylist() == [
        {"left_a": 1.0, "right_a": 1.5}
    ]
