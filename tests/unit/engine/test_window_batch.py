from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.engine.columns.control import AXIS, RANK
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.windows.batch import WindowBatch, pack_batches
from windrow.engine.windows.fired import FiredWindows, TupleColumns

Windows = list[tuple[str | None, int, list[Any]]]
"""Key, id and values of each window."""


def packed(windows: list[tuple[int, int, int, int]], batch: int, values: list[Any]) -> Any:
    """Batches of windows (key, id, lo, hi) of one column, keys a, null, c."""
    columns = TupleColumns.of(
        pa.table(
            {"x": pa.array(values, pa.int64()), AXIS: pa.array(range(len(values)), pa.int64())}
        )
    )
    keys = KeyTable(("k",))
    keys.codes(pa.table({"k": ["a", None, "c"]}))
    fields = np.array(windows, np.int64).reshape(-1, 4).T
    fired = FiredWindows(fields[0], fields[1], fields[2] * 10, fields[3] * 10, *fields[2:])
    return list(pack_batches(columns, fired, keys, batch))


def seen(batch: WindowBatch) -> Windows:
    columns, windows = batch.unpack()
    keys = batch.key_table(("k",))
    fields = (windows.keys, windows.ids, windows.lo, windows.hi)
    return [
        (keys.value(k), id, columns.python("x", lo, hi))
        for k, id, lo, hi in zip(*(f.tolist() for f in fields), strict=True)
    ]


def test_consecutive_windows_are_packed_together() -> None:
    windows = [(0, 0, 0, 2), (0, 1, 1, 3), (0, 2, 2, 4), (1, 7, 4, 6)]
    batches = packed(windows, 2, [10, 11, None, 13, 14, 15])
    assert [seen(b) for b in batches] == [
        [("a", 0, [10, 11]), ("a", 1, [11, None])],
        [("a", 2, [None, 13]), (None, 7, [14, 15])],
    ]


def test_shared_tuples_are_packed_once_and_the_axis_stays_behind() -> None:
    (batch,) = packed([(0, 0, 1, 4), (0, 1, 2, 5)], 9, [0, 1, 2, 3, 4, 5])
    assert batch.tuples["x"].to_pylist() == [1, 2, 3, 4]
    assert batch.tuples[RANK].to_pylist() == [0, 1, 2, 3]
    assert AXIS not in batch.tuples.schema.names


def test_windows_are_put_in_order_of_key_and_id() -> None:
    batches = packed([(2, 1, 2, 3), (0, 5, 0, 1), (2, 0, 1, 3)], 9, [7, 8, 9])
    assert [seen(b) for b in batches] == [
        [("a", 5, [7]), ("c", 0, [8, 9]), ("c", 1, [9])],
    ]


def test_no_windows_no_batches() -> None:
    assert packed([], 2, [1, 2]) == []


def test_bounds_are_kept() -> None:
    (batch,) = packed([(0, 0, 1, 3)], 1, [0, 1, 2])
    _, windows = batch.unpack()
    assert (windows.start.tolist(), windows.end.tolist()) == ([10], [30])


def test_one_part_is_the_batch_itself() -> None:
    (batch,) = packed([(0, 0, 0, 2)], 1, [1, 2])
    assert list(batch.split(1)) == [batch]


@pytest.mark.parametrize("parts", [2, 3, 5])
def test_parts_deal_the_tuples_round_robin(parts: int) -> None:
    (batch,) = packed([(0, 0, 0, 4), (0, 1, 3, 7)], 9, [0, 1, 2, 3, 4, 5, 6])
    for part, own in enumerate(batch.split(parts)):
        assert own.part == part
        dealt = [x for x in range(7) if x % parts == part]
        assert own.tuples[RANK].to_pylist() == dealt
        expected = [[x for x in dealt if x < 4], [x for x in dealt if x >= 3]]
        assert [xs for _, _, xs in seen(own)] == [xs for xs in expected if xs]


@given(st.data(), st.integers(1, 4), st.integers(1, 5))
def test_parts_hold_every_tuple_of_every_window_once(
    data: st.DataObject, batch: int, parts: int
) -> None:
    values = list(range(data.draw(st.integers(1, 20))))
    edges = st.integers(0, len(values))
    bounds = data.draw(st.lists(st.tuples(edges, edges), min_size=1, max_size=6))
    ranges = sorted((min(b), max(b)) for b in bounds if b[0] != b[1])
    windows = [(0, i, lo, hi) for i, (lo, hi) in enumerate(ranges)]
    found: dict[int, list[int]] = {}
    for own in packed(windows, batch, values):
        for part in own.split(parts):
            for _, id, xs in seen(part):
                found.setdefault(id, []).extend(xs)
    assert {id: sorted(xs) for id, xs in found.items()} == {
        i: list(range(lo, hi)) for i, (lo, hi) in enumerate(ranges)
    }


def test_without_key_columns() -> None:
    columns = TupleColumns.of(pa.table({"x": [1, 2]}))
    keys = KeyTable(())
    keys.codes(pa.table({"x": [1, 2]}))
    zero, two = np.array([0]), np.array([2])
    (batch,) = pack_batches(columns, FiredWindows(zero, zero, zero, two, zero, two), keys, 1)
    unpacked, windows = batch.unpack()
    assert unpacked.python("x", 0, 2) == [1, 2]
    assert len(windows) == 1


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(1, 9)), min_size=1, max_size=5).map(sorted),
    st.integers(1, 4),
)
def test_contiguous_parts_one_after_the_other_are_the_windows(
    ranges: list[tuple[int, int]], parts: int
) -> None:
    """De Matteis 2016, section 3.4: a distribution that preserves the contiguity of data."""
    windows = [(0, i, lo, lo + n) for i, (lo, n) in enumerate(ranges)]
    (batch,) = packed(windows, 9, list(range(100, 130)))
    pieces = list(batch.cut(parts))
    assert [piece.part for piece in pieces] == list(range(parts))
    joined: dict[int, list[Any]] = {}
    for piece in pieces:
        for _, id, values in seen(piece):
            joined.setdefault(id, []).extend(values)
    assert joined == {i: list(range(100 + lo, 100 + lo + n)) for i, (lo, n) in enumerate(ranges)}
    for i, (_, n) in enumerate(ranges):
        lengths = [len(v) for piece in pieces for _, id, v in seen(piece) if id == i]
        assert max(lengths) <= -(-n // parts)


def test_a_contiguous_part_has_only_the_tuples_it_needs() -> None:
    (batch,) = packed([(0, 0, 0, 4), (0, 1, 2, 6)], 9, [0, 1, 2, 3, 4, 5])
    first, second = batch.cut(2)
    assert first.tuples["x"].to_pylist() == [0, 1, 2, 3]
    assert second.tuples["x"].to_pylist() == [2, 3, 4, 5]
    (alone,) = packed([(0, 0, 0, 4)], 9, [0, 1, 2, 3])
    assert [part.tuples["x"].to_pylist() for part in alone.cut(2)] == [[0, 1], [2, 3]]
