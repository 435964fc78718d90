"""The ranker: ranks tuples for workers that see only some of the tuples of a key.

Tuples that come with their ranks it only puts in order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import RANK
from windrow.engine.evaluate.decisive import DecisiveTuples
from windrow.engine.state.worker_state import State
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.given_ranks import GivenRanks
from windrow.engine.windows.placing import Placing, next_ranks
from windrow.engine.windows.windower import NOT_SHARED, Share
from windrow.engine.workers.worker import KeyedWorker, Message


class Ranker(KeyedWorker):
    """Sends tuples on with their rank once they have taken their place.

    If few tuples of a pane decide the results of windows, it sends these, and the last of each
    pane, which tells that the pane has all its tuples.
    """

    def __init__(self, query: WindowQuery) -> None:
        super().__init__(query, Placing(query.time is not None, query.order_by))
        self.count = np.zeros(0, np.int64)
        self.decisive = DecisiveTuples.of(query)
        if query.rank is not None:
            self.given_ranks = GivenRanks.of(query.model, Share())

    def add_keys(self, n: int) -> None:
        self.count = np.concatenate([self.count, np.zeros(n, np.int64)])

    def advance(self, watermark: int) -> list[Message]:
        passed = self.released(watermark)
        self.dropped += 0 if passed.late is None else len(passed.late)
        tuples = passed.tuples
        if tuples is None or len(tuples) == 0:
            return []
        codes = self.codes(tuples)
        if self.given_ranks is not None:
            np.maximum.at(self.count, codes, np.asarray(tuples[RANK].to_numpy()) + 1)
            return [tuples]
        order = self.placing.order(tuples, codes)
        codes = codes[order]
        ranks = next_ranks(codes, self.count)
        if self.decisive is not None:
            kept = self.decisive.among(tuples, order, codes, ranks, with_last=True)
            if kept is not None:
                order, ranks = order[kept], ranks[kept]
        is_in_place = len(order) == len(tuples) and bool((order[1:] > order[:-1]).all())
        tuples = tuples if is_in_place else tuples.take(pa.array(order))
        return [tuples.append_column(RANK, pa.array(ranks))]

    def ranked(self) -> tuple[Int64s, Int64s]:
        return self.count, np.full(len(self.count), NOT_SHARED)

    def state(self) -> State:
        return replace(super().state(), by_key={"count": self.count})

    def restore(self, state: State) -> None:
        super().restore(state)
        self.count = state.by_key["count"].copy()
