"""Packed rows on a stream: messages to workers, and ticks that bring no tuples.

A row is ``(slot, target, dropped, greatest, clock, message)``. A tick has no message: it tells a
worker that a batch has come, how many tuples were dropped before it, the greatest event time the
batch brought, and, where the source may go quiet, what the clock says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark import TaskContext

from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.columns.control import TIME
from windrow.engine.stages.messages import pack, unpack
from windrow.engine.stages.nodes import Collector, Emitter, Node, Workers
from windrow.engine.stages.traffic import Traffic, collect_traffic, emit_traffic, in_order
from windrow.engine.window_query import WindowQuery
from windrow.engine.workers.worker import Message
from windrow.spark.slots import slots
from windrow.spark.tasks import ROW_BITS, as_declared, chunks, low_of

STREAMED = (
    "slot int, target int, dropped bigint, greatest bigint, clock bigint, low bigint, "
    "message binary"
)
_SCHEMA = pa.schema(
    [
        ("slot", pa.int32()),
        ("target", pa.int32()),
        ("dropped", pa.int64()),
        ("greatest", pa.int64()),
        ("clock", pa.int64()),
        ("low", pa.int64()),
        ("message", pa.binary()),
    ]
)
Row = tuple[int, int, int, int, int, int, bytes | None]

_BATCH_BITS, _PARTITION_BITS, _ROW_BITS = 20, 13, 30
"""Tuples are numbered by batch, partition and row; what is tied is never far apart."""


@dataclass(frozen=True)
class Ticks:
    """What is told to workers beside messages; to all, or only so that it is not lost."""

    dropped: int = 0
    greatest: int = BEGINNING
    """The greatest event time that has come; BEGINNING if no tuple has."""
    clock: int = 0
    """In milliseconds; 0 if it has not ticked."""
    to_all: bool = False

    @property
    def is_needed(self) -> bool:
        return self.to_all or bool(self.dropped)


@dataclass(frozen=True)
class Received:
    """What a worker is sent in a batch."""

    messages: tuple[bytes, ...] = ()
    """Oldest first."""
    ticks: Ticks = Ticks()

    @staticmethod
    def of(frames: Iterable[pd.DataFrame]) -> Received:
        messages: list[tuple[int, bytes]] = []
        ticks = Ticks()
        for frame in frames:
            found = zip(frame["low"], frame["message"], strict=True)
            messages += [(int(low), bytes(m)) for low, m in found if m is not None]
            ticks = Ticks(
                ticks.dropped + int(frame["dropped"].sum()),
                max(ticks.greatest, int(frame["greatest"].max())),
                max(ticks.clock, int(frame["clock"].max())),
            )
        messages.sort(key=lambda each: each[0])
        return Received(tuple(message for _, message in messages), ticks)


@dataclass(frozen=True)
class Hop:
    """Where rows go: to ``width`` indices, those of ``fan_in`` targets being one."""

    query: WindowQuery | None = field(repr=False)
    width: int
    partitions: int
    fan_in: int = 1

    @property
    def slots(self) -> tuple[int, ...]:
        return slots(self.width, self.partitions)

    def rows(self, nodes: tuple[Node, ...], traffic: Traffic, ticks: Ticks) -> pd.DataFrame:
        """What the nodes make of messages, and ticks, as packed rows."""
        return to_table(self.pack(nodes, traffic, ticks)).to_pandas()

    def pack(self, nodes: tuple[Node, ...], traffic: Traffic, ticks: Ticks) -> list[Row]:
        for node in nodes:
            if isinstance(node, Emitter):
                traffic = emit_traffic(node, traffic)
            else:
                assert isinstance(node, Collector)
                assert self.query is not None
                traffic = collect_traffic(self.query, Collector(1), traffic)
        packed: list[Row] = [
            (self._slot(target), target, 0, BEGINNING, 0, low_of(message), pack(message))
            for target, messages in traffic.items()
            for message in messages
        ]
        if ticks.is_needed:
            packed += self._ticks(ticks)
        return packed

    def _ticks(self, ticks: Ticks) -> Iterator[Row]:
        for index in range(self.width if ticks.to_all else 1):
            dropped = 0 if index else ticks.dropped
            told = (dropped, ticks.greatest, ticks.clock)
            yield self.slots[index], index * self.fan_in, *told, 0, None

    def _slot(self, target: int) -> int:
        return self.slots[target // self.fan_in]


def to_table(rows: list[Row]) -> pa.Table:
    columns: list[Any] = list(zip(*rows, strict=True)) if rows else [[]] * len(_SCHEMA)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, _SCHEMA, strict=True)]
    return pa.table(arrays, schema=_SCHEMA)


@dataclass(frozen=True)
class StreamIntake:
    """Takes in rows, routes them through the first emitters and packs them; ticks besides."""

    take_in: Callable[[pa.Table, int], tuple[pa.Table, int]]
    """The tuples of a batch, given the number of the first, and how many belong nowhere."""
    columns: tuple[str, ...]
    """The columns' names: Spark does not let those with dots pass."""
    emitters: tuple[Node, ...]
    following: Hop
    tells_greatest: bool
    """Whether every partition tells all workers the greatest time it has seen."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        arrived, is_first = _first_arrival()
        dropped, greatest = 0, BEGINNING
        for chunk in chunks(batches):
            tuples, lost = self.take_in(chunk.rename_columns(self.columns), arrived)
            arrived += len(chunk)
            dropped += lost
            if len(tuples) == 0:
                continue
            if self.tells_greatest:
                greatest = max(greatest, int(np.asarray(tuples[TIME].to_numpy()).max()))
            packed = self.following.pack(self.emitters, {0: [tuples]}, Ticks())
            yield from to_table(packed).to_batches()
        ticks = Ticks(dropped, greatest, to_all=is_first or greatest != BEGINNING)
        yield from to_table(self.following.pack((), {}, ticks)).to_batches()


def _first_arrival() -> tuple[int, bool]:
    """The number of the first tuple of this partition, and whether it is the first partition."""
    task = TaskContext.get()
    assert task is not None
    batch_id = task.getLocalProperty("streaming.sql.batchId")
    if batch_id is None:
        return task.partitionId() << ROW_BITS, task.partitionId() == 0
    batch = int(batch_id) % (1 << _BATCH_BITS)
    partition = task.partitionId() % (1 << _PARTITION_BITS)
    number = (batch << _PARTITION_BITS | partition) << _ROW_BITS
    return number, task.partitionId() == 0


@dataclass(frozen=True)
class ClockIntake:
    """Makes ticks of the clock for all workers, of rows of its times in milliseconds."""

    following: Hop

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        times = [time for batch in batches for time in batch.column(0).to_pylist()]
        if times:
            ticks = Ticks(clock=max(times), to_all=True)
            yield from to_table(self.following.pack((), {}, ticks)).to_batches()


@dataclass(frozen=True)
class StatelessStage:
    """Runs nodes that hold nothing between batches."""

    nodes: tuple[Node, ...]
    here: Hop
    following: Hop

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        waiting: Traffic = {}
        ticks = Ticks()
        for batch in batches:
            for row in batch.to_pylist():
                if row["message"] is None:
                    ticks = Ticks(
                        ticks.dropped + row["dropped"],
                        max(ticks.greatest, row["greatest"]),
                        max(ticks.clock, row["clock"]),
                        to_all=True,
                    )
                    continue
                index = row["target"] // self.here.fan_in
                waiting.setdefault(index, []).append(unpack(row["message"]))
        node, nodes = self.nodes[0], self.nodes
        if isinstance(node, Workers):
            nodes = nodes[1:]
            waiting = {index: _worked(node, index, m) for index, m in waiting.items()}
        yield from to_table(self.following.pack(nodes, waiting, ticks)).to_batches()


def _worked(node: Workers, index: int, messages: list[Message]) -> list[Message]:
    worker = node.make(index)
    for message in messages:
        worker.push(message)
    return worker.advance(END_OF_STREAM)


@dataclass(frozen=True)
class Results:
    """Unpacks results; in order, if asked for, which takes all of them in one partition."""

    query: WindowQuery
    schema: pa.Schema
    is_ordered: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        packed = (m for batch in batches for m in batch["message"].to_pylist() if m is not None)
        tables: Iterable[Any] = map(unpack, packed)
        if self.is_ordered:
            found = list(tables)
            tables = [in_order(self.query, found)] if found else []
        for table in tables:
            declared = as_declared(self.query, self.schema, table)
            yield from declared.to_batches(max_chunksize=65_536)
