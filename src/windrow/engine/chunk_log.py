"""The chunk log: what a window buffer holds, as immutable chunks that are stored once each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.engine.columns import Int64s
from windrow.engine.control import AXIS
from windrow.engine.storage import Stored
from windrow.engine.window_buffer import Columns, WindowBuffer

LEAST_CHUNK = 5000
"""Chunks are not cut shorter: 002_a2000d7e0f4e21a9 finds no gain from there on (Figure 12)."""
_SPARE = 65536


@dataclass(frozen=True)
class Chunk:
    """Tuples in order of key, their columns, and the range of the axis they span."""

    number: int
    codes: Int64s
    columns: dict[str, Stored]
    low: Any
    high: Any

    def __len__(self) -> int:
        return len(self.codes)

    def is_expired(self, buffer: WindowBuffer) -> bool:
        """Whether the buffer has evicted all of its tuples."""
        last = np.append(np.flatnonzero(np.diff(self.codes)), len(self.codes) - 1)
        keys, highest = self.codes[last], self.columns[AXIS].values[last]
        head = buffer.head[keys]
        is_held = head < buffer.tail[keys]
        oldest = buffer.columns[AXIS].values[np.where(is_held, head, 0)]
        return bool((~is_held | (oldest > highest)).all())


class ChunkLog:
    """The papers' chunk-based window buffer, CC-WBuf (002_a2000d7e0f4e21a9, section 4.3).

    A batch appends chunks; a chunk is removed whole once all its tuples are evicted; what is
    retained is never rewritten, but for compaction when less than half of the log is alive. So a
    snapshot shares all chunks with the one before but the new ones, and a copy that is behind
    catches up by reading only the chunks it lacks.

    ``length``, gcd(length, slide) of time windows, makes chunks end where windows do.
    """

    def __init__(self, length: int | None = None) -> None:
        self.length = length
        self.chunks: dict[int, Chunk] = {}
        self.next_number = 0
        self.base = 0
        """The first chunk since compaction: of those before it no copy has any use."""

    def __len__(self) -> int:
        """The number of tuples, evicted ones included."""
        return sum(map(len, self.chunks.values()))

    def append(self, codes: Int64s, columns: Columns) -> None:
        """Add tuples given in order of key; their arrays must not change later."""
        for at in self._cuts(columns[AXIS].values):
            part = columns if at is None else {n: c.take(at) for n, c in columns.items()}
            axis = part[AXIS].values
            own = codes if at is None else codes[at]
            bounds = axis.min(), axis.max()
            self.chunks[self.next_number] = Chunk(self.next_number, own, dict(part), *bounds)
            self.next_number += 1

    def _cuts(self, axis: NDArray[Any]) -> Iterable[Int64s | None]:
        """The tuples of each chunk; None for all in one."""
        if len(axis) == 0:
            return []
        if self.length is None or len(axis) < 2 * LEAST_CHUNK:
            return [None]
        span = int(axis.max()) - int(axis.min()) + 1
        chunks = min(len(axis) // LEAST_CHUNK, -(-span // self.length))
        length = -(-span // self.length // chunks) * self.length
        cells = axis // length
        return [np.flatnonzero(cells == cell) for cell in np.unique(cells)]

    def evict(self, buffer: WindowBuffer) -> None:
        """Remove chunks wholly evicted; compact if few of the tuples are alive."""
        for number in list(self.chunks):
            if not self.chunks[number].is_expired(buffer):
                break
            del self.chunks[number]
        if len(self) > 2 * buffer.alive + _SPARE:
            self.compact(buffer)

    def compact(self, buffer: WindowBuffer) -> None:
        """Replace all chunks by one of the tuples alive. Time O(tuples alive), rarely."""
        self.chunks, self.base = {}, self.next_number
        codes, columns = buffer.contents()
        if len(codes):
            self.append(codes, columns)
