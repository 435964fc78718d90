"""Whether tuples have matched, over all cells that have a copy of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.columns import Int64s
from windrow.engine.control import ARRIVAL
from windrow.engine.joins.messages import MATCHED, integers, kind_of, side_of
from windrow.engine.joins.results import closed_rows
from windrow.engine.joins.spec import JoinQuery
from windrow.engine.joins.state import Changes, StoredWorker
from windrow.engine.routes import Route
from windrow.engine.workers.worker import Message


@dataclass(frozen=True)
class ByTuple(Route):
    """What is told of a tuple to the worker of its arrival number; results to any."""

    n: int

    def targets(self, message: Any, instance: int) -> list[Any]:
        if kind_of(message) == "result":
            chosen = len(message) % self.n
            return [message if j == chosen else None for j in range(self.n)]
        workers = integers(message, ARRIVAL) % self.n
        return [message.filter(pa.array(workers == j)) for j in range(self.n)]

    def describe(self) -> str:
        return f"what is known of a tuple to arrival mod {self.n}"


class Matches(StoredWorker):
    """Gives the rows of tuples whose windows are over; what else is a result passes by.

    All cells tell of a tuple with the same watermark, so nothing is kept.
    """

    holds_state = False

    def __init__(self, query: JoinQuery) -> None:
        self.query = query
        self.results: list[pa.Table] = []
        self.closed: tuple[list[pa.Table], list[pa.Table]] = ([], [])
        self.matched: tuple[list[Int64s], list[Int64s]] = ([], [])

    def push(self, message: Message) -> None:
        kind = kind_of(message)
        if kind == "result":
            self.results.append(message)
        elif kind == "closed":
            self.closed[side_of(message)].append(message)
        else:
            self.matched[side_of(message)].append(integers(message, ARRIVAL))

    def advance(self, watermark: int) -> list[Message]:
        given: list[Message] = [*self.results]
        self.results.clear()
        for side in (0, 1):
            told = np.concatenate([*self.matched[side], np.zeros(0, np.int64)])
            self.matched[side].clear()
            closed: Int64s = np.zeros(0, np.int64)
            if self.closed[side]:
                tuples = pa.concat_tables(self.closed[side], promote_options="permissive")
                self.closed[side].clear()
                closed = integers(tuples, ARRIVAL)
                matched = np.isin(closed, self.known(side, told)) | np.asarray(tuples[MATCHED])
                given.append(closed_rows(self.query, side, tuples, matched))
            self.keep(side, told, closed)
        return given

    def known(self, side: int, told: Int64s) -> Int64s:
        """The arrival numbers of tuples that have matched."""
        return told

    def keep(self, side: int, told: Int64s, closed: Int64s) -> None:
        """Remember what is told of tuples that are not closed."""

    def changes(self) -> Changes:
        return Changes()

    def absorb(self, changes: Changes) -> None:
        """Nothing is kept."""


class Ledger(Matches):
    """Remembers which tuples have matched until their windows are over."""

    holds_state = True

    def __init__(self, query: JoinQuery) -> None:
        super().__init__(query)
        self.entries: dict[int, tuple[int, Int64s]] = {}
        """The numbers told with a batch, and of which side; never changed, removed whole."""
        self.next_number = 0
        self.open: tuple[set[int], set[int]] = (set(), set())
        self.unsaved: list[int] = []
        self.removed: list[int] = []

    def known(self, side: int, told: Int64s) -> Int64s:
        return np.concatenate([told, np.array(sorted(self.open[side]), np.int64)])

    def keep(self, side: int, told: Int64s, closed: Int64s) -> None:
        is_open = self.open[side]
        is_open.difference_update(closed.tolist())
        new = set(told.tolist()) - set(closed.tolist()) - is_open
        if new:
            is_open |= new
            self.entries[self.next_number] = side, np.array(sorted(new), np.int64)
            self.unsaved.append(self.next_number)
            self.next_number += 1
        if len(closed):
            for number, (own, arrivals) in list(self.entries.items()):
                if own == side and is_open.isdisjoint(arrivals.tolist()):
                    del self.entries[number]
                    self.removed.append(number)

    def changes(self) -> Changes:
        new = {n: self.entries[n] for n in self.unsaved if n in self.entries}
        removed = [n for n in self.removed if n not in self.unsaved]
        self.unsaved, self.removed = [], []
        still_open = [sorted(numbers) for numbers in self.open]
        scalars = {"next_number": self.next_number, "open": still_open}
        return Changes(scalars, new, removed)

    def absorb(self, changes: Changes) -> None:
        for number in changes.removed:
            self.entries.pop(number, None)
        self.entries.update(changes.chunks)
        self.next_number = changes.scalars["next_number"]
        left, right = changes.scalars["open"]
        self.open = set(left), set(right)
