"""A cell by itself: what it keeps, what it gives when, and what it stores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow.engine.joins.cell import Cell
from windrow.engine.joins.intake import join_tuples
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.seat import Seat

SCHEMA = pa.schema([("t", pa.int64()), ("a", pa.int64())])


def query_of(**more: Any) -> JoinQuery:
    table = SCHEMA.empty_table()
    how: dict[str, Any] = {"within": ("10 us", "5 us"), "on": wr.band(a=1), "time": "t", **more}
    return wr.join(table, table, **how).query


def batch(query: JoinQuery, side: int, times: list[int], arrived: int = 0) -> pa.Table:
    table = pa.table({"t": times, "a": [0] * len(times)}, schema=SCHEMA)
    return join_tuples(query, side, table, arrived)[0]


def times_of(given: list[pa.Table]) -> list[tuple[Any, Any]]:
    rows = [row for table in given for row in table.to_pylist()]
    return sorted((row.get("left_t"), row.get("right_t")) for row in rows)


def test_pairs_come_as_soon_as_both_tuples_are_there() -> None:
    query = query_of()
    cell = Cell(query, Seat())
    cell.push(batch(query, 0, [0, 3]))
    assert cell.advance(-100) == []
    cell.push(batch(query, 1, [2]))
    assert times_of(cell.advance(-100)) == [(0, 2), (3, 2)]
    cell.push(batch(query, 0, [2], 2))
    assert times_of(cell.advance(-100)) == [(2, 2)]


def test_late_tuples_are_dropped_and_counted_by_the_cell_that_speaks() -> None:
    query = query_of()
    speaking, silent = Cell(query, Seat()), Cell(query, Seat((True, True), (False, True)))
    for cell in (speaking, silent):
        cell.advance(5)
        cell.push(batch(query, 0, [4, 5]))
        cell.push(batch(query, 1, [5]))
        assert times_of(cell.advance(5)) == [(5, 5)]
    assert (speaking.dropped, silent.dropped) == (1, 0)


def test_a_run_goes_when_no_tuple_to_come_can_see_it() -> None:
    query = query_of()
    cell = Cell(query, Seat())
    cell.push(batch(query, 0, [0]))
    cell.push(batch(query, 1, [0]))
    cell.advance(5)
    assert [len(window.runs) for window in cell.windows] == [1, 1]
    cell.advance(6)
    assert [len(window.runs) for window in cell.windows] == [1, 0]
    cell.advance(11)
    assert [len(window.runs) for window in cell.windows] == [0, 0]


def test_a_tuple_without_a_match_comes_when_its_window_is_over() -> None:
    query = query_of(how="full_outer")
    cell = Cell(query, Seat())
    cell.push(batch(query, 0, [0, 1]))
    cell.push(batch(query, 1, [-20]))
    assert cell.advance(-20) == []
    assert times_of(cell.advance(0)) == [(None, -20)]
    assert times_of(cell.advance(11)) == [(0, None)]
    assert times_of(cell.advance(12)) == [(1, None)]
    assert cell.advance(100) == []


def test_small_batches_are_merged_to_few_runs() -> None:
    query = query_of(within="400 us")
    cell = Cell(query, Seat())
    most, stored = 0, 0
    known: set[str] = set()
    for t in range(1200):
        cell.push(batch(query, 0, [t], t))
        cell.advance(t)
        most = max(most, len(cell.windows[0].runs))
        chunks = cell.state().chunks
        stored += sum(len(chunk()) for name, chunk in chunks.items() if name not in known)
        known = set(chunks)
    assert most <= 2 * 8 + 10
    assert sum(len(run) for run in cell.windows[0]) <= 400 + 400 // 8 + 1
    # Each tuple is stored once when it comes and once with each merge.
    assert stored <= 1200 * 9


def test_a_long_batch_is_matched_slice_by_slice() -> None:
    query = query_of(within="100 us")
    cell = Cell(query, Seat())
    for side in (0, 1):
        cell.push(batch(query, side, list(range(50_000))))
    given = cell.advance(40_000)
    assert sum(map(len, given)) == 50_000 + 2 * sum(50_000 - d for d in range(1, 101))
    assert sum(len(run) for run in cell.windows[0]) < 30_000


def test_marks_are_stored_as_what_is_new_and_go_with_their_runs() -> None:
    query = query_of(how="left_outer", within="1 ms")
    cell = Cell(query, Seat())
    cell.push(batch(query, 0, [0, 1, 2]))
    cell.advance(0)
    assert list(cell.state().chunks) == ["left 0"]
    cell.push(batch(query, 1, [1]))
    cell.advance(0)
    state = cell.state()
    assert list(state.chunks) == ["marks 2", "left 0", "right 1"]
    assert state.chunks["marks 2"]().to_pydict() == {"run": [0, 0, 0], "position": [0, 1, 2]}
    assert list(cell.state().chunks) == list(state.chunks)
    cell.advance(5000)
    assert cell.state().chunks == {}


def test_columns_may_change_their_order_between_restarts() -> None:
    swapped = pa.schema(list(SCHEMA)[::-1]).empty_table()
    for how in ("inner", "full_outer", "semi"):
        query = query_of(how=how)
        cell = Cell(query, Seat())
        cell.push(batch(query, 0, [0, 3]))
        cell.advance(-100)
        more: dict[str, Any] = {"on": wr.band(a=1), "time": "t", "how": how}
        other = wr.join(swapped, swapped, within=("10 us", "5 us"), **more).query
        assert other.identity() == query.identity()
        restored = Cell(other, Seat())
        restored.restore(cell.state())
        restored.push(batch(other, 1, [2]))
        restored.push(batch(other, 0, [4], 2))
        given = [*restored.advance(-100), *restored.advance(100)]
        assert given
        for table in given:
            table.cast(other.output_schema())


def test_null_attributes_and_nan_match_nothing() -> None:
    left = {"t": np.arange(4), "a": pa.array([1.0, None, float("nan"), 2.0])}
    made = wr.join(left, left, within="1 s", on=wr.band(a=5), time="t", how="left_outer").collect()
    found = sorted((row["left_t"], row["right_t"] is None) for row in made.to_pylist())
    assert found == [(0, False), (0, False), (1, True), (2, True), (3, False), (3, False)]
