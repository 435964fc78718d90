"""The packed row: what Spark moves between stages.

A row is a message to a worker, a tick or a report. A tick brings no tuples. It tells a worker how
many tuples were dropped before it, the greatest event time that has come and, where the source may
go quiet, what the clock says. Ticks sort before every message. A report says what a worker before
has done in this batch; workers hand it on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.watermark import BEGINNING
from windrow.engine.columns.control import ARRIVAL, TIME
from windrow.engine.stages.messages import pack
from windrow.engine.stages.traffic import Traffic
from windrow.engine.workers.worker import Message
from windrow.spark.slots import slots

PACKED = (
    "slot int, target int, low bigint, dropped bigint, greatest bigint, clock bigint, "
    "greatest_right bigint, report string, message binary"
)
_SCHEMA = pa.schema(
    [
        ("slot", pa.int32()),
        ("target", pa.int32()),
        ("low", pa.int64()),
        ("dropped", pa.int64()),
        ("greatest", pa.int64()),
        ("clock", pa.int64()),
        ("greatest_right", pa.int64()),
        ("report", pa.string()),
        ("message", pa.binary()),
    ]
)


@dataclass(frozen=True)
class Ticks:
    """What workers are told beside messages."""

    dropped: int = 0
    greatest: int = BEGINNING
    """The greatest event time that has come; BEGINNING if no tuple has."""
    clock: int = 0
    """In milliseconds; 0 if it has not ticked."""
    greatest_right: int = BEGINNING
    """The greatest event time of the right side of a join; ``greatest`` is then the left's."""
    reports: tuple[str, ...] = ()
    """What workers before tell of this batch."""

    @property
    def tell_time(self) -> bool:
        """Whether an event time has come."""
        return self.greatest != BEGINNING or self.greatest_right != BEGINNING

    def greatest_of(self, side: int) -> int:
        """The greatest event time of a side: 1 is the right side of a join."""
        return self.greatest_right if side else self.greatest

    def with_more(self, more: Ticks) -> Ticks:
        """These ticks and others."""
        return Ticks(
            self.dropped + more.dropped,
            max(self.greatest, more.greatest),
            max(self.clock, more.clock),
            max(self.greatest_right, more.greatest_right),
            self.reports + more.reports,
        )


@dataclass(frozen=True)
class Exchange:
    """Where rows go: to ``width`` workers, each of which takes the rows of ``fan_in`` targets."""

    width: int
    fan_in: int = 1
    partitions: int | None = None
    """Spark's partitions behind the exchange, as many as workers if not said."""

    @property
    def slots(self) -> tuple[int, ...]:
        """What Spark partitions by, for each worker."""
        return slots(self.width, self.partitions or self.width)

    def pack(self, traffic: Traffic, greatest: int = BEGINNING) -> pa.Table:
        """Messages as rows; ``greatest`` is the greatest event time so far, if it matters."""
        salted = self.slots
        return _table(
            (
                salted[target // self.fan_in], target, low_of(message), 0, greatest, 0, BEGINNING,
                None, pack(message),
            )
            for target, messages in traffic.items()
            for message in messages
        )  # fmt: skip

    def pack_ticks(self, ticks: Ticks, to_all: bool) -> pa.Table:
        """Ticks as rows: to all workers, or to the first, so that no drop is left uncounted.

        The first is also sent the reports, each in a row of its own.
        """
        salted = self.slots
        told = [
            (
                salted[worker], worker * self.fan_in, BEGINNING,
                0 if worker else ticks.dropped, ticks.greatest, ticks.clock,
                ticks.greatest_right, None, None,
            )
            for worker in range(self.width if to_all else min(1, ticks.dropped))
        ]  # fmt: skip
        reported = [
            (salted[0], 0, BEGINNING, 0, BEGINNING, 0, BEGINNING, report, None)
            for report in ticks.reports
        ]
        return _table([*told, *reported])


def _table(rows: Iterable[tuple[Any, ...]]) -> pa.Table:
    columns: list[Any] = list(zip(*rows, strict=True)) or [[]] * len(_SCHEMA)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, _SCHEMA, strict=True)]
    return pa.table(arrays, schema=_SCHEMA)


@dataclass(frozen=True)
class PackedRow:
    """A row as a worker's task reads it."""

    target: int
    low: int
    ticks: Ticks
    message: bytes | None


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[PackedRow]:
    """The rows of a partition, in their order."""
    for batch in batches:
        columns = (batch.column(i).to_pylist() for i in range(1, len(_SCHEMA) - 1))
        messages = batch.column(len(_SCHEMA) - 1)
        for target, low, dropped, greatest, clock, right, report, message in zip(
            *columns, messages, strict=True
        ):
            ticks = Ticks(dropped, greatest, clock, right, () if report is None else (report,))
            # A copy: the columns of a message would keep all messages of the batch in memory.
            yield PackedRow(target, low, ticks, message.as_py())


def low_of(message: Message) -> int:
    """Where a message begins, in time or arrival."""
    if not isinstance(message, pa.Table):
        return 0
    for name in (TIME, ARRIVAL):
        if name in message.column_names:
            return int(np.asarray(message[name].to_numpy()).min())
    return 0
