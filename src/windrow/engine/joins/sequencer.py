"""The sequencer: puts the tuples of both sides in one order, for count windows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.engine.columns import Int64s
from windrow.engine.control import ARRIVAL, RANK, TIME
from windrow.engine.joins.messages import SEEN, integers, labelled, placed, side_of
from windrow.engine.joins.spec import JoinQuery
from windrow.engine.joins.state import Changes, StoredWorker
from windrow.engine.placing import split_at
from windrow.engine.workers.worker import Message
from windrow.kernels.interval_windows import NEVER


class Sequencer(StoredWorker):
    """Hands tuples on with their rank in their stream and the number of the others before them.

    With event time a tuple takes its place once the watermark has passed it; of one time left
    tuples are first, then arrival decides. Late tuples are dropped and counted. Without event time
    the tuples of a batch take their place as it comes, left and right ones in turn.

    What waits is stored as it came, once: of a chunk, the tuples before the watermark are gone.
    """

    def __init__(self, query: JoinQuery) -> None:
        self.query = query
        self.is_timed = query.time is not None
        self.watermark = NEVER
        self.placed = (0, 0)
        self.waiting: dict[int, pa.Table] = {}
        self.next_number = 0
        self.saved: set[int] = set()
        self.removed: list[int] = []

    def push(self, message: Message) -> None:
        self.waiting[self.next_number] = message
        self.next_number += 1

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
            self.waiting[number] = waiting
            if len(waiting) == 0:
                self._remove(number)
        if not any(map(len, ready[0] + ready[1])):
            return []
        return self._placed(*(self._ordered(parts) for parts in ready))

    def _remove(self, number: int) -> None:
        del self.waiting[number]
        if number in self.saved:
            self.saved.discard(number)
            self.removed.append(number)

    def _ordered(self, parts: list[pa.Table]) -> tuple[pa.Table | None, Int64s]:
        """The tuples of a side in order, and what puts both sides in one order."""
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

    def changes(self) -> Changes:
        new = {n: tuples for n, tuples in self.waiting.items() if n not in self.saved}
        self.saved |= set(new)
        removed, self.removed = self.removed, []
        scalars = {
            "watermark": self.watermark,
            "placed": self.placed,
            "next_number": self.next_number,
            "dropped": self.dropped,
        }
        return Changes(scalars, new, removed)

    def absorb(self, changes: Changes) -> None:
        scalars = changes.scalars
        self.watermark, self.dropped = scalars["watermark"], scalars["dropped"]
        self.placed, self.next_number = scalars["placed"], scalars["next_number"]
        for number in changes.removed:
            self.waiting.pop(number, None)
            self.saved.discard(number)
        self.waiting.update(changes.chunks)
        self.saved |= set(changes.chunks)
        for number, tuples in self.waiting.items():
            self.waiting[number] = split_at(tuples, self.watermark)[1]
