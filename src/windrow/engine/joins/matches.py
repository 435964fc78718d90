"""Finds out whether a tuple has matched in any of the cells that have a copy of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import ARRIVAL
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import MATCHED, integers, kind_of, labelled, side_of
from windrow.engine.joins.results import closed_rows
from windrow.engine.joins.runs import places
from windrow.engine.stages.routes import Route
from windrow.engine.state.worker_state import State, chunks_of
from windrow.engine.workers.worker import Message, Worker

ENTRY = "entry "
LAST = b"windrow.last"
Entry: TypeAlias = tuple[int, Int64s, int]
"""Tuples that have matched: their side, their arrival numbers and the greatest of their places."""


@dataclass(frozen=True)
class ByTuple(Route):
    """Sends messages about a tuple to the worker of its arrival number, and results to any."""

    n: int

    def targets(self, message: Any, instance: int) -> list[Any]:
        if kind_of(message) == "result":
            chosen = len(message) % self.n
            return [message if j == chosen else None for j in range(self.n)]
        workers = integers(message, ARRIVAL) % self.n
        return [message.filter(pa.array(workers == j)) for j in range(self.n)]

    def describe(self) -> str:
        return f"closed and matched rows to arrival mod {self.n}"


class Matches(Worker):
    """Gives the rows of tuples whose windows are over, and passes other results on.

    All cells report a tuple at the same watermark, so no state is kept.
    """

    def __init__(self, query: JoinQuery) -> None:
        self.query = query
        self.pushed: dict[tuple[str, int], list[pa.Table]] = {}

    def push(self, message: Message) -> None:
        kind = kind_of(message)
        side = 0 if kind == "result" else side_of(message)
        self.pushed.setdefault((kind, side), []).append(message)

    def advance(self, watermark: int) -> list[Message]:
        pushed, self.pushed = self.pushed, {}
        given: list[Message] = pushed.get(("result", 0), [])
        for side in (0, 1):
            self.tell(side, pushed.get(("matched", side), []))
            if closed := pushed.get(("closed", side)):
                tuples = pa.concat_tables(closed, promote_options="permissive")
                told = np.isin(integers(tuples, ARRIVAL), self.matched(side))
                matched = told | np.asarray(tuples[MATCHED])
                given.append(closed_rows(self.query, side, tuples, matched))
                self.close(side, tuples)
        return given

    def tell(self, side: int, told: list[pa.Table]) -> None:
        """Note the numbers of tuples that have matched."""
        self.told = [integers(t, ARRIVAL) for t in told]

    def matched(self, side: int) -> Int64s:
        """The numbers of all tuples that have matched."""
        return np.concatenate([*self.told, np.zeros(0, np.int64)])

    def close(self, side: int, tuples: pa.Table) -> None:
        """Forget tuples whose windows are over."""


class Ledger(Matches):
    """Remembers which tuples have matched until their windows are over.

    Windows end in order of place. The numbers reported in one batch form one entry, which is
    dropped when the last of its tuples has closed.
    """

    def __init__(self, query: JoinQuery) -> None:
        super().__init__(query)
        self.entries: dict[int, Entry] = {}
        self.next_number = 0

    def tell(self, side: int, told: list[pa.Table]) -> None:
        if not told:
            return
        numbers = np.unique(np.concatenate([integers(t, ARRIVAL) for t in told]))
        last = max(int(places(self.query, t).max()) for t in told)
        self.entries[self.next_number] = side, numbers, last
        self.next_number += 1

    def matched(self, side: int) -> Int64s:
        own = [numbers for of, numbers, _ in self.entries.values() if of == side]
        return np.concatenate([*own, np.zeros(0, np.int64)])

    def close(self, side: int, tuples: pa.Table) -> None:
        closed = int(places(self.query, tuples).max())
        for number, (of, _, last) in list(self.entries.items()):
            if of == side and last <= closed:
                del self.entries[number]

    def state(self) -> State:
        scalars = {**super().state().scalars, "next_number": self.next_number}
        return State(scalars, chunks=chunks_of(ENTRY, self.entries, _to_table))

    def restore(self, state: State) -> None:
        super().restore(state)
        self.entries = state.numbered(ENTRY, self.entries, _from_table)
        self.next_number = state.scalars["next_number"]


def _to_table(entry: Entry) -> pa.Table:
    side, numbers, last = entry
    return labelled(pa.table({ARRIVAL: numbers}), "matched", side, {LAST: str(last).encode()})


def _from_table(stored: pa.Table) -> Entry:
    return side_of(stored), integers(stored, ARRIVAL), int(stored.schema.metadata[LAST])
