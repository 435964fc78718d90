"""What every worker is: driven by the watermark, and stoppable between any two batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.columns import Int64s
from windrow.engine.key_table import KeyTable, hash_keys
from windrow.engine.placing import Placing
from windrow.engine.spec import WindowQuery

Message = Any
"""What workers hand on: a table of tuples, partials or results, or a batch of windows."""
Snapshot = dict[str, Any]


class Worker(ABC):
    """Takes tuples and, as the watermark moves on, gives what follows from them."""

    dropped = 0
    """Tuples that found no window left."""

    @abstractmethod
    def push(self, message: Message) -> None:
        """Take tuples."""

    @abstractmethod
    def advance(self, watermark: int) -> list[Message]:
        """Move on to the watermark (ALWAYS: the end of the stream); what follows from that."""

    def snapshot(self) -> Snapshot:
        """All of its state, for ``restore``."""
        return {"dropped": self.dropped}

    def restore(self, snapshot: Snapshot) -> None:
        """Take up the state of another worker like this one; this one must be new."""
        self.dropped = snapshot["dropped"]


class KeyedWorker(Worker):
    """Places the tuples of its keys in order; new keys are numbered as they come."""

    def __init__(self, query: WindowQuery, placing: Placing) -> None:
        self.query, self.placing = query, placing
        self.keys = KeyTable(query.keys)
        self.hashes = np.zeros(0, np.uint64)

    def push(self, message: Message) -> None:
        self.placing.add(message)

    def codes(self, tuples: pa.Table) -> Int64s:
        """The codes of the tuples' keys."""
        known = len(self.keys)
        codes = self.keys.codes(tuples)
        if len(self.keys) > known:
            new = np.arange(known, len(self.keys))
            hashes = hash_keys(self.keys.take(new), len(new))
            self.hashes = np.concatenate([self.hashes, hashes])
            self.add_keys(len(new))
        return codes

    def shifts(self, codes: Int64s, n: int) -> Int64s:
        """The hashes of keys modulo a number of workers."""
        return (self.hashes[codes] % np.uint64(n)).astype(np.int64)

    @abstractmethod
    def add_keys(self, n: int) -> None:
        """Make room for n more keys."""

    def snapshot(self) -> Snapshot:
        keys = self.keys.table() if len(self.keys) else None
        placing = {"pending": list(self.placing.pending), "watermark": self.placing.watermark}
        return {**super().snapshot(), **placing, "keys": keys}

    def restore(self, snapshot: Snapshot) -> None:
        super().restore(snapshot)
        self.placing.pending = list(snapshot["pending"])
        self.placing.watermark = snapshot["watermark"]
        if snapshot["keys"] is not None:
            self.codes(snapshot["keys"])
