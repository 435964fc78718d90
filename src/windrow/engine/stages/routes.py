"""Routes decide which workers an emitter sends each tuple, partial or batch to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.core.models import MappedWindow
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import ARRIVAL, PIECE
from windrow.engine.columns.hot_keys import HotKeys
from windrow.engine.columns.key_table import hash_keys, number_keys
from windrow.engine.windows.batch import WindowBatch
from windrow.engine.windows.farm_panes import FarmPanes
from windrow.kernels.groups import gather_groups
from windrow.kernels.pane_runs import pane_runs

Mask = NDArray[np.bool_]
_MOST_TAKEN = 1 << 30
"""Bytes. A column of texts cannot have more than twice as many in one chunk."""


class Route(ABC):
    """Distributes the messages of an emitter over ``n`` workers."""

    n: int
    reduces: ClassVar[bool] = False
    """Whether workers are sent far fewer rows than there are tuples."""
    gives_partials: ClassVar[bool] = False
    """Whether these rows are partials, whose order does not matter."""

    @abstractmethod
    def targets(self, message: Any, instance: int) -> list[Any]:
        """What each of the instance's ``n`` workers gets of a message; None for nothing."""

    @abstractmethod
    def describe(self) -> str:
        """A description for ``explain``."""


def _by_number(table: pa.Table, workers: NDArray[Any], n: int) -> list[Any]:
    """Send each row to the worker with the given number."""
    if n == 1:
        return [table]
    if len(workers) and (workers == workers[0]).all():
        return [table if j == workers[0] else table.slice(0, 0) for j in range(n)]
    if not _is_quick_to_take(table):
        return [table.filter(pa.array(workers == j)) for j in range(n)]
    positions, bounds = gather_groups(workers, n)
    taken = table.take(pa.array(positions))
    return [taken.slice(lo, hi - lo) for lo, hi in pairwise(bounds.tolist())]


def _is_quick_to_take(table: pa.Table) -> bool:
    """Whether Arrow can take rows of all columns at once: it joins the chunks of each."""
    kinds = [field.type for field in table.schema]
    is_plain = not any(pa.types.is_nested(k) or pa.types.is_dictionary(k) for k in kinds)
    return is_plain and table.nbytes < _MOST_TAKEN


def _hashes(table: pa.Table, keys: tuple[str, ...], n: int) -> NDArray[np.int64]:
    return number_keys([table[k] for k in keys], len(table), n)


