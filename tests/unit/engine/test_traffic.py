"""What emitters, workers and collectors do with messages on their way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.engine.columns.control import PIECE
from windrow.engine.stages.executor import run_nodes
from windrow.engine.stages.nodes import Collector, Emitter, Node, Workers
from windrow.engine.stages.routes import Route
from windrow.engine.stages.traffic import Traffic, collect_traffic, emit_traffic, in_order
from windrow.engine.window_query import ID, WindowQuery


@dataclass(frozen=True)
class ByValue(Route):
    """Each number to the worker of its remainder, told which instance sent it."""

    n: int

    def targets(self, message: Any, instance: int) -> list[Any]:
        if isinstance(message, pa.Table):
            return [
                message.filter(pa.array([v % self.n == j for v in message["v"].to_pylist()]))
                for j in range(self.n)
            ]
        return [(instance, message) if message % self.n == j else None for j in range(self.n)]

    def describe(self) -> str:
        return f"v mod {self.n}"


def keyed_query() -> WindowQuery:
    table = pa.table({"k": ["a"], "t": [1]})
    query = wr.stream(table).key_by("k").event_time("t").window(wr.TimeWindow(10))
    return query.agg(n=wf.count()).window_query()


def results(keys: list[Any], ids: list[int], name: str = ID) -> pa.Table:
    return pa.table({"k": pa.array(keys), name: pa.array(ids, pa.int64())})


def test_emitter_numbers_the_workers_of_each_instance_one_after_the_other() -> None:
    sent = emit_traffic(Emitter(ByValue(2)), {0: [4, 5], 2: [6, 7, 8]})
    assert sent == {0: [(0, 4)], 1: [(0, 5)], 4: [(2, 6), (2, 8)], 5: [(2, 7)]}


def test_emitter_without_a_collector_before_it_hears_all_workers_of_its_instance() -> None:
    sent = emit_traffic(Emitter(ByValue(2), fan_in=3), {0: [2], 2: [4], 3: [6], 5: [9]})
    assert sent == {0: [(0, 2), (0, 4)], 2: [(1, 6)], 3: [(1, 9)]}


def test_emitter_sends_no_empty_tables() -> None:
    sent = emit_traffic(Emitter(ByValue(3)), {0: [pa.table({"v": [1, 4]})]})
    assert {i: [m["v"].to_pylist() for m in messages] for i, messages in sent.items()} == {
        1: [[1, 4]]
    }


def test_collector_joins_the_workers_of_a_group_in_order_of_key_and_window() -> None:
    traffic: Traffic = {
        0: [results(["b", "a"], [1, 2])],
        1: [results(["a", None], [1, 7])],
        2: [results(["a"], [0])],
    }
    collected = collect_traffic(keyed_query(), Collector(2), traffic)
    rows = {i: [list(r.values()) for m in ms for r in m.to_pylist()] for i, ms in collected.items()}
    assert rows == {0: [[None, 7], ["a", 1], ["a", 2], ["b", 1]], 1: [["a", 0]]}


def test_collector_hands_on_what_is_no_table_behind_the_tables() -> None:
    batch = object()
    collected = collect_traffic(keyed_query(), Collector(1), {3: [batch, results(["a"], [0])]})
    table, last = collected[3]
    assert (len(table), last) == (1, batch)
    assert collect_traffic(keyed_query(), Collector(1), {0: [batch]}) == {0: [batch]}


def test_keys_are_ordered_as_in_spark() -> None:
    keys = [2.5, float("nan"), None, -1.0]
    ordered = in_order(keyed_query(), [results(keys, [0, 0, 0, 0])])["k"].to_pylist()
    assert ordered[:3] == [None, -1.0, 2.5]
    assert ordered[3] != ordered[3]


def test_partials_are_ordered_by_their_piece() -> None:
    tables = [results(["a", "a"], [3, 1], PIECE), results(["a"], [2], PIECE)]
    assert in_order(keyed_query(), tables)[PIECE].to_pylist() == [1, 2, 3]


def test_nodes_run_one_after_the_other() -> None:
    def make(index: int) -> Any:
        raise AssertionError("workers are run where they live")

    def work(number: int, traffic: Traffic) -> Traffic:
        seen.append(number)
        return {i: [results(["a"], [v]) for _, v in messages] for i, messages in traffic.items()}

    seen: list[int] = []
    nodes: list[Node] = [Emitter(ByValue(2)), Workers("W", make, 2), Collector(2)]
    (table,) = run_nodes(nodes, {0: [5, 3, 4]}, keyed_query(), work)[0]
    assert table[ID].to_pylist() == [3, 4, 5]
    assert seen == [1]


def test_an_emitter_needs_neither_a_query_nor_workers() -> None:
    assert run_nodes([Emitter(ByValue(1))], {0: [5]}) == {0: [(0, 5)]}
    with pytest.raises(AssertionError, match="only window queries have collectors"):
        run_nodes([Collector(1)], {0: [5]})
