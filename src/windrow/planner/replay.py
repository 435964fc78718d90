"""Replays a query on any number of slots: each worker is timed by itself, Spark is modelled.

The stages of a plan run in this process, one worker after the other, on real rows. A discrete-event
simulation then hands these tasks to slots in their order, as Spark's scheduler does, one stage
after the other. What happens between the tasks is added by the constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from itertools import pairwise
from time import process_time
from typing import Any

import pyarrow as pa

from windrow.core.watermark import END_OF_STREAM
from windrow.engine.intake import window_tuples
from windrow.engine.stages.executor import run_nodes
from windrow.engine.stages.nodes import Node, Workers
from windrow.engine.stages.traffic import Traffic
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages
from windrow.planner.constants import Constants


@dataclass(frozen=True)
class Task:
    """A worker in a stage."""

    seconds: float
    """The CPU time that it took by itself."""
    received: int = 0
    """The rows or partials that were sent to it."""
    results: int = 0
    """The rows of results that it gave."""


Tasks = tuple[Task, ...]


def measured_stages(
    query: WindowQuery, pattern: Pattern, reads: Iterable[Callable[[], pa.Table]]
) -> list[Tasks]:
    """The tasks of each stage; the first ones read the rows."""
    nodes = window_stages(query, pattern, "tasks").nodes
    starts = [i for i, node in enumerate(nodes) if isinstance(node, Workers)]
    head, bounds = nodes[: starts[0]], [*starts, len(nodes)]
    traffic: Traffic = {}
    taken, arrived = [], 0
    for read in reads:
        began = process_time()
        rows = read()
        tuples, _ = window_tuples(query, rows, arrived)
        _add(traffic, run_nodes(head, {0: [tuples]} if len(tuples) else {}))
        taken.append(Task(process_time() - began))
        arrived += len(rows)
    stages = [tuple(taken)]
    for first, last in pairwise(bounds):
        following, is_last = nodes[first + 1 : last], last == len(nodes)
        node = nodes[first]
        assert isinstance(node, Workers)
        tasks, traffic = _worked(query, node, following, traffic, is_last=is_last)
        stages.append(tasks)
    return stages


def _worked(
    query: WindowQuery, node: Workers, following: Sequence[Node], traffic: Traffic, *, is_last: bool
) -> tuple[Tasks, Traffic]:
    """The workers of a node, one after the other, and what they send."""
    sent: Traffic = {}
    tasks = []
    for index in range(node.n):
        messages = traffic.pop(index, [])
        began = process_time()
        worker = node.make(index)
        for message in messages:
            worker.push(message)
        given = run_nodes(following, {index: worker.advance(END_OF_STREAM)}, query)
        seconds = process_time() - began
        results = _rows_in(given) if is_last else 0
        tasks.append(Task(seconds, _rows_in({0: messages}), results))
        if not is_last:
            _add(sent, given)
    return tuple(tasks), sent


def _rows_in(traffic: Traffic) -> int:
    return sum(len(message) for messages in traffic.values() for message in messages)


def _add(traffic: Traffic, more: Traffic) -> None:
    for index, messages in more.items():
        traffic.setdefault(index, []).extend(messages)


def replayed(stages: Sequence[Tasks], slots: int, constants: Constants, here: Constants) -> float:
    """How long the stages take on so many slots; ``here`` is what steps cost in this process."""
    given = max(0.0, constants.window - here.window)
    micros = constants.job
    for number, tasks in enumerate(stages):
        # The tasks that read belong to the job, which starts them.
        fixed = constants.task if number else 0.0
        micros += constants.stage if number else 0.0
        micros += makespan_of([fixed + _micros(t, constants.exchange, given) for t in tasks], slots)
    return micros / 1e6


def _micros(task: Task, exchange: float, given: float) -> float:
    return task.seconds * 1e6 + task.received * exchange + task.results * given


def makespan_of(tasks: Sequence[float], slots: int) -> float:
    """When the last task ends if each slot that is free takes the next one.

    >>> makespan_of([3.0, 1.0, 1.0, 1.0], 2), makespan_of([1.0, 1.0, 1.0, 3.0], 2)
    (3.0, 4.0)
    """
    free: list[Any] = [0.0] * slots
    heapify(free)
    for task in tasks:
        heapreplace(free, free[0] + task)
    return float(max(free))
