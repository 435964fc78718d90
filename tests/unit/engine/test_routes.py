from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.streams import count_windows, landmark_windows, time_windows
from windrow.engine.columns.control import ARRIVAL, PIECE, TIME
from windrow.engine.columns.key_table import KeyTable, hash_keys
from windrow.engine.stages.routes import (
    ByKey,
    ByPane,
    ByPart,
    ByPiece,
    ByWindow,
    Dealt,
    InTurn,
    Route,
)
from windrow.engine.windows.batch import pack_batches
from windrow.engine.windows.farm_panes import FarmPanes
from windrow.engine.windows.fired import FiredWindows, TupleColumns

Interval = wr.CountWindow | wr.TimeWindow | wr.LandmarkWindow
keys = st.lists(st.none() | st.sampled_from("pqrs"), min_size=1, max_size=20)


def rows(names: list[str | None], positions: list[int], column: str = TIME) -> pa.Table:
    n = len(names)
    columns: dict[str, Any] = {
        "k": pa.array(names, pa.string()),
        column: pa.array(positions, pa.int64()),
        ARRIVAL: pa.array(range(n), pa.int64()),
    }
    return pa.table(columns)


def sent(route: Route, table: pa.Table, instance: int = 0) -> list[list[int]]:
    """Which rows each worker gets, by their arrival."""
    given = route.targets(table, instance)
    assert len(given) == route.n
    return [[] if part is None else part[ARRIVAL].to_pylist() for part in given]


def is_partition(parts: list[list[int]], n: int) -> bool:
    return sorted(i for part in parts for i in part) == list(range(n))


def hash_of(name: str | None) -> int:
    return int(hash_keys([pa.chunked_array([pa.array([name], pa.string())])], 1)[0])


@given(keys, st.integers(1, 5))
def test_each_key_goes_to_one_worker(names: list[str | None], n: int) -> None:
    parts = sent(ByKey(("k",), n), rows(names, [0] * len(names)))
    assert is_partition(parts, len(names))
    for name in set(names):
        assert sum(any(names[i] == name for i in part) for part in parts) == 1
    for part in parts:
        assert part == sorted(part)


def test_without_keys_all_go_to_one_worker() -> None:
    assert sent(ByKey((), 3), rows(["p", "q"], [0, 0])) == [[0, 1], [], []]


