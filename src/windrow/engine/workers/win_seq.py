"""Win_Seq: a worker that evaluates windows as they fire."""

from __future__ import annotations

from windrow.engine.evaluate.evaluator import Evaluator
from windrow.engine.evaluate.results import evaluated
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.engine.windows.placing import Placing
from windrow.engine.workers.role import Role
from windrow.engine.workers.window_worker import WindowWorker
from windrow.engine.workers.worker import Message


class WinSeqWorker(WindowWorker):
    """Evaluates the windows that fire."""

    def __init__(self, role: Role, evaluator: Evaluator, placing: Placing | None = None) -> None:
        super().__init__(role, placing=placing)
        self.evaluator = evaluator

    def renumber(self) -> None:
        super().renumber()
        self.evaluator.forget()

    def give(self, columns: TupleColumns, windows: FiredWindows) -> list[Message]:
        self.fired += 0 if self.evaluator.gives_pieces else len(windows)
        return [evaluated(self.query, self.evaluator, columns, windows, self.keys)]