@dataclass(frozen=True)
class ByKey(Route):
    """Sends each key to one worker: hash(key) mod n."""

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
    """Sends each tuple to all workers that compute a window of it.

    Worker (hash(k) + i // batch) mod n computes window i of key k (Mencagli 2019, equation 1 and
    Algorithm 2). ``position`` is the column that determines a tuple's windows: its time, its rank
    or, for partials, the pane.

    Nested in a window farm of ``outer`` instances, each of which computes every ``outer``-th window
    (or batch), the workers of all instances are numbered as one farm. Instance j has the workers
    j, outer + j, 2*outer + j, ...
    """

    model: MappedWindow
    position: str
    keys: tuple[str, ...]
    n: int
    batch: int = 1
    outer: int = 1

    def masks(self, table: pa.Table, instance: int = 0) -> list[Mask]:
        """The rows that each worker gets, as one mask per worker."""
        n = self.n * self.outer
        positions = np.asarray(table[self.position].to_numpy())
        shifts = _hashes(table, self.keys, n)
        # Neighbours of one key and pane have the same windows.
        begins = self._runs(shifts, positions)
        lengths = np.diff(begins, append=len(positions))
        masks = self._masks(positions[begins], shifts[begins], instance)
        return [np.repeat(mask, lengths) for mask in masks]

    def _runs(self, shifts: Int64s, positions: Int64s) -> Int64s:
        """Where tuples begin that have the same windows."""
        pane = self.model.pane_length
        if pane is None:
            return np.arange(len(positions))
        return pane_runs(shifts, positions, pane, self.model.panes_begin())

    def _masks(self, positions: Int64s, shifts: Int64s, instance: int) -> list[Mask]:
        n = self.n * self.outer
        first, last = self.model.mapping(positions)
        first, last = (
            first // self.batch,
            np.where(first <= last, last // self.batch, first // self.batch - 1),
        )
        first = first.astype(np.int64)
        ahead = np.minimum(last - first, n)
        shift = shifts + first
        workers = range(instance % self.outer, n, self.outer)
        return [(j - shift) % n <= ahead for j in workers]

    def targets(self, message: Any, instance: int) -> list[Any]:
        return [message.filter(pa.array(mask)) for mask in self.masks(message, instance)]

    def describe(self) -> str:
        every = "i" if self.batch == 1 else f"i // {self.batch}"
        among = f"{self.n}" if self.outer == 1 else f"{self.n * self.outer} of all instances"
        return f"window i of key k to (hash(k) + {every}) mod {among}"


@dataclass(frozen=True)
class ByHotKey(Route):
    """Sends the tuples of hot keys to the workers of their windows, each other key to one worker.

    If key partitioning is limited by the most frequent key (De Matteis 2016, section 3.2), only
    that key needs window farming.
    """

    hot: HotKeys
    by_window: ByWindow

    @property
    def n(self) -> int:  # type: ignore[override]  # read only
        return self.by_window.n

    def targets(self, message: Any, instance: int) -> list[Any]:
        keys = self.by_window.keys
        hashes = hash_keys([message[k] for k in keys], len(message))
        workers = (hashes % np.uint64(self.n)).astype(np.int64)
        is_hot = self.hot.among(hashes)
        if not is_hot.any():
            return _by_number(message, workers, self.n)
        hot = message.select([*keys, self.by_window.position]).filter(pa.array(is_hot))
        sent = []
        for j, mask in enumerate(self.by_window.masks(hot)):
            is_sent = workers == j
            is_sent[is_hot] = mask
            sent.append(message.filter(pa.array(is_sent)))
        return sent

    def describe(self) -> str:
        by_key = ByKey(self.by_window.keys, self.n).describe()
        return f"{by_key}, of {self.hot.describe()} {self.by_window.describe()}"


@dataclass(frozen=True)
class ByPane(Route):
    """Sends each tuple to the worker of its pane. The panes of a key go to workers in turn."""

    panes: FarmPanes
    position: str
    keys: tuple[str, ...]
    n: int
    rotates: bool = False
    """Whether each round of n panes begins one worker later.

    Panes at regular distances that take long do not all go to the same worker then.
    """

    def targets(self, message: Any, instance: int) -> list[Any]:
        if self.n == 1:
            return [message]
        shifts = _hashes(message, self.keys, self.n * self.panes.n)
        positions = np.asarray(message[self.position].to_numpy())
        panes = self.panes.numbers(positions, shifts, instance) // self.panes.span
        rounds = panes // self.n if self.rotates else 0
        return _by_number(message, (shifts + panes + rounds) % self.n, self.n)

    def describe(self) -> str:
        wide = "" if self.panes.span == 1 else f", panes of {self.panes.length}"
        rounds = f" + i // {self.n}" if self.rotates else ""
        return f"pane i of key k to (hash(k) + i{rounds}) mod {self.n}{wide}"


@dataclass(frozen=True)
class ToHost(Route):
    """Sends each tuple once, to the one worker that stands for all workers of a window farm.

    It replaces ``by`` where the whole farm runs in one process: tuples are neither copied nor
    shared between workers. Tuples in no window are left out.
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
    """Deals tuples round-robin, regardless of key, to form the parts of windows.

    It counts the tuples that it is sent itself, from the arrival of the first. Those of a hot key,
    or those that an emitter has left of all tuples, may be numbered at regular distances.
    """

    n: int

    def targets(self, message: Any, instance: int) -> list[Any]:
        if len(message) == 0:
            return [None] * self.n
        first = message[ARRIVAL][0].as_py() % self.n
        return _by_number(message, (first + np.arange(len(message))) % self.n, self.n)

    def describe(self) -> str:
        return f"tuples round-robin mod {self.n}"


@dataclass(frozen=True)
class ByPiece(Route):
    """Sends all parts of a window to one worker.

    Window i of key k goes to worker (hash(k) + i) mod (n * outer) // outer of its instance: the
    workers of all ``outer`` instances of a window farm are numbered as one farm. The same sends
    partials of panes to the workers of the panes.
    """

    keys: tuple[str, ...]
    n: int
    outer: int = 1
    what: str = "parts of window"

    def targets(self, message: Any, instance: int) -> list[Any]:
        if isinstance(message, WindowBatch):  # kept for the next round
            return [message if j == message.part % self.n else None for j in range(self.n)]
        pieces = np.asarray(message[PIECE].to_numpy())
        n = self.n * self.outer
        workers = (_hashes(message, self.keys, n) + pieces) % n // self.outer
        return _by_number(message, workers, self.n)

    def describe(self) -> str:
        among = f"{self.n}" if self.outer == 1 else f"{self.n * self.outer} of all instances"
        return f"{self.what} i of key k to (hash(k) + i) mod {among}"


@dataclass
class InTurn(Route):
    """Sends batches of windows, or panes, to instances in turn. All parts of one go to the same.

    The first batch decides where to begin, so that emitters that run side by side, or anew with
    each batch of a stream, do not all begin with the same instance. Results, which a windower has
    computed itself, go to any one.
    """

    n: int
    what: str = "windows"
    turn: int | None = None

    def targets(self, message: Any, instance: int) -> list[Any]:
        if not isinstance(message, WindowBatch):
            return [message if j == len(message) % self.n else None for j in range(self.n)]
        if self.turn is None:
            self.turn = message.mark % self.n
        elif message.part == 0:
            self.turn = (self.turn + 1) % self.n
        return [message if j == self.turn else None for j in range(self.n)]

    def describe(self) -> str:
        return f"batches of {self.what} to {self.n} in turn"


@dataclass(frozen=True)
class ByPart(Route):
    """Sends each part of a batch of windows to the executor with the part's number.

    The results of a round go to all executors.
    """

    n: int
    are_contiguous: bool = False

    def targets(self, message: Any, instance: int) -> list[Any]:
        if not isinstance(message, WindowBatch):
            return [message] * self.n
        return [message if j == message.part else None for j in range(self.n)]

    def describe(self) -> str:
        if self.are_contiguous:
            return f"{self.n} contiguous parts of each window"
        return f"tuples of windows round-robin mod {self.n}"
