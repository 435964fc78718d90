"""Map and reduce in several rounds (De Matteis 2016, section 3.4).

The mappers of a round get the results of the previous round. The parts of windows travel with the
results: from the mappers of a round, through its reducers, to the mappers of the next round.
"""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa

from windrow.core.decimals import wide_decimals
from windrow.engine.columns.control import PIECE
from windrow.engine.evaluate.calling import call
from windrow.engine.evaluate.results import evaluated, with_part
from windrow.engine.evaluate.rounds import RoundEvaluator
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.batch import WindowBatch
from windrow.engine.workers.reducer import windows_of_parts
from windrow.engine.workers.worker import Message, Worker

MADE = "windrow.made"
"""The control column with the pickled result of a round for a window."""


class RoundMapper(Worker):
    """Maps its parts of windows. Sends on the partials and, before the last round, the parts."""

    def __init__(self, query: WindowQuery, number: int, is_last: bool) -> None:
        self.query, self.is_last = query, is_last
        self.evaluator = RoundEvaluator(query, number)
        self.parts: list[WindowBatch] = []
        self.made: list[pa.Table] = []

    def push(self, message: Message) -> None:
        if isinstance(message, WindowBatch):
            self.parts.append(message)
        else:
            self.made.append(message)

    def advance(self, watermark: int) -> list[Message]:
        parts, self.parts = self.parts, []
        made, self.made = self.made, []
        mapped = [table for part in parts for table in self._map(part, made)]
        return mapped if self.is_last else [*mapped, *parts]

    def _map(self, part: WindowBatch, made: list[pa.Table]) -> list[Message]:
        columns, windows = part.unpack()
        if len(windows) == 0:
            return []
        keys = part.key_table(self.query.keys)
        self.evaluator.made = {
            (int(code), id): pickle.loads(pickled)
            for table in made
            for code, id, pickled in zip(
                keys.codes(table), table[PIECE].to_pylist(), table[MADE].to_pylist(), strict=True
            )
        }
        table = evaluated(self.query, self.evaluator, columns, windows, keys)
        return [with_part(table, part.part)]


class RoundReducer(Worker):
    """Reduces a round other than the last. It sends on its results and the parts, unchanged."""

    def __init__(self, query: WindowQuery, number: int) -> None:
        self.query = query
        self.evaluator = RoundEvaluator(query, number)
        self.partials: list[pa.Table] = []
        self.parts: list[WindowBatch] = []

    def push(self, message: Message) -> None:
        (self.parts if isinstance(message, WindowBatch) else self.partials).append(message)

    def advance(self, watermark: int) -> list[Message]:
        parts, self.parts = self.parts, []
        if not self.partials:
            return list(parts)
        partials = pa.concat_tables(self.partials, promote_options="permissive")
        self.partials = []
        columns, windows, keys = windows_of_parts(self.query, partials)
        combine = self.evaluator.combining(columns, len(partials))
        with wide_decimals():
            made = [
                pickle.dumps(call(combine, window))
                for window in self.evaluator.windows(columns, windows, keys)
            ]
        table = pa.table(
            [*keys.take(windows.keys), np.ascontiguousarray(windows.ids), made],
            names=[*self.query.keys, PIECE, MADE],
        )
        return [table, *parts]
