"""The stages of a query on Spark, and the task that runs one over a bounded partition of rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from windrow.core.watermark import BEGINNING, END_OF_STREAM, final_watermark
from windrow.engine.stages.executor import run_nodes
from windrow.engine.stages.messages import unpack
from windrow.engine.stages.nodes import Collector, Emitter, Node, Stages, Workers
from windrow.engine.stages.traffic import Traffic
from windrow.engine.window_query import WindowQuery
from windrow.engine.workers.worker import Message, Worker
from windrow.spark.garbage import spare_modules
from windrow.spark.packed import Exchange, Ticks, rows_of
from windrow.spark.reports import Work
from windrow.spark.results import Results

_STEP = 1 << 20
"""Packed bytes that a worker takes before it fires windows."""
_SLICE = 4_000_000
"""Tuples a worker orders at once at the end of its input."""


@dataclass(frozen=True)
class Stage:
    """Nodes that run together behind one exchange and before another."""

    nodes: tuple[Node, ...]
    here: Exchange
    following: Exchange
    order: WindowQuery | None
    """The query whose results collectors put in order; joins have none."""
    number: int
    """Its place among the stages, from 0 on."""

    @property
    def workers(self) -> Workers | None:
        """The workers at its start, if it has any."""
        return self.nodes[0] if isinstance(self.nodes[0], Workers) else None

    @property
    def holds_state(self) -> bool:
        """Whether its workers remember anything between two batches of a stream."""
        return self.workers is not None and self.workers.holds_state

    def hand_on(self, given: Traffic) -> Traffic:
        """What the emitters and collectors behind the workers make of what these give."""
        return run_nodes(self.nodes[self.workers is not None :], given, self.order)


@dataclass(frozen=True)
class StagePlan:
    """A stage list on Spark: emitters that run at the intake, and the stages behind them."""

    emitters: tuple[Node, ...]
    entry: Exchange
    stages: tuple[Stage, ...]
    widest_state: int
    """As many workers as the widest stage that holds state has."""

    @staticmethod
    def of(stages: Stages, order: WindowQuery | None, *, is_stream: bool = False) -> StagePlan:
        """The plan of a stage list.

        The collectors at the end are left out: a DataFrame has no order but that of ``orderBy``.
        All stages of a stream that hold state have the same number of partitions.
        """
        groups = list(stages.groups)
        while isinstance(groups[-1][0], Collector):
            groups.pop()
        emitters = groups.pop(0) if isinstance(groups[0][0], Emitter) else ()
        widest = max(_state_width(group[0]) for group in groups)
        partitions = widest if is_stream else None
        exchanges, width = [], 1
        for group, following in zip([emitters, *groups], [*groups, ()], strict=True):
            width = _width_behind(group, width)
            fan_in = _fan_in(following)
            holds_state = bool(following) and _state_width(following[0]) > 0
            exchanges.append(Exchange(width // fan_in, fan_in, partitions if holds_state else None))
        made = [
            Stage(_grouped(nodes), here, following, order, number)
            for number, (nodes, here, following) in enumerate(
                zip(groups, exchanges[:-1], exchanges[1:], strict=True)
            )
        ]
        return StagePlan(emitters, exchanges[0], tuple(made), widest)

    def described(self) -> str:
        """The stages behind each other as JSON: what each one runs, and on how many workers."""
        described = [
            {"nodes": [node.describe() for node in stage.nodes], "width": stage.here.width}
            for stage in self.stages
        ]
        intake = {"nodes": [node.describe() for node in self.emitters], "width": None}
        return json.dumps([intake, *described])


def _state_width(node: Node) -> int:
    """How many workers that hold state the node has."""
    return node.n if isinstance(node, Workers) and node.holds_state else 0


def _fan_in(nodes: tuple[Node, ...]) -> int:
    """Of how many targets one worker takes the rows: a collector takes those of several."""
    return nodes[0].fan_in if nodes and isinstance(nodes[0], Collector) else 1


def _grouped(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The nodes; the exchange has already brought together what a collector at the start takes."""
    return (Collector(1), *nodes[1:]) if isinstance(nodes[0], Collector) else nodes


def _width_behind(nodes: tuple[Node, ...], width: int) -> int:
    """How many indices there are behind these nodes."""
    for node in nodes:
        if isinstance(node, Emitter):
            width = width // node.fan_in * node.route.n
        elif isinstance(node, Collector):
            width //= node.fan_in
    return width


@dataclass(frozen=True)
class StageTask:
    """Runs a stage over all rows of a partition: of a bounded input, or of a stream's batch.

    Time moves on with the rows, which come in order of ``low`` where it matters, and ends with
    them. On a bounded input of which only fired windows count, it ends at the final watermark.
    """

    stage: Stage
    results: Results | None = None
    """What turns messages into results, in the last stage of a bounded input."""
    delay: int | None = None
    """What the final watermark is behind the greatest time; None: it is the end of the stream."""
    reports: bool = False
    """Whether the stages behind it, and so the metrics, are told what its workers did."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        spare_modules()
        workers: dict[int, Worker] = {}
        works: dict[int, Work] = {}
        pushed: Counter[int] = Counter()
        size: Counter[int] = Counter()
        collected: Traffic = {}
        ticks, is_told = Ticks(), False
        for row in rows_of(batches):
            if row.message is None:
                ticks = ticks.with_more(row.ticks)
                is_told = is_told or not row.ticks.reports
                continue
            index, message = row.target // self.stage.here.fan_in, unpack(row.message)
            if self.stage.workers is None:
                collected.setdefault(index, []).append(message)
                continue
            if index not in workers:
                workers[index] = self.stage.workers.make(index)
                works[index] = Work(self.stage.number, index)
            worker, work = workers[index], works[index]
            with work:
                worker.push(work.took(message))
            reached = worker.reached_by(row.low)
            if reached is None:
                continue
            pushed[index] += len(message)
            size[index] += len(row.message)
            # Not with each of many messages: what it costs grows with what is held and waiting.
            if size[index] >= _STEP and 2 * pushed[index] >= worker.n_waiting:
                pushed[index] = size[index] = 0
                with work:
                    given = worker.advance(min(reached, self._end(ticks)))
                yield from self._hand_on({index: work.gave(given)})
        yield from self._hand_on(collected)
        for index, worker in workers.items():
            for given in works[index].timed(_finish(worker, self._end(ticks))):
                yield from self._hand_on({index: works[index].gave(given)})
        if self.results is None:
            reported = workers.items() if self.reports else ()
            reports = tuple(
                works[index].report(worker, windows=worker.fired) for index, worker in reported
            )
            ticks = ticks.with_more(Ticks(reports=reports))
            yield from self.stage.following.pack_ticks(ticks, to_all=is_told).to_batches()

    def _end(self, ticks: Ticks) -> int:
        """Where time ends."""
        if self.delay is None:
            return END_OF_STREAM
        if ticks.greatest == BEGINNING:
            return BEGINNING
        return final_watermark(ticks.greatest, self.delay)

    def _hand_on(self, given: Traffic) -> Iterator[pa.RecordBatch]:
        traffic = self.stage.hand_on(given)
        if self.results is None:
            yield from self.stage.following.pack(traffic).to_batches()
        else:
            yield from self.results.batches(m for sent in traffic.values() for m in sent)


def _finish(worker: Worker, watermark: int) -> Iterator[list[Message]]:
    """Move on to the end, in slices of time where much is waiting: each is ordered by itself."""
    for edge in worker.edges(_SLICE):
        yield worker.advance(min(edge, watermark))
    yield worker.advance(watermark)
