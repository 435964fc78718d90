"""Which nodes run together at each transformation level, and that all levels do the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.engine.stages.executor import run_nodes
from windrow.engine.stages.nodes import Collector, Emitter, Node, Workers
from windrow.engine.stages.routes import Route
from windrow.engine.stages.traffic import Traffic
from windrow.engine.window_query import ID, WindowQuery
from windrow.patterns import Pattern
from windrow.patterns.levels import group

LEVELS: list[Literal[0, 1, 2]] = [0, 1, 2]


@dataclass(frozen=True)
class ById(Route):
    """Each window to the worker of its remainder; ``shift`` tells routes apart."""

    n: int
    shift: int = 0

    def targets(self, message: Any, instance: int) -> list[Any]:
        ids = [id + self.shift for id in message[ID].to_pylist()]
        return [message.filter(pa.array([id % self.n == j for id in ids])) for j in range(self.n)]

    def describe(self) -> str:
        return f"{self.n}"


def no_worker(index: int) -> Any:
    raise AssertionError("levels look at nodes, not at workers")


def workers(n: int, prepares: bool = False) -> Workers:
    """All of one name: what a node is called decides nothing."""
    return Workers("same", no_worker, n, prepares)


def two_stages(instances: int) -> list[Node]:
    """E W C E W C, as of a pane farm of 2 and 3 workers."""
    first: list[Node] = [Emitter(ById(2)), workers(2 * instances), Collector(2)]
    return [*first, Emitter(ById(3, 1)), workers(3 * instances), Collector(3)]


def shape(pattern: Pattern, nodes: list[Node]) -> str:
    """P stands for workers that only prepare."""
    letters = {Emitter: "E", Workers: "W", Collector: "C"}
    return " ".join(
        "".join("P" if getattr(n, "prepares", False) else letters[type(n)] for n in nodes)
        for nodes in group(pattern, nodes).groups
    )


@pytest.mark.parametrize(
    ("level", "expected"), [(0, "E W C E W C"), (1, "E W CE W C"), (2, "E WE W C")]
)
def test_two_stages(level: Literal[0, 1, 2], expected: str) -> None:
    assert shape(wr.PaneFarm(2, 3, level=level), two_stages(1)) == expected
    assert shape(wr.WinMapReduce(2, 3, level=level), two_stages(1)) == expected


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        (0, 0, "E E W C E W C C"),
        (1, 0, "E E W C E W C"),
        (2, 0, "EE W C E W C"),
        (0, 1, "E E W CE W C C"),
        (1, 1, "E E W CE W C"),
        (0, 2, "E E WE W C C"),
        (2, 2, "EE WE W C"),
    ],
)
def test_a_farm_merges_its_ends_and_leaves_the_middle_to_the_inner_pattern(
    outer: Literal[0, 1, 2], inner: Literal[0, 1, 2], expected: str
) -> None:
    nodes: list[Node] = [Emitter(ById(4)), *two_stages(4), Collector(4)]
    pane_farm = wr.PaneFarm(2, 3, level=inner)
    assert shape(wr.KeyFarm(4, pane_farm, level=outer), nodes) == expected
    assert shape(wr.WinFarm(4, pane_farm, level=outer), nodes) == expected


@pytest.mark.parametrize(("level", "expected"), [(0, "P E W C"), (1, "PE W C"), (2, "PE W C")])
def test_the_emitter_joins_workers_that_only_prepare(
    level: Literal[0, 1, 2], expected: str
) -> None:
    nodes: list[Node] = [workers(1, prepares=True), Emitter(ById(2)), workers(2), Collector(2)]
    assert shape(wr.WinFarm(2, level=level), nodes) == expected


def test_one_collector_orders_what_two_did() -> None:
    nodes: list[Node] = [Emitter(ById(4)), *two_stages(4), Collector(4)]
    stages = group(wr.KeyFarm(4, wr.PaneFarm(2, 3), level=1), nodes)
    assert stages.groups[-1] == (Collector(12),)


def query() -> WindowQuery:
    table = pa.table({"t": [1]})
    return (
        wr.stream(table).event_time("t").window(wr.TimeWindow(10)).agg(n=wf.count()).window_query()
    )


def test_results_do_not_depend_on_the_levels() -> None:
    """Workers here hand on what they get: where results come from and their order is all."""

    def run(nodes: list[Node]) -> list[int]:
        traffic: Traffic = {0: [pa.table({ID: [9, 4, 7]}), pa.table({ID: [3, 8, 0, 5]})]}
        found = run_nodes(nodes, traffic, query(), lambda number, traffic: traffic)
        assert list(found) == [0]
        return [id for table in found[0] for id in table[ID].to_pylist()]

    farm: list[Node] = [Emitter(ById(2, 1)), *two_stages(2), Collector(2)]
    for outer in LEVELS:
        for inner in LEVELS:
            alone = group(wr.PaneFarm(2, 3, level=inner), two_stages(1))
            assert run(alone.nodes) == [0, 3, 4, 5, 7, 8, 9]
            farmed = group(wr.KeyFarm(2, wr.PaneFarm(2, 3, level=inner), level=outer), farm)
            assert run(farmed.nodes) == [0, 3, 4, 5, 7, 8, 9]
