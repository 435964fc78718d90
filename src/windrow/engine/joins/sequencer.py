"""The sequencer: puts the tuples of both sides in one order, for count windows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.core.watermark import BEGINNING
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import ARRIVAL, RANK, TIME
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import SEEN, integers, labelled, placed, side_of
from windrow.engine.state.worker_state import State, as_is, chunks_of
from windrow.engine.windows.placing import split_at
from windrow.engine.workers.worker import PENDING, Message, Worker


class Sequencer(Worker):
    """Gives each tuple its rank and the number of tuples of the other side before it.

    With event time, a tuple is ranked once the watermark has passed it. Tuples are ordered by
    time, then left before right, then by arrival. Late tuples are dropped and counted. Without
    event time, the tuples of a batch are ranked at once, left and right alternating.

    Waiting tuples are stored once, in the chunks they came in. When a chunk is read back, its
    tuples before the watermark are left out: they have been ranked.
    """

    def __init__(self, query: JoinQuery) -> None:
        self.query = query
        self.is_timed = query.time is not None
        self.watermark = BEGINNING
        self.placed = (0, 0)
        self.waiting: dict[int, pa.Table] = {}
        self.next_number = 0

    def push(self, message: Message) -> None:
        self.waiting[self.next_number] = message
        self.next_number += 1

    @property
    def n_held(self) -> int:
        return sum(map(len, self.waiting.values()))

    def reached_by(self, low: int) -> int | None:
        return low if self.is_timed else None

    def advance(self, watermark: int) -> list[Message]:
        previous, self.watermark = self.watermark, max(self.watermark, watermark)
        ready: tuple[list[pa.Table], list[pa.Table]] = ([], [])
        for number, tuples in list(self.waiting.items()):
            waiting, passed = tuples.slice(0, 0), tuples
            if self.is_timed:
                passed, waiting = split_at(tuples, self.watermark)
                late, passed = split_at(passed, previous)
                self.dropped += len(late)
            ready[side_of(tuples)].append(passed)
            if len(waiting):
                self.waiting[number] = waiting
            else:
                del self.waiting[number]
        if not any(map(len, ready[0] + ready[1])):
            return []
        return self._placed(*(self._ordered(parts) for parts in ready))

    def _ordered(self, parts: list[pa.Table]) -> tuple[pa.Table | None, Int64s]:
        """The tuples of a side in order, and the values by which both sides are merged."""
        parts = [p for p in parts if len(p)]
        if not parts:
            return None, np.zeros(0, np.int64)
        tuples = pa.concat_tables(parts, promote_options="permissive")
        arrival = integers(tuples, ARRIVAL)
        if not self.is_timed:
            return tuples.take(pa.array(np.argsort(arrival))), np.arange(len(tuples))
        times = integers(tuples, TIME)
        order = np.lexsort((arrival, times))
        return tuples.take(pa.array(order)), times[order]

    def _placed(
        self, left: tuple[pa.Table | None, Int64s], right: tuple[pa.Table | None, Int64s]
    ) -> list[Message]:
        before = (
            np.searchsorted(right[1], left[1], side="left"),
            np.searchsorted(left[1], right[1], side="right"),
        )
        given: list[Message] = []
        for side, (tuples, _) in enumerate((left, right)):
            if tuples is not None:
                rank = pa.array(np.arange(len(tuples)) + self.placed[side])
                seen = pa.array(before[side] + self.placed[1 - side])
                ranked = tuples.append_column(RANK, rank).append_column(SEEN, seen)
                given.append(labelled(ranked, "tuples", side))
        self.placed = self.placed[0] + len(left[1]), self.placed[1] + len(right[1])
        return [*given, placed(self.placed)]

    def state(self) -> State:
        scalars = {
            **super().state().scalars,
            "watermark": self.watermark,
            "placed": self.placed,
            "next_number": self.next_number,
        }
        return State(scalars, chunks=chunks_of(PENDING, self.waiting, as_is))

    def restore(self, state: State) -> None:
        super().restore(state)
        scalars = state.scalars
        self.watermark, self.next_number = scalars["watermark"], scalars["next_number"]
        left, right = scalars["placed"]
        self.placed = left, right
        waiting = state.numbered(PENDING, self.waiting, as_is)
        self.waiting = {n: split_at(tuples, self.watermark)[1] for n, tuples in waiting.items()}
