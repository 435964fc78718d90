"""The mapper of Win_MapReduce: partials of its part of every window."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from windrow.engine.columns.control import PART
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.engine.workers.win_seq import WinSeqWorker
from windrow.engine.workers.worker import Message


class Mapper(WinSeqWorker):
    """Has some of the tuples of every window; gives the partials of these."""

    def __init__(self, part: int, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.part = part

    def give(self, columns: TupleColumns, windows: FiredWindows) -> list[Message]:
        return [
            table.append_column(PART, pa.array([self.part] * len(table), pa.int32()))
            for table in super().give(columns, windows)
        ]
