"""The ranker: gives each tuple its rank, for workers that see only some of a key's tuples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import RANK
from windrow.engine.state.worker_state import State
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.placing import Placing
from windrow.engine.workers.worker import KeyedWorker, Message


class Ranker(KeyedWorker):
    """Hands tuples on with their rank once they have taken their place."""

    def __init__(self, query: WindowQuery) -> None:
        super().__init__(query, Placing(query.time is not None, query.order_by))
        self.count = np.zeros(0, np.int64)

    def add_keys(self, n: int) -> None:
        self.count = np.concatenate([self.count, np.zeros(n, np.int64)])

    def advance(self, watermark: int) -> list[Message]:
        placed = self.placing.advance(watermark)
        self.dropped += 0 if placed.late is None else len(placed.late)
        tuples = placed.tuples
        if tuples is None or len(tuples) == 0:
            return []
        codes = self.codes(tuples)
        order = self.placing.order(tuples, codes)
        ranks = next_ranks(codes[order], self.count)
        return [tuples.take(order).append_column(RANK, pa.array(ranks))]

    def state(self) -> State:
        return replace(super().state(), by_key={"count": self.count})

    def restore(self, state: State) -> None:
        super().restore(state)
        self.count = state.by_key["count"].copy()


def next_ranks(codes: Int64s, count: Int64s) -> Int64s:
    """The ranks of tuples in order of key; ``count``, those come before of each key, moves on.

    >>> count = np.array([5, 0])
    >>> next_ranks(np.array([0, 0, 1]), count), count
    (array([5, 6, 0]), array([7, 1]))
    """
    first = np.flatnonzero(np.diff(codes, prepend=-1))
    lengths = np.diff(first, append=len(codes))
    ranks = np.arange(len(codes)) + np.repeat(count[codes[first]] - first, lengths)
    count[codes[first]] += lengths
    return ranks
