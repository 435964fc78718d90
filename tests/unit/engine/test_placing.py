from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.columns.arrays import sort_keys
from windrow.engine.columns.control import ARRIVAL, TIME
from windrow.engine.windows.placing import Placing


def tuples(*times: int) -> pa.Table:
    return pa.table({TIME: pa.array(times, pa.int64()), "x": pa.array(times, pa.int64())})


def times_of(table: pa.Table | None) -> list[int]:
    return [] if table is None else table[TIME].to_pylist()


def test_tuples_wait_for_the_watermark_to_pass_them() -> None:
    placing = Placing(True, [])
    placing.add(tuples(5, 3, 9))
    assert times_of(placing.advance(3).tuples) == []
    assert times_of(placing.advance(6).tuples) == [5, 3]
    assert times_of(placing.advance(9).tuples) == []
    assert times_of(placing.advance(END_OF_STREAM).tuples) == [9]


def test_ties_of_two_batches_stand_in_one_part_where_more_than_arrival_orders_them() -> None:
    for order_by, parts in (([], [[3, 5], [5, 7]]), (["x"], [[3, 5, 5, 7]])):
        placing = Placing(True, order_by)
        placing.add(tuples(3, 5))
        placing.add(tuples(5, 7))
        assert [times_of(part) for part in placing.advance(9).parts] == parts


def test_tuples_behind_the_watermark_are_late() -> None:
    placing = Placing(True, [])
    placing.advance(10)
    placing.add(tuples(9, 10, 12, 3))
    placed = placing.advance(11)
    assert times_of(placed.late) == [9, 3]
    assert times_of(placed.tuples) == [10]
    assert placed.previous == 10


def test_nothing_is_late_before_the_first_watermark() -> None:
    placing = Placing(True, [])
    placing.add(tuples(-(10**15), 0))
    placed = placing.advance(1)
    assert placed.previous == BEGINNING
    assert times_of(placed.late) == []
    assert times_of(placed.tuples) == [-(10**15), 0]


def test_the_watermark_never_goes_back() -> None:
    placing = Placing(True, [])
    placing.advance(10)
    placing.advance(5)
    placing.add(tuples(7))
    assert times_of(placing.advance(5).late) == [7]


def test_without_event_time_every_tuple_takes_its_place_at_once() -> None:
    placing = Placing(False, [])
    placing.add(tuples(5, 3))
    placed = placing.advance(BEGINNING)
    assert times_of(placed.tuples) == [5, 3]
    assert times_of(placed.late) == []


def test_empty_batches_and_no_batches() -> None:
    placing = Placing(True, [])
    placing.add(tuples())
    placed = placing.advance(5)
    assert times_of(placed.tuples) == times_of(placed.late) == []


def test_order_is_key_time_order_by_arrival() -> None:
    table = pa.table(
        {
            TIME: pa.array([2, 1, 1, 1, 1], pa.int64()),
            "seq": pa.array([0, 5, 3, 5, None], pa.int64()),
        }
    )
    codes = np.array([0, 0, 0, 0, 1])
    assert Placing(True, ["seq"]).order(table, codes).tolist() == [2, 1, 3, 0, 4]
    assert Placing(True, []).order(table, codes).tolist() == [1, 2, 3, 0, 4]
    assert Placing(False, []).order(table, np.array([1, 0, 1, 0, 0])).tolist() == [1, 3, 4, 0, 2]
    assert Placing(False, ["seq"]).order(table, codes).tolist() == [0, 2, 1, 3, 4]


@given(st.lists(st.tuples(st.lists(st.integers(-9, 9), max_size=5), st.integers(-10, 10))))
def test_every_tuple_is_placed_or_late_exactly_once_in_order_of_arrival(
    steps: list[tuple[list[int], int]],
) -> None:
    placing, watermark, arrived = Placing(True, []), BEGINNING, 0
    placed: list[int] = []
    late: list[int] = []
    expected_late: list[int] = []
    waiting: list[tuple[int, int]] = []
    for times, moved in [*steps, ([], END_OF_STREAM)]:
        arrivals = range(arrived, arrived + len(times))
        arrived += len(times)
        columns: dict[str, Any] = {TIME: pa.array(times, pa.int64()), "x": pa.array(arrivals)}
        placing.add(pa.table(columns))
        both = list(zip(times, arrivals, strict=True))
        expected_late += [a for t, a in both if t < watermark]
        waiting += [(t, a) for t, a in both if t >= watermark]
        watermark = max(watermark, moved)
        step = placing.advance(moved)
        late += [] if step.late is None else step.late["x"].to_pylist()
        now = [] if step.tuples is None else step.tuples["x"].to_pylist()
        passed = [a for t, a in waiting if t < watermark]
        waiting = [(t, a) for t, a in waiting if t >= watermark]
        assert now == passed
        placed += now
    assert late == expected_late
    assert sorted(placed + late) == list(range(arrived))


ORDERED = {
    "n": (pa.int32(), st.none() | st.integers(0, 2)),
    "f": (pa.float64(), st.none() | st.sampled_from([0.0, -0.0, 1.5, math.nan])),
    "s": (pa.string(), st.none() | st.sampled_from(["", "a", "b"])),
    "d": (pa.decimal128(5, 1), st.sampled_from([Decimal("-0.5"), Decimal("2.0")])),
    "day": (pa.date32(), st.none() | st.dates(date(2020, 1, 1), date(2020, 1, 3))),
    "ts": (pa.timestamp("ns", "UTC"), st.integers(0, 2)),
    "b": (pa.bool_(), st.none() | st.booleans()),
}


@given(st.data(), st.booleans(), st.booleans(), st.integers(1, 3))
def test_rows_in_order_are_known_without_sorting(
    data: st.DataObject, is_timed: bool, is_numbered: bool, chunk: int
) -> None:
    names = data.draw(st.lists(st.sampled_from([*ORDERED]), max_size=2, unique=True))
    n = data.draw(st.integers(0, 4))
    columns = {
        name: pa.array(data.draw(st.lists(values, min_size=n, max_size=n)), kind)
        for name, (kind, values) in ORDERED.items()
        if name in names
    }
    if is_timed:
        times = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
        columns[TIME] = pa.array(times, pa.int64())
    if is_numbered:
        columns[ARRIVAL] = pa.array(data.draw(st.permutations(range(n))), pa.int64())
    table = pa.table({"k": pa.array(range(n), pa.int64()), **columns})
    table = pa.Table.from_batches(table.to_batches(chunk), table.schema)
    placing = Placing(is_timed, names)
    keys = [table[TIME].to_numpy()] if is_timed else []
    keys += [key for name in names for key in sort_keys(table[name])]
    keys += [table[ARRIVAL].to_numpy()] if is_numbered else []
    order = np.lexsort(keys[::-1]).tolist() if keys and n else list(range(n))
    assert placing.is_in_order(table) == (order == list(range(n)))
