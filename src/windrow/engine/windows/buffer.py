"""The window buffer: the retained tuples of each key, in order and contiguous in every column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import AXIS
from windrow.engine.columns.storage import Stored
from windrow.engine.windows.segments import Segments, spread

Columns = Mapping[str, Stored]
_LEAST_ROOM = 8


class WindowBuffer:
    """Columns in which each key has a segment that grows at its end and is evicted at its start.

    The tuples of a window are a slice ``column[lo:hi]``: a view, never a copy. A view does not
    change, because evicted room is not written again. A full segment moves to fresh room, at least
    twice as long as its tuples. When no room is left, all live tuples move to fresh columns.

    Time: amortised O(1) per tuple appended. Space: O(live tuples + keys).
    """

    def __init__(self) -> None:
        self._values: dict[str, NDArray[Any]] = {}
        self._valid: dict[str, NDArray[np.bool_]] = {}
        self.head = np.zeros(0, np.int64)
        self.tail = np.zeros(0, np.int64)
        self.numbered = np.zeros(0, np.int64)
        """How many tuples each key has had. The last one held has the number before that."""
        self._limit = np.zeros(0, np.int64)
        self._end = 0

    @property
    def columns(self) -> dict[str, Stored]:
        """All columns, including evicted tuples and free room."""
        return {name: Stored(v, self._valid.get(name)) for name, v in self._values.items()}

    @property
    def axis(self) -> NDArray[Any]:
        """The tuples' positions on the axis of their windows. Empty before the first tuple."""
        return self._values.get(AXIS, np.zeros(0, np.int64))

    @property
    def n_keys(self) -> int:
        return len(self.head)

    @property
    def alive(self) -> int:
        """The number of live tuples."""
        return int((self.tail - self.head).sum())

    def add_keys(self, n_keys: int) -> None:
        """Make room for keys up to code ``n_keys - 1``."""
        new = np.zeros(max(n_keys - self.n_keys, 0), np.int64)
        self.head = np.concatenate([self.head, new])
        self.tail = np.concatenate([self.tail, new])
        self.numbered = np.concatenate([self.numbered, new])
        self._limit = np.concatenate([self._limit, new])

    def append(self, codes: Int64s, columns: Columns) -> None:
        """Append tuples, given in order of key and in their own order within a key."""
        self._adopt(columns)
        if len(codes) == 0:
            return
        first = np.flatnonzero(np.diff(codes, prepend=-1))
        keys = codes[first]
        lengths = np.diff(first, append=len(codes))
        self._make_room(keys, lengths)
        segments = Segments(first, self.tail[keys], lengths)
        for name, column in columns.items():
            segments.copy(column.values, self._values[name])
            if name in self._valid:
                valid = np.ones(len(codes), np.bool_) if column.valid is None else column.valid
                segments.copy(valid, self._valid[name])
        self.tail[keys] += lengths
        self.numbered[keys] += lengths

    def replace(self, keys: Int64s, codes: Int64s, columns: Columns) -> None:
        """Replace the tuples of these keys. All of them get new numbers."""
        self.head[keys] = self.tail[keys] = self._limit[keys] = 0
        self.append(codes, columns)

    def contents(self) -> tuple[Int64s, dict[str, Stored]]:
        """A copy of all live tuples, in order of key."""
        keys = np.arange(self.n_keys)
        at = self.positions_of(keys)
        columns = {name: column.take(at) for name, column in self.columns.items()}
        return np.repeat(keys, self.tail - self.head), columns

    def positions_of(self, keys: Int64s) -> Int64s:
        """The positions of all live tuples of these keys."""
        return spread(self.head[keys], self.tail[keys] - self.head[keys])

    def _adopt(self, columns: Columns) -> None:
        """Add missing columns, and widen those whose type cannot hold the new values."""
        for name, column in columns.items():
            held = self._values.get(name)
            if held is None:
                self._values[name] = np.zeros(self._room(), column.values.dtype)
            elif held.dtype != column.values.dtype:
                wider = np.promote_types(held.dtype, column.values.dtype)
                self._values[name] = held.astype(wider)
            if column.valid is not None and name not in self._valid:
                self._valid[name] = np.ones(self._room(), np.bool_)

    def _room(self) -> int:
        return len(next(iter(self._values.values()), ()))

    def _arrays(self) -> Iterator[tuple[dict[str, Any], str]]:
        yield from ((self._values, name) for name in self._values)
        yield from ((self._valid, name) for name in self._valid)

    def _make_room(self, keys: Int64s, lengths: Int64s) -> None:
        """Move the segments that have no room for ``lengths`` more tuples."""
        capacity = np.maximum(2 * (self.tail[keys] - self.head[keys]) + lengths, _LEAST_ROOM)
        is_full = self.tail[keys] + lengths > self._limit[keys]
        if self._end + int(capacity[is_full].sum()) > self._room():
            self._renew(int(capacity.sum()))
            is_full = self.tail[keys] + lengths > self._limit[keys]
        keys, capacity = keys[is_full], capacity[is_full]
        alive = self.tail[keys] - self.head[keys]
        start = self._end + np.cumsum(capacity) - capacity
        segments = Segments(self.head[keys], start, alive)
        for arrays, name in self._arrays():
            segments.copy(arrays[name], arrays[name])
        self.head[keys], self.tail[keys] = start, start + alive
        self._limit[keys] = start + capacity
        self._end += int(capacity.sum())

    def _renew(self, needed: int) -> None:
        """Move all live tuples to fresh columns with room for at least ``needed`` more."""
        keys = np.flatnonzero(self.tail > self.head)
        alive = self.tail[keys] - self.head[keys]
        capacity = alive + alive // 2
        start = np.cumsum(capacity) - capacity
        segments = Segments(self.head[keys], start, alive)
        end = int(capacity.sum())
        for arrays, name in self._arrays():
            fresh = np.zeros(end + 2 * needed, arrays[name].dtype)
            segments.copy(arrays[name], fresh)
            arrays[name] = fresh
        self.head[:] = self.tail[:] = self._limit[:] = 0
        self.head[keys], self.tail[keys] = start, start + alive
        self._limit[keys] = start + capacity
        self._end = end
