"""Intake: rows of a DataFrame become messages to the first workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame

from windrow.core.durations import TimeUnit
from windrow.core.watermark import BEGINNING
from windrow.engine.columns.arrays import to_microseconds
from windrow.engine.columns.control import TIME
from windrow.engine.stages.executor import run_nodes
from windrow.engine.stages.nodes import Emitter, Node
from windrow.engine.windows.placing import ascends, time_of
from windrow.engine.workers.worker import Message
from windrow.spark.garbage import spare_modules
from windrow.spark.interpreter import check_worker_python
from windrow.spark.packed import PACKED, Exchange, Ticks
from windrow.spark.splits import ScannedRows

_LEAST_CHUNK, _MOST_CHUNK = 1 << 17, 1 << 20
"""Rows an emitter routes and packs at once."""
_BYTES = 32 << 20
"""Fewer rows are packed at once if they would have more bytes."""
_PER_WORKER = 1 << 14
"""Rows of a chunk per worker. A message costs as much as some thousand of its tuples."""
_RUN = 8_192
"""Tuples per message where they are in no order of time."""
_BOUNDED_ROW_BITS = 33
"""Rows of a bounded input are numbered as Spark's monotonically_increasing_id numbers them."""
_BATCH_BITS, _PARTITION_BITS, _ROW_BITS = 20, 13, 30
"""Rows of a stream are numbered by batch, partition and row; ties are never far apart."""

Take: TypeAlias = Callable[[pa.Table, int], tuple[pa.Table, int]]
"""The tuples of a batch, given the number of its first row, and how many rows belong nowhere."""


@dataclass(frozen=True)
class Intake:
    """Takes rows in, routes them through the first emitters and packs them."""

    take: Take
    columns: tuple[str, ...]
    """The columns' names: Spark lets no names with dots pass."""
    emitters: tuple[Node, ...]
    exchange: Exchange
    is_stream: bool
    greatest_of: str | None
    """The column of times, of rows or tuples, whose greatest every worker is told."""
    side: int = 0
    """The side of a join that the rows are of."""
    unit: TimeUnit = "us"
    """The unit of these times if they are integers."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        spare_modules()
        return self.messages(batches, *_first_arrival())

    def messages(
        self, batches: Iterator[pa.RecordBatch], arrived: int, is_first: bool
    ) -> Iterator[pa.RecordBatch]:
        """The packed messages of a partition whose first row has the number ``arrived``."""
        ticks = Ticks()
        for chunk in chunks(batches, self._chunk_size):
            rows = chunk.rename_columns(self.columns)
            tuples, dropped = self.take(rows, arrived)
            arrived += len(rows)
            ticks = ticks.with_more(self._ticks(dropped, rows, tuples))
            if len(tuples):
                traffic = run_nodes(self.emitters, {0: [tuples]})
                if not self.is_stream:
                    traffic = {
                        i: [r for m in sent for r in _runs(m)] for i, sent in traffic.items()
                    }
                yield from self.exchange.pack(traffic, ticks.greatest).to_batches()
        # The first partition of a stream wakes every worker, even one that is sent nothing.
        to_all = ticks.tell_time or (self.is_stream and is_first)
        yield from self.exchange.pack_ticks(ticks, to_all).to_batches()

    @property
    def _chunk_size(self) -> int:
        # Partials of the same panes are sent once per chunk.
        reduces = any(isinstance(node, Emitter) and node.route.reduces for node in self.emitters)
        return _MOST_CHUNK if reduces else chunk_size(self.exchange.width)

    def _ticks(self, dropped: int, rows: pa.Table, tuples: pa.Table) -> Ticks:
        name = self.greatest_of
        if name is None:
            return Ticks(dropped)
        known = (rows if name in rows.column_names else tuples)[name].drop_null()
        greatest = int(to_microseconds(known, self.unit).max()) if len(known) else BEGINNING
        return Ticks(dropped, greatest_right=greatest) if self.side else Ticks(dropped, greatest)

    def over(self, rows: DataFrame | ScannedRows) -> DataFrame:
        """Rows as packed rows; refused if the Python of Spark's workers cannot run it.

        The rows of a DataFrame come from the JVM. The tasks read those of files themselves.
        """
        check_worker_python(rows.sparkSession)
        if isinstance(rows, ScannedRows):
            return rows.mapInArrow(self, PACKED)
        numbered = rows.toDF(*(f"c{i}" for i in range(len(rows.columns))))
        return numbered.mapInArrow(self, PACKED)


@dataclass(frozen=True)
class ClockIntake:
    """Makes ticks of the clock for all workers, of rows with its times in milliseconds."""

    exchange: Exchange

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        times = [time for batch in batches for time in batch.column(0).to_pylist()]
        if times:
            yield from self.exchange.pack_ticks(Ticks(clock=max(times)), to_all=True).to_batches()


def chunk_size(workers: int) -> int:
    """How many rows are packed at once for this number of workers.

    >>> chunk_size(2), chunk_size(16), chunk_size(1000)
    (131072, 262144, 1048576)
    """
    return min(_MOST_CHUNK, max(_LEAST_CHUNK, _PER_WORKER * workers))


def chunks(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.Table]:
    """Batches put together to chunks of about this size, or fewer rows if they are wide."""
    waiting: list[pa.RecordBatch] = []
    rows = n_bytes = 0
    for batch in batches:
        waiting.append(batch)
        rows += len(batch)
        n_bytes += batch.nbytes
        if rows >= size or n_bytes >= _BYTES:
            yield pa.Table.from_batches(waiting).combine_chunks()
            waiting, rows, n_bytes = [], 0, 0
    if rows:
        yield pa.Table.from_batches(waiting).combine_chunks()


def _runs(message: Message) -> Iterator[Message]:
    """Tuples in no order of time as short runs of it.

    Workers of a bounded input are sent messages in order of their first times. Few runs overlap,
    so a worker need not hold all of its input to bring it in order.
    """
    if not isinstance(message, pa.Table) or TIME not in message.column_names:
        yield message
        return
    times = time_of(message)
    if len(times) <= _RUN or ascends(times):
        yield message
        return
    ordered = message.take(pa.array(np.argsort(times, kind="stable")))
    for first in range(0, len(ordered), _RUN):
        yield ordered.slice(first, _RUN)


def _first_arrival() -> tuple[int, bool]:
    """The number of this partition's first row, and whether it is the first partition."""
    task = TaskContext.get()
    assert task is not None
    partition = task.partitionId()
    batch_id = task.getLocalProperty("streaming.sql.batchId")
    if batch_id is None:
        return partition << _BOUNDED_ROW_BITS, partition == 0
    batch = int(batch_id) % (1 << _BATCH_BITS)
    place = batch << _PARTITION_BITS | partition % (1 << _PARTITION_BITS)
    return place << _ROW_BITS, partition == 0