@given(
    time_windows | landmark_windows | count_windows,
    st.lists(st.tuples(st.sampled_from(["p", "q", None]), st.integers(0, 40)), max_size=20),
    st.integers(1, 4),
    st.integers(1, 3),
)
def test_a_tuple_goes_to_exactly_the_workers_with_a_window_of_it(
    model: Interval, tuples: list[tuple[str | None, int]], n: int, batch: int
) -> None:
    """Equation 1: window i of key k is worker (hash(k) + i // batch) mod n's."""
    shift = 0 if isinstance(model, wr.CountWindow) else -20
    names, positions = [k for k, _ in tuples], [t + shift for _, t in tuples]
    parts = sent(ByWindow(model, TIME, ("k",), n, batch), rows(names, positions))
    for i, (name, position) in enumerate(zip(names, positions, strict=True)):
        ids = window_ids(model, position)
        owners = {(hash_of(name) + id // batch) % n for id in ids}
        assert {j for j, part in enumerate(parts) if i in part} == owners


def window_ids(model: Interval, position: int) -> list[int]:
    """The windows of a tuple, by the definition, one by one."""
    if isinstance(model, wr.LandmarkWindow):
        found = []
        for id in range(-200, 200):
            end = model.origin + id * model.slide
            start = model.origin + (id * model.slide - 1) // model.every * model.every
            found += [id] if start <= position < end else []
        return found
    origin = model.origin if isinstance(model, wr.TimeWindow) else 0
    least = 0 if isinstance(model, wr.CountWindow) else -200
    starts = ((id, origin + id * model.slide) for id in range(least, 200))
    return [id for id, start in starts if start <= position < start + model.length]


@given(
    time_windows,
    st.lists(st.tuples(st.sampled_from("pq"), st.integers(-20, 20)), max_size=12),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 2),
)
def test_workers_inside_a_window_farm_count_as_one_farm(
    model: wr.TimeWindow, tuples: list[tuple[str, int]], n: int, outer: int, batch: int
) -> None:
    names: list[str | None] = [k for k, _ in tuples]
    positions = [t for _, t in tuples]
    table = rows(names, positions)
    whole = sent(ByWindow(model, TIME, ("k",), n * outer, batch), table)
    for instance in range(outer):
        own = sent(ByWindow(model, TIME, ("k",), n, batch, outer), table, instance)
        assert own == [whole[j * outer + instance] for j in range(n)]


@given(keys, st.integers(1, 4))
def test_tuples_are_dealt_by_arrival(names: list[str | None], n: int) -> None:
    parts = sent(Dealt(n), rows(names, [0] * len(names)))
    assert parts == [list(range(len(names)))[j::n] for j in range(n)]


@given(keys, st.data(), st.integers(1, 4), st.integers(1, 3))
def test_all_parts_of_a_window_go_to_one_worker(
    names: list[str | None], data: st.DataObject, n: int, outer: int
) -> None:
    ids = data.draw(st.lists(st.integers(-3, 3), min_size=len(names), max_size=len(names)))
    parts = sent(ByPiece(("k",), n, outer), rows(names, ids, PIECE))
    assert is_partition(parts, len(names))
    workers: dict[Any, set[int]] = {}
    for j, part in enumerate(parts):
        for i in part:
            workers.setdefault((names[i], ids[i]), set()).add(j)
    assert all(len(found) == 1 for found in workers.values())


def test_consecutive_windows_go_to_workers_in_turn() -> None:
    parts = sent(ByPiece(("k",), 3), rows(["p"] * 6, list(range(6)), PIECE))
    assert sorted(map(tuple, parts)) == [(0, 3), (1, 4), (2, 5)]


@given(st.sampled_from("pqrs"), st.integers(1, 6), st.sampled_from([1, 2, 3, 4]))
def test_panes_rotate_so_that_those_at_regular_distances_do_not_meet(
    name: str, n: int, every: int
) -> None:
    panes = FarmPanes.of(wr.TimeWindow(10), 1, 1)
    route = ByPane(panes, TIME, ("k",), n, rotates=True)
    numbers = list(range(-n * n, n * n))
    parts = sent(route, rows([name] * len(numbers), [10 * i for i in numbers]))
    assert is_partition(parts, 2 * n * n)
    rounds = [{i // n for i in part} for part in parts]
    assert all(len(each) == 2 * n for each in rounds), "each round of panes has one for each worker"
    if n % every == 0:
        dear = [sum(numbers[i] % every == 0 for i in part) for part in parts]
        assert dear == [2 * n // every] * n


def batches(n_windows: int, parts: int) -> list[Any]:
    columns = TupleColumns.of(pa.table({"x": list(range(n_windows))}))
    ids = np.arange(n_windows)
    windows = FiredWindows(ids * 0, ids, ids, ids + 1, ids, ids + 1)
    table = KeyTable(("k",))
    table.codes(pa.table({"k": ["p"]}))
    packed = pack_batches(columns, windows, table, 1)
    return [part for batch in packed for part in batch.split(parts)]


def test_batches_of_windows_go_to_executors_in_turn_with_all_their_parts() -> None:
    route = InTurn(2)
    taken = [route.targets(message, 0).index(message) for message in batches(3, parts=2)]
    first = taken[0]
    assert taken == [first, first, 1 - first, 1 - first, first, first]


def test_each_part_goes_to_the_executor_of_its_number() -> None:
    route = ByPart(2)
    taken = [route.targets(message, 0).index(message) for message in batches(2, parts=2)]
    assert taken == [0, 1, 0, 1]


def test_routes_describe_themselves() -> None:
    windows = wr.TimeWindow(10, 5)
    panes, wide = FarmPanes.of(windows, 1, 1), FarmPanes.of(windows, 2, 1)
    described = {
        ByKey(("a", "b"), 3): "hash(a, b) mod 3",
        ByKey((), 2): "hash(no key) mod 2",
        ByPane(panes, TIME, ("k",), 2): "pane i of key k to (hash(k) + i) mod 2",
        ByPane(panes, TIME, ("k",), 2, rotates=True): (
            "pane i of key k to (hash(k) + i + i // 2) mod 2"
        ),
        ByPane(wide, TIME, ("k",), 2): (
            "pane i of key k to (hash(k) + i) mod 2, panes of gcd(length, 2*slide)"
        ),
        ByWindow(windows, TIME, ("k",), 4, 2): "window i of key k to (hash(k) + i // 2) mod 4",
        Dealt(3): "tuples round-robin mod 3",
        ByPiece(("k",), 2): "parts of window i of key k to (hash(k) + i) mod 2",
        ByPart(2): "tuples of windows round-robin mod 2",
    }
    assert {route: route.describe() for route in described} == described
    assert InTurn(2).describe() == "batches of windows to 2 in turn"


@pytest.mark.parametrize("n", [2, 5])
def test_rows_of_any_type_and_chunks_stay_whole_and_in_order(n: int) -> None:
    values = {
        "d": pa.chunked_array(
            [pa.array(["a", None]).dictionary_encode(), pa.array(["b", "a"]).dictionary_encode()]
        ),
        "l": pa.chunked_array([[[1], None], [[], [2, 3]]], pa.list_(pa.int64())),
        "s": pa.chunked_array([["x", "y"], [None, ""]]),
    }
    for names in (["s"], ["d", "l"], list(values)):
        table = pa.table({"k": [3, 1, 2, 1], **{name: values[name] for name in names}})
        parts = ByKey(("k",), n).targets(table, 0)
        assert len(parts) == n
        for part in parts:
            own = set(part["k"].to_pylist())
            assert part.to_pylist() == [row for row in table.to_pylist() if row["k"] in own]
        assert sum(map(len, parts)) == 4
