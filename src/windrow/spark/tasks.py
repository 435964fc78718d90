"""What runs in Spark's Python workers: the nodes of a stage over the batches of a partition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.columns.control import ARRIVAL, TIME
from windrow.engine.intake import window_tuples
from windrow.engine.stages.messages import pack, unpack
from windrow.engine.stages.nodes import Collector, Emitter, Node, Workers
from windrow.engine.stages.traffic import Traffic, collect_traffic, emit_traffic
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.placing import Placing, ascends, time_of
from windrow.engine.workers.worker import KeyedWorker, Message, Worker
from windrow.spark.slots import slots

PACKED = "slot int, target int, low bigint, watermark bigint, message binary"
_SCHEMA = pa.schema(
    [
        ("slot", pa.int32()),
        ("target", pa.int32()),
        ("low", pa.int64()),
        ("watermark", pa.int64()),
        ("message", pa.binary()),
    ]
)
GREATEST = "windrow.greatest"
"""The column of the greatest time of the whole input, where the final watermark matters."""

ROW_BITS = 33
"""Tuples are numbered as Spark's monotonically_increasing_id does."""
_CHUNK = 131_072
"""Rows an emitter routes and packs at once."""
_PIECE = 8_192
"""Tuples of a message where they are in no order of time."""
_SLICE = 4_000_000
"""Tuples a worker orders at once at the end of its input."""


@dataclass(frozen=True)
class Exchange:
    """Where messages go: to ``width`` indices, those of ``fan_in`` targets being one."""

    width: int
    fan_in: int = 1


