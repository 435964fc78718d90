"""The window buffer: each key's retained tuples, in order and contiguous in every column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.engine.columns import Int64s

Columns = dict[str, NDArray[Any]]
_LEAST_ROOM = 8


def spread(lo: Int64s, lengths: Int64s) -> Int64s:
    """The positions of all ranges ``lo[i] .. lo[i] + lengths[i]``, one after the other.

    >>> spread(np.array([5, 0]), np.array([2, 1]))
    array([5, 6, 0])
    """
    before = np.cumsum(lengths) - lengths
    return np.repeat(lo - before, lengths) + np.arange(lengths.sum(), dtype=np.int64)


class WindowBuffer:
    """Columns in which each key has a segment that grows at its end and is evicted at its start.

    A window's tuples are a slice ``column[lo:hi]``: a view, never a copy. A view stays as it is for
    ever, since evicted room is not written again: a segment that is full moves to fresh room
    twice as long, and when little of the whole is alive, all of it moves to fresh columns.

    Time O(1) amortised a tuple appended; space O(tuples alive + keys).
    """

    def __init__(self) -> None:
        self.columns: Columns = {}
        self.head = np.zeros(0, np.int64)
        self.tail = np.zeros(0, np.int64)
        self._limit = np.zeros(0, np.int64)
        self._end = 0

    @property
    def n_keys(self) -> int:
        return len(self.head)

    @property
    def alive(self) -> int:
        """The number of tuples held."""
        return int((self.tail - self.head).sum())

    def add_keys(self, n_keys: int) -> None:
        """Make room for keys up to code ``n_keys - 1``."""
        new = np.zeros(max(n_keys - self.n_keys, 0), np.int64)
        self.head = np.concatenate([self.head, new])
        self.tail = np.concatenate([self.tail, new])
        self._limit = np.concatenate([self._limit, new])

    def append(self, codes: Int64s, columns: Columns) -> None:
        """Append tuples given in order of key; within a key in their order."""
        self._adopt(columns)
        if len(codes) == 0:
            return
        first = np.flatnonzero(np.diff(codes, prepend=-1))
        keys = codes[first]
        lengths = np.diff(first, append=len(codes))
        self._make_room(keys, lengths)
        positions = spread(self.tail[keys], lengths)
        for name, values in columns.items():
            self.columns[name][positions] = values
        self.tail[keys] += lengths

    def replace(self, keys: Int64s, codes: Int64s, columns: Columns) -> None:
        """Give these keys other tuples in place of theirs."""
        self.head[keys] = self.tail[keys] = self._limit[keys] = 0
        self.append(codes, columns)

    def positions_of(self, keys: Int64s) -> Int64s:
        """The positions of all tuples of these keys."""
        return spread(self.head[keys], self.tail[keys] - self.head[keys])

    def _adopt(self, columns: Columns) -> None:
        """Have every column, of a type that holds the new values, too."""
        for name, values in columns.items():
            held = self.columns.get(name)
            if held is None:
                self.columns[name] = np.zeros(self._room(), values.dtype)
            elif held.dtype != values.dtype:
                wider = np.promote_types(held.dtype, values.dtype)
                self.columns[name] = held.astype(wider)

    def _room(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def _make_room(self, keys: Int64s, lengths: Int64s) -> None:
        is_full = self.tail[keys] + lengths > self._limit[keys]
        if not is_full.any():
            return
        keys, lengths = keys[is_full], lengths[is_full]
        alive = self.tail[keys] - self.head[keys]
        capacity = np.maximum(2 * alive + lengths, _LEAST_ROOM)
        needed = int(capacity.sum())
        if self._end + needed > self._room():
            self._renew(needed)
            alive = self.tail[keys] - self.head[keys]
        start = self._end + np.cumsum(capacity) - capacity
        source, target = spread(self.head[keys], alive), spread(start, alive)
        for column in self.columns.values():
            column[target] = column[source]
        self.head[keys], self.tail[keys] = start, start + alive
        self._limit[keys] = start + capacity
        self._end += needed

    def _renew(self, needed: int) -> None:
        """Move all tuples alive to fresh columns with room for ``needed`` more."""
        keys = np.flatnonzero(self.tail > self.head)
        alive = self.tail[keys] - self.head[keys]
        capacity = alive + alive // 2
        start = np.cumsum(capacity) - capacity
        source, target = spread(self.head[keys], alive), spread(start, alive)
        end = int(capacity.sum())
        for name, column in self.columns.items():
            fresh = np.zeros(end + 2 * needed, column.dtype)
            fresh[target] = column[source]
            self.columns[name] = fresh
        self.head[:] = self.tail[:] = self._limit[:] = 0
        self.head[keys], self.tail[keys] = start, start + alive
        self._limit[keys] = start + capacity
        self._end = end
