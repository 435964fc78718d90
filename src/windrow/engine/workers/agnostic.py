"""Agnostic workers: a windower forms the windows, and executors only compute them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windrow.engine.columns.hot_keys import HotKeys
from windrow.engine.evaluate.evaluator import Evaluator
from windrow.engine.evaluate.results import evaluated, with_part
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.batch import WindowBatch, pack_fired
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.engine.workers.role import Role
from windrow.engine.workers.window_worker import WindowWorker
from windrow.engine.workers.worker import Message, Worker


@dataclass(frozen=True)
class Packing:
    """How windows that fire together are packed.

    A batch has at least ``batch`` windows, if there are so many. The windows of a batch share their
    tuples, so there are no more than ``most`` batches. Each is split into ``parts`` of its windows.
    """

    batch: int
    most: int
    parts: int = 1


class WindowerWorker(WindowWorker):
    """Keeps the tuples of open windows and sends fired windows on in packed batches.

    The parts of windows are contiguous if the function is order-sensitive (De Matteis 2016,
    section 3.4).
    """

    def __init__(self, role: Role, packing: Packing) -> None:
        super().__init__(role)
        self.packing = packing

    def give(self, columns: TupleColumns, windows: FiredWindows) -> list[Message]:
        least, most, for_kernels = self.packing.batch, self.packing.most, self.query.runs_kernels
        batches = pack_fired(columns, windows, self.keys, least, most, for_kernels=for_kernels)
        part = WindowBatch.cut if self.query.computation.is_order_sensitive else WindowBatch.split
        return [message for packed in batches for message in part(packed, self.packing.parts)]


class HotWindower(WindowerWorker):
    """Sends the windows of hot keys on, and computes those of all other keys itself."""

    def __init__(self, role: Role, packing: Packing, evaluator: Evaluator, hot: HotKeys) -> None:
        super().__init__(role, packing)
        self.evaluator, self.hot = evaluator, hot

    def renumber(self) -> None:
        super().renumber()
        self.evaluator.forget()

    def give(self, columns: TupleColumns, windows: FiredWindows) -> list[Message]:
        is_hot = self.hot.among(self.hashes[windows.keys])
        own, sent = (windows.take(np.flatnonzero(at)) for at in (~is_hot, is_hot))
        self.fired += len(own)
        given = [evaluated(self.query, self.evaluator, columns, own, self.keys)] if len(own) else []
        return given + (super().give(columns, sent) if len(sent) else [])


class Executor(Worker):
    """Computes the windows it is sent, and passes results on. It holds no state between batches."""

    def __init__(self, query: WindowQuery, evaluator: Evaluator) -> None:
        self.query, self.evaluator = query, evaluator
        self.waiting: list[Message] = []

    def push(self, message: Message) -> None:
        self.waiting.append(message)

    def advance(self, watermark: int) -> list[Message]:
        batches, self.waiting = self.waiting, []
        return [table for batch in batches for table in self._execute(batch)]

    def _execute(self, batch: Message) -> list[Message]:
        if not isinstance(batch, WindowBatch):
            return [batch]
        columns, windows = batch.unpack()
        if len(windows) == 0:
            return []
        is_part = self.evaluator.gives_pieces
        self.fired += 0 if is_part else len(windows)
        keys = batch.key_table(self.query.keys)
        if not self.query.keys:
            keys.codes(batch.tuples)
        table = evaluated(self.query, self.evaluator, columns, windows, keys)
        return [with_part(table, batch.part) if is_part else table]