@dataclass(frozen=True)
class Intake(ABC):
    """Takes in rows, routes them through the first emitters and packs them."""

    query: WindowQuery
    columns: tuple[str, ...]
    """The columns' names: Spark does not let those with dots pass."""
    emitters: tuple[Node, ...]
    exchange: Exchange

    @abstractmethod
    def take_in(self, rows: pa.Table, arrived: int) -> tuple[pa.Table, int | None]:
        """The rows as workers take them, and the final watermark where it matters."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        arrived = _first_arrival()
        for chunk in chunks(batches):
            taken, watermark = self.take_in(chunk.rename_columns(self.columns), arrived)
            arrived += len(chunk)
            if len(taken) == 0:
                continue
            traffic: Traffic = {0: [taken]}
            for node in self.emitters:
                assert isinstance(node, Emitter)
                traffic = emit_traffic(node, traffic)
            sent = {i: [p for m in messages for p in _runs(m)] for i, messages in traffic.items()}
            yield from _packed(self.exchange, sent, watermark)


def _runs(message: Message) -> Iterator[Message]:
    """Tuples in no order of time as short runs of it.

    Workers are sent messages in order of their first times: of runs few overlap, so that a worker
    need not hold all of its input to bring it in order.
    """
    if not isinstance(message, pa.Table) or TIME not in message.column_names:
        yield message
        return
    times = time_of(message)
    if len(times) <= _PIECE or ascends(times):
        yield message
        return
    ordered = message.take(pa.array(np.argsort(times, kind="stable")))
    for first in range(0, len(ordered), _PIECE):
        yield ordered.slice(first, _PIECE)


class TupleIntake(Intake):
    """Takes in tuples."""

    def take_in(self, rows: pa.Table, arrived: int) -> tuple[pa.Table, int | None]:
        return window_tuples(self.query, rows, arrived)[0], _final_watermark(self.query, rows)


class PieceIntake(Intake):
    """Takes in the partials of panes."""

    def take_in(self, rows: pa.Table, arrived: int) -> tuple[pa.Table, int | None]:
        watermark = _final_watermark(self.query, rows)
        return rows.drop_columns([GREATEST]) if GREATEST in self.columns else rows, watermark


def _first_arrival() -> int:
    """The number of the first tuple to arrive in this partition: greater than all before it."""
    task = TaskContext.get()
    return 0 if task is None else task.partitionId() << ROW_BITS


def chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches put together to chunks worth packing."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += len(batch)
        if rows >= _CHUNK:
            yield pa.Table.from_batches(waiting).combine_chunks()
            waiting, rows = [], 0
    if rows:
        yield pa.Table.from_batches(waiting).combine_chunks()


def _final_watermark(query: WindowQuery, table: pa.Table) -> int | None:
    if GREATEST not in table.column_names:
        return None
    greatest = table[GREATEST][0].as_py()
    return BEGINNING if greatest is None else (greatest - query.delay) // 1000 * 1000


@dataclass(frozen=True)
class StageTask:
    """Runs nodes over packed messages; hands on packed messages, or results at the end."""

    query: WindowQuery
    nodes: tuple[Node, ...]
    exchange: Exchange | None
    result_schema: pa.Schema | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        workers: dict[int, Worker] = {}
        pushed: Counter[int] = Counter()
        watermark: int | None = None
        waiting: Traffic = {}
        for target, low, watermark, message in _rows(batches):
            index = target // self._fan_in
            if not isinstance(self.nodes[0], Workers):
                waiting.setdefault(index, []).append(message)
                continue
            worker = workers.get(index)
            if worker is None:
                worker = workers[index] = self.nodes[0].make(index)
            worker.push(message)
            if not isinstance(worker, KeyedWorker):
                continue
            reached = self._reached(worker.placing, low, watermark)
            if reached is None:
                continue
            pushed[index] += len(message)
            # Not with each of many runs: what it costs grows with what is waiting.
            if 2 * pushed[index] >= worker.placing.waiting:
                pushed[index] = 0
                yield from self._hand_on({index: worker.advance(reached)}, watermark)
        for index, worker in workers.items():
            for given in _finish(worker, self._end(watermark)):
                yield from self._hand_on({index: given}, watermark)
        if waiting:
            yield from self._hand_on(waiting, watermark, self.nodes)

    @property
    def _fan_in(self) -> int:
        return self.nodes[0].fan_in if isinstance(self.nodes[0], Collector) else 1

    def _reached(self, placing: Placing, low: int, watermark: int | None) -> int | None:
        """How far a worker may move on before more input: messages come in order of ``low``.

        Never past the final watermark, where there is one.
        """
        if placing.is_timed:
            return low if watermark is None else min(low, watermark)
        return None if placing.order_by or self.query.time is not None else BEGINNING

    def _end(self, watermark: int | None) -> int:
        if self.query.open_windows == "emit":
            return END_OF_STREAM
        return BEGINNING if watermark is None else watermark

    def _hand_on(
        self, traffic: Traffic, watermark: int | None, nodes: tuple[Node, ...] | None = None
    ) -> Iterator[pa.RecordBatch]:
        for node in self.nodes[1:] if nodes is None else nodes:
            if isinstance(node, Emitter):
                traffic = emit_traffic(node, traffic)
            else:
                assert isinstance(node, Collector)
                traffic = collect_traffic(self.query, Collector(1), traffic)
        if self.exchange is not None:
            yield from _packed(self.exchange, traffic, watermark)
            return
        assert self.result_schema is not None
        for messages in traffic.values():
            for table in messages:
                yield from as_declared(self.query, self.result_schema, table).to_batches(
                    max_chunksize=_CHUNK
                )


def as_declared(query: WindowQuery, results: pa.Schema, table: pa.Table) -> pa.Table:
    """Results with their declared types; the keys are as they came."""
    keys = [table.schema.field(k) for k in query.keys]
    return table.cast(pa.schema([*keys, *results]))


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, int, int | None, Message]]:
    for batch in batches:
        targets, lows = batch["target"].to_pylist(), batch["low"].to_pylist()
        watermarks, messages = batch["watermark"].to_pylist(), batch["message"]
        for target, low, watermark, message in zip(
            targets, lows, watermarks, messages, strict=True
        ):
            yield target, low, watermark, unpack(message.as_py())


def _packed(
    exchange: Exchange, traffic: Traffic, watermark: int | None
) -> Iterator[pa.RecordBatch]:
    salted = slots(exchange.width)
    for target, messages in traffic.items():
        for message in messages:
            slot = salted[target // exchange.fan_in]
            row: list[Any] = [slot, target, low_of(message), watermark, pack(message)]
            yield pa.record_batch([[v] for v in row], schema=_SCHEMA)


def low_of(message: Message) -> int:
    """Where a message begins, in time or arrival."""
    if not isinstance(message, pa.Table):
        return 0
    for name in (TIME, ARRIVAL):
        if name in message.column_names:
            return int(np.asarray(message[name].to_numpy()).min())
    return 0


def _finish(worker: Worker, watermark: int) -> Iterator[list[Message]]:
    """Move on to the end, in slices of time where much is waiting: each is ordered by itself."""
    if isinstance(worker, KeyedWorker) and worker.placing.is_timed:
        waiting = worker.placing.waiting
        if waiting > 2 * _SLICE:
            sample = [
                time_of(t)[:: max(1, waiting // 100_000)] for t in worker.placing.pending.values()
            ]
            edges = np.quantile(
                np.concatenate(sample), np.arange(_SLICE, waiting, _SLICE) / waiting
            )
            for edge in np.unique(edges.astype(np.int64)):
                yield worker.advance(min(int(edge), watermark))
    yield worker.advance(watermark)
