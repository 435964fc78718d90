"""The chunk log: the contents of a window buffer as immutable chunks, each stored once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import AXIS
from windrow.engine.columns.storage import Stored, concatenate
from windrow.engine.windows.buffer import Columns, WindowBuffer

LEAST_CHUNK = 65_536
"""Chunks are not cut shorter than this, because each costs a call to store it."""
_SPARE = 65_536
_MOST_CHUNKS = 256
_MERGED = 16


@dataclass(frozen=True)
class Chunk:
    """Tuples in order of key, merged from the chunks numbered ``first`` to ``last``."""

    first: int
    last: int
    codes: Int64s
    columns: dict[str, Stored]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def name(self) -> str:
        return f"{self.first}-{self.last}"

    def is_expired(self, buffer: WindowBuffer) -> bool:
        """Whether the buffer has evicted all tuples of this chunk."""
        last = np.append(np.flatnonzero(np.diff(self.codes)), len(self.codes) - 1)
        keys, highest = self.codes[last], self.columns[AXIS].values[last]
        head = buffer.head[keys]
        is_held = head < buffer.tail[keys]
        oldest = buffer.columns[AXIS].values[np.where(is_held, head, 0)]
        return bool((~is_held | (oldest > highest)).all())


Sorting: TypeAlias = Callable[[Int64s, dict[str, Stored]], list[Any]]
"""Gives the sort keys of tuples: their key codes, the axis, and the columns that break ties."""


class ChunkLog:
    """A persistence log of a window buffer, for workers whose state is stored.

    Each batch appends chunks. A chunk is removed as a whole once all its tuples are evicted.
    Retained chunks are rewritten in two cases only: to compact the log when less than half of it is
    live, and to merge small neighbours when there are many. So a copy that is behind catches up by
    reading only the chunks that it is missing.

    As in CC-WBuf (Mencagli 2018, section 4.3), chunks are added and removed as a whole. But CC-WBuf
    is a buffer that several workers read at their own pace, and their feedback decides what is
    evicted. This log is read only to restore a copy of its worker, and its worker's buffer decides
    what is evicted.

    Large batches are cut at multiples of ``length``. It is gcd(length, slide) for time windows, so
    with origin 0 these chunks end where windows do.
    """

    def __init__(self, length: int | None = None, sorting: Sorting | None = None) -> None:
        self.length, self.sorting = length, sorting
        self.chunks: dict[str, Chunk] = {}
        self.next_number = 0
        self.base = 0
        """The first chunk after the last compaction. Copies older than that are useless."""

    def __len__(self) -> int:
        """The number of tuples, including evicted ones."""
        return sum(map(len, self.chunks.values()))

    def append(self, codes: Int64s, columns: Columns) -> None:
        """Add tuples, given in order of key. Their arrays must not change later."""
        for at in self._cuts(columns[AXIS].values):
            part = columns if at is None else {n: c.take(at) for n, c in columns.items()}
            own = codes if at is None else codes[at]
            chunk = Chunk(self.next_number, self.next_number, own, dict(part))
            self.chunks[chunk.name] = chunk
            self.next_number += 1

    def _cuts(self, axis: NDArray[Any]) -> Iterable[Int64s | None]:
        """The positions of the tuples of each chunk; None for all tuples."""
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
        """Remove chunks that are evicted as a whole; compact the log if few tuples are live."""
        for name in list(self.chunks):
            if not self.chunks[name].is_expired(buffer):
                break
            del self.chunks[name]
        if len(self) > 2 * buffer.alive + _SPARE:
            self.compact(buffer)
        while len(self.chunks) > _MOST_CHUNKS:
            self._merge()

    def compact(self, buffer: WindowBuffer) -> None:
        """Replace all chunks by the live tuples. Time O(live tuples), but rarely needed."""
        self.chunks, self.base = {}, self.next_number
        codes, columns = buffer.contents()
        if len(codes):
            self.append(codes, columns)

    def _merge(self) -> None:
        """Merge the neighbours with the fewest tuples."""
        chunks = list(self.chunks.values())
        ends = np.cumsum([0, *map(len, chunks)])
        at = int(np.argmin(ends[_MERGED:] - ends[:-_MERGED]))
        some = chunks[at : at + _MERGED]
        codes = np.concatenate([chunk.codes for chunk in some])
        columns = {name: concatenate([c.columns[name] for c in some]) for name in some[0].columns}
        assert self.sorting is not None
        order = np.lexsort(self.sorting(codes, columns)[::-1])
        columns = {name: column.take(order) for name, column in columns.items()}
        merged = Chunk(some[0].first, some[-1].last, codes[order], columns)
        self.chunks = {c.name: c for c in [*chunks[:at], merged, *chunks[at + _MERGED :]]}

    def restore(
        self, chunks: Mapping[str, Callable[[], Chunk]], base: int, next_number: int
    ) -> tuple[bool, list[Chunk]]:
        """Take over a later log.

        Return whether the buffer must be refilled, and the chunks to append to it.
        """
        if next_number < self.next_number:
            raise ValueError("the state is older than the worker, or belongs to another worker")
        known = self.next_number - 1
        spans = {name: tuple(map(int, name.split("-"))) for name in chunks}
        is_anew = base > known or any(first <= known < last for first, last in spans.values())
        if is_anew:
            known = -1
        names = sorted(spans, key=lambda name: spans[name])
        self.chunks = {name: self.chunks.get(name) or chunks[name]() for name in names}
        self.base, self.next_number = base, next_number
        return is_anew, [chunk for chunk in self.chunks.values() if chunk.first > known]
