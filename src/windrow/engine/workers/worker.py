"""Base classes of workers: driven by the watermark, with state that can be saved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.key_table import KeyTable, hash_keys
from windrow.engine.state.worker_state import State, as_is, chunks_of
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.given_ranks import GivenRanks
from windrow.engine.windows.placing import Passed, Placing

Message = Any
"""The output of workers: a table of tuples, partials or results, or a batch of windows."""
PENDING = "pending "


class Worker(ABC):
    """Takes messages and, as the watermark advances, returns the messages that follow."""

    dropped = 0
    """How many tuples came too late for all their windows."""
    fired = 0
    """How many windows, not pieces of them, this copy of it has computed."""

    @property
    def stored(self) -> tuple[Worker, ...]:
        """The workers whose states make up its state: itself, unless it is a chain of workers."""
        return (self,)

    @abstractmethod
    def push(self, message: Message) -> None:
        """Take a message."""

    @abstractmethod
    def advance(self, watermark: int) -> list[Message]:
        """Advance to the watermark and return the messages that follow."""

    def reached_by(self, low: int) -> int | None:
        """How far it may advance if messages come in order and none before ``low`` is missing.

        None if it needs all of its messages first.
        """
        return None

    @property
    def n_waiting(self) -> int:
        """How many tuples are waiting for the watermark."""
        return 0

    @property
    def n_held(self) -> int:
        """How many tuples, or partials of them, it remembers, with those that are waiting."""
        return self.n_waiting

    @property
    def n_keys(self) -> int:
        """How many keys it remembers."""
        return 0

    def edges(self, size: int) -> list[int]:
        """Ascending watermarks. About ``size`` waiting tuples take their place between two."""
        return []

    def state(self) -> State:
        """Its whole state between two batches, as views.

        From the first call on, the worker may keep a log of the tuples that it holds.
        """
        return State({"dropped": self.dropped})

    def restore(self, state: State) -> None:
        """Take over a later state of the same worker.

        The state has only the keys that are missing here, and only missing chunks are read.
        """
        self.dropped = state.scalars["dropped"]


class KeyedWorker(Worker):
    """Places the tuples of its keys in order. New keys are numbered as they arrive."""

    given_ranks: GivenRanks | None = None
    """Where tuples come with their ranks: which of them take their place."""

    def __init__(self, query: WindowQuery, placing: Placing) -> None:
        self.query, self.placing = query, placing
        self.keys = KeyTable(query.keys)
        self.hashes = np.zeros(0, np.uint64)

    def push(self, message: Message) -> None:
        self.placing.add(message)

    def reached_by(self, low: int) -> int | None:
        if self.placing.is_timed:
            return low
        if self.given_ranks is not None:
            return BEGINNING
        return None if self.placing.order_by or self.query.time is not None else BEGINNING

    @property
    def n_waiting(self) -> int:
        return self.placing.waiting

    @property
    def n_keys(self) -> int:
        return len(self.keys) if self.query.keys else 0

    def edges(self, size: int) -> list[int]:
        return self.placing.edges(size)

    def codes(self, tuples: pa.Table) -> Int64s:
        """The code of each tuple's key. New keys are added."""
        known = len(self.keys)
        codes = self.keys.codes(tuples)
        if len(self.keys) > known:
            new = np.arange(known, len(self.keys))
            hashes = hash_keys(self.keys.take(new), len(new))
            self.hashes = np.concatenate([self.hashes, hashes])
            self.add_keys(len(new))
        return codes

    def shifts(self, codes: Int64s, n: int) -> Int64s:
        """The hashes of keys modulo ``n``, the number of workers."""
        return (self.hashes[codes] % np.uint64(n)).astype(np.int64)

    @abstractmethod
    def add_keys(self, n: int) -> None:
        """Make room for ``n`` more keys."""

    def released(self, watermark: int) -> Passed:
        """The tuples that take their place now; those that come with ranks, in their turn."""
        passed = self.placing.advance(watermark)
        tuples = passed.tuples
        if self.given_ranks is None or tuples is None:
            return passed
        codes, is_last = self.codes(tuples), watermark == END_OF_STREAM
        ready, waiting = self.given_ranks.split(tuples, codes, *self.ranked(), self.keys, is_last)
        self.placing.add(waiting)
        return Passed((ready,), None, passed.previous)

    def ranked(self) -> tuple[Int64s, Int64s]:
        """How many tuples of each key have taken their place, and the shifts of keys."""
        raise NotImplementedError

    def state(self) -> State:
        own = {"watermark": self.placing.watermark, "next_pending": self.placing.next_number}
        scalars = {**super().state().scalars, **own}
        return State(scalars, self.keys, {}, chunks_of(PENDING, self.placing.pending, as_is))

    def restore(self, state: State) -> None:
        super().restore(state)
        watermark, number = state.scalars["watermark"], state.scalars["next_pending"]
        pending = state.numbered(PENDING, self.placing.pending, as_is)
        self.placing.restore(pending, watermark, number)
        if state.new_keys is not None:
            self.codes(state.new_keys)
