"""Win_Seq: a worker that evaluates windows as they fire."""

from __future__ import annotations

import pyarrow as pa

from windrow.engine.evaluate.evaluator import Evaluator
from windrow.engine.evaluate.results import evaluated
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.engine.windows.placing import Placing
from windrow.engine.windows.windower import Share
from windrow.engine.workers.geometry import Geometry
from windrow.engine.workers.window_worker import WindowWorker
from windrow.engine.workers.worker import Message


class WinSeqWorker(WindowWorker):
    """Evaluates the windows that fire."""

    def __init__(
        self,
        query: WindowQuery,
        geometry: Geometry,
        evaluator: Evaluator,
        columns: dict[str, pa.DataType],
        share: Share,
        outer: Share | None = None,
        placing: Placing | None = None,
    ) -> None:
        super().__init__(query, geometry, columns, share, outer, placing)
        self.evaluator = evaluator

    def renumber(self) -> None:
        super().renumber()
        self.evaluator.forget()

    def give(self, columns: TupleColumns, windows: FiredWindows) -> list[Message]:
        self.fired += 0 if self.evaluator.gives_pieces else len(windows)
        return [evaluated(self.query, self.evaluator, columns, windows, self.keys)]
