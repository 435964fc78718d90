"""Emitters' routes: which worker, or workers, each tuple, partial or batch goes to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.core.models import MappedWindow
from windrow.engine.columns.control import ARRIVAL, PIECE
from windrow.engine.columns.key_table import hash_keys
from windrow.engine.windows.batch import WindowBatch

Mask = NDArray[np.bool_]


class Route(ABC):
    """Sends what an emitter is given to n workers."""

    n: int

    @abstractmethod
    def targets(self, message: Any, instance: int) -> list[Any]:
        """What each of the n workers of this instance is sent of a message; None for nothing."""

    @abstractmethod
    def describe(self) -> str:
        """In words, for ``explain``."""


def _by_number(table: pa.Table, workers: NDArray[Any], n: int) -> list[Any]:
    """Each row to the worker of its number."""
    if n == 1:
        return [table]
    return [table.filter(pa.array(workers == j)) for j in range(n)]


def _hashes(table: pa.Table, keys: tuple[str, ...], n: int) -> NDArray[np.int64]:
    hashes = hash_keys([table[k] for k in keys], len(table))
    return (hashes % np.uint64(n)).astype(np.int64)


@dataclass(frozen=True)
class ByKey(Route):
    """Each key to one worker: its hash modulo n."""

    keys: tuple[str, ...]
    n: int

    def targets(self, message: Any, instance: int) -> list[Any]:
        if self.n == 1:
            return [message]
        return _by_number(message, _hashes(message, self.keys, self.n), self.n)

    def describe(self) -> str:
        return f"hash({', '.join(self.keys) or 'no key'}) mod {self.n}"


@dataclass(frozen=True)
class ByWindow(Route):
    """Each tuple to all workers with a window of it: i of key k is (hash(k) + i // batch) mod n's.

    001_3806c06d13ee46ae, equation 1 and algorithm 2. ``position`` is the column that tells a
    tuple's windows: its time, its rank, or a partial's pane. With tumbling panes as the windows it
    deals panes round-robin.

    Inside one of ``outer`` instances of a window farm, which compute every ``outer``-th window,
    the workers of all instances count as one farm: instance j has its workers j, outer + j, ...
    """

    model: MappedWindow
    position: str
    keys: tuple[str, ...]
    n: int
    batch: int = 1
    outer: int = 1
    what: str = "window"

    def masks(self, table: pa.Table, instance: int = 0) -> list[Mask]:
        """Which rows each worker is sent."""
        n = self.n * self.outer
        first, last = self.model.mapping(np.asarray(table[self.position].to_numpy()))
        first, last = (
            first // self.batch,
            np.where(first <= last, last // self.batch, first // self.batch - 1),
        )
        first = first.astype(np.int64)
        ahead = np.minimum(last - first, n)
        shift = _hashes(table, self.keys, n) + first
        workers = range(instance % self.outer, n, self.outer)
        return [(j - shift) % n <= ahead for j in workers]

    def targets(self, message: Any, instance: int) -> list[Any]:
        return [message.filter(pa.array(mask)) for mask in self.masks(message, instance)]

    def describe(self) -> str:
        every = "i" if self.batch == 1 else f"i // {self.batch}"
        among = f"{self.n}" if self.outer == 1 else f"{self.n * self.outer} of all instances"
        return f"{self.what} i of key k to (hash(k) + {every}) mod {among}"


@dataclass(frozen=True)
class ToHost(Route):
    """Each tuple once to the process that hosts all workers with a window of it.

    003_0a1d36924f88a626: what several workers own is shared, never copied.
    """

    by: ByWindow
    n: int = 1

    def targets(self, message: Any, instance: int) -> list[Any]:
        is_wanted = np.logical_or.reduce(self.by.masks(message, instance))
        return [message if is_wanted.all() else message.filter(pa.array(is_wanted))]

    def describe(self) -> str:
        return f"{self.by.describe()}, all in one process"


@dataclass(frozen=True)
class Dealt(Route):
    """Tuples round-robin in order of arrival, whatever their key: the parts of windows."""

    n: int

    def targets(self, message: Any, instance: int) -> list[Any]:
        return _by_number(message, np.asarray(message[ARRIVAL].to_numpy()) % self.n, self.n)

    def describe(self) -> str:
        return f"tuples round-robin mod {self.n}"


@dataclass(frozen=True)
class ByPiece(Route):
    """The parts of window i of key k to (hash(k) + i) mod n, over all ``outer`` instances."""

    keys: tuple[str, ...]
    n: int
    outer: int = 1

    def targets(self, message: Any, instance: int) -> list[Any]:
        if isinstance(message, WindowBatch):  # on its way to the next round
            return [message if j == message.part % self.n else None for j in range(self.n)]
        pieces = np.asarray(message[PIECE].to_numpy())
        n = self.n * self.outer
        workers = (_hashes(message, self.keys, n) + pieces) % n // self.outer
        return _by_number(message, workers, self.n)

    def describe(self) -> str:
        among = f"{self.n}" if self.outer == 1 else f"{self.n * self.outer} of all instances"
        return f"parts of window i of key k to (hash(k) + i) mod {among}"


@dataclass
class InTurn(Route):
    """Batches of windows to executors in turn, all parts of a batch to the same."""

    n: int
    turn: int = -1

    def targets(self, message: Any, instance: int) -> list[Any]:
        assert isinstance(message, WindowBatch)
        if message.part == 0:
            self.turn = (self.turn + 1) % self.n
        return [message if j == self.turn else None for j in range(self.n)]

    def describe(self) -> str:
        return f"batches of windows to {self.n} in turn"


@dataclass(frozen=True)
class ByPart(Route):
    """Each part of a batch of windows to the executor of its number.

    What a round has made of the windows goes to all of them.
    """

    n: int

    def targets(self, message: Any, instance: int) -> list[Any]:
        if not isinstance(message, WindowBatch):
            return [message] * self.n
        return [message if j == message.part else None for j in range(self.n)]

    def describe(self) -> str:
        return f"tuples of windows round-robin mod {self.n}"
