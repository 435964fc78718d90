"""Rounds of decompose: where workers stay, tuples are neither sent nor converted again."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow.engine.in_process import WindowRunner
from windrow.engine.stages.nodes import Workers
from windrow.engine.windows.batch import WindowBatch
from windrow.engine.workers.rounds import RoundMapper
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages

TABLE = pa.table({"k": [i % 2 for i in range(60)], "t": range(60), "x": range(60)})

ABOVE = [2, 2, *[5] * 6]
"""Of each key, a window of 5 rows, whose middle is their mean, and three of 10."""


def deviations(pattern: Pattern) -> WindowRunner:
    """The rows of a window that are above its mean, in three rounds."""
    query = wr.stream(TABLE.slice(0, 0)).key_by("k").event_time("t").window(wr.TimeWindow(20, 10))
    query = query.decompose(
        partial=[
            lambda w: {"n": len(w)},
            lambda w, n: {"n": n, "total": int(w["x"].sum())},
            lambda w, mean: {"above": int((w["x"] > mean).sum())},
        ],
        combine=[
            lambda parts: sum(part["n"] for part in parts),
            lambda parts: sum(part["total"] for part in parts) / parts[0]["n"],
            lambda parts: {"above": sum(part["above"] for part in parts)},
        ],
        partial_returns=["n bigint", "n bigint, total bigint", "above bigint"],
        returns="above bigint",
    )
    complete = query.window_query()
    return WindowRunner(complete, window_stages(complete, pattern))


def above(runner: WindowRunner) -> list[int]:
    tables = runner.push(TABLE) + runner.advance(40)
    return sorted(value for table in tables for value in table["above"].to_pylist())


def test_parts_of_windows_are_the_same_objects_in_all_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    came: dict[int, dict[int, Any]] = defaultdict(dict)
    columns: dict[int, set[int]] = defaultdict(set)
    push = RoundMapper.push

    def pushed(self: RoundMapper, message: Any) -> None:
        if isinstance(message, WindowBatch):
            came[self.evaluator.number][id(message)] = message
            columns[id(message)].add(id(message.unpack()[0]))
        push(self, message)

    monkeypatch.setattr(RoundMapper, "push", pushed)
    assert above(deviations(wr.WinMapReduce(2, 2))) == ABOVE
    assert came[0].keys() == came[1].keys() == came[2].keys()
    assert {message.part for message in came[0].values()} == {0, 1}
    assert all(len(seen) == 1 for seen in columns.values())


def test_rounds_of_one_worker_each_are_one_chain() -> None:
    runner = deviations(wr.WinMapReduce(1, 1))
    nodes = [node for node in runner.nodes if isinstance(node, Workers)]
    names = ["Windower", "MAP 0", "REDUCE 0", "MAP 1", "REDUCE 1", "MAP 2", "REDUCE"]
    assert [node.name for node in nodes] == [" + ".join(names)]
    assert above(runner) == ABOVE
