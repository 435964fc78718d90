"""The mapper of Win_MapReduce: computes the partials of its part of every window."""

from __future__ import annotations

from windrow.engine.evaluate.evaluator import Evaluator
from windrow.engine.evaluate.results import with_part
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.engine.workers.role import Role
from windrow.engine.workers.win_seq import WinSeqWorker
from windrow.engine.workers.worker import Message


class Mapper(WinSeqWorker):
    """Gets one ``part`` of the tuples of every window and computes the partials of it."""

    def __init__(self, role: Role, evaluator: Evaluator, part: int) -> None:
        super().__init__(role, evaluator)
        self.part = part

    def give(self, columns: TupleColumns, windows: FiredWindows) -> list[Message]:
        return [with_part(table, self.part) for table in super().give(columns, windows)]
