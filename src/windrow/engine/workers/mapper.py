"""The mapper of Win_MapReduce: computes the partials of its part of every window."""

from __future__ import annotations

import pyarrow as pa

from windrow.engine.evaluate.evaluator import Evaluator
from windrow.engine.evaluate.results import with_part
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.engine.windows.windower import Share
from windrow.engine.workers.geometry import Geometry
from windrow.engine.workers.win_seq import WinSeqWorker
from windrow.engine.workers.worker import Message


class Mapper(WinSeqWorker):
    """Gets one ``part`` of the tuples of every window and computes the partials of it."""

    def __init__(
        self,
        query: WindowQuery,
        geometry: Geometry,
        evaluator: Evaluator,
        columns: dict[str, pa.DataType],
        share: Share,
        part: int,
    ) -> None:
        super().__init__(query, geometry, evaluator, columns, share)
        self.part = part

    def give(self, columns: TupleColumns, windows: FiredWindows) -> list[Message]:
        return [with_part(table, self.part) for table in super().give(columns, windows)]
