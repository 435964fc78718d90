"""Fired windows, and the columns of their tuples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.storage import ColumnStorage, Stored
from windrow.engine.windows.segments import spread

_GROUP = 1 << 16
"""Tuples of windows that are computed together."""
_SHARED = 8
"""The tuples of a group, per tuple of one of its windows."""


@dataclass(frozen=True)
class FiredWindows:
    """Windows in order of key. The tuples of a window are ``lo:hi`` of the columns."""

    keys: Int64s
    ids: Int64s
    start: NDArray[Any]
    end: NDArray[Any]
    lo: Int64s
    hi: Int64s
    offset: Int64s | None = None
    """The number of a tuple of the window's key, less its position; None if tuples have no numbers.

    Tuples that a worker holds are numbered per key. A number stays while the tuple is held, unless
    a late tuple came to belong before it.
    """
    held: Int64s | None = None
    """The number of the first tuple of the window's key that later windows may have."""

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, positions: Int64s) -> FiredWindows:
        columns = (self.keys, self.ids, self.start, self.end, self.lo, self.hi)
        numbers = (None if n is None else n[positions] for n in (self.offset, self.held))
        return FiredWindows(*(c[positions] for c in columns), *numbers)

    def in_groups(self) -> Iterator[FiredWindows]:
        """The windows in groups of neighbours that have few tuples, most of them in one group.

        Kernels are faster over columns that the caches of a processor can hold.
        """
        opens = np.diff(self.keys, prepend=-1) != 0
        before = np.where(opens, 0, np.concatenate([[0], self.hi[:-1]]))
        total = np.cumsum(np.maximum(self.hi - np.maximum(self.lo, before), 0))
        most = max(_GROUP, int(_SHARED * np.mean(self.hi - self.lo)))
        numbers = total // most
        bounds = np.flatnonzero(np.diff(numbers, prepend=-1, append=numbers[-1] + 1))
        for begin, end in pairwise(bounds.tolist()):
            yield self.take(np.arange(begin, end))


class TupleColumns:
    """Named columns of tuples, in stored form."""

    def __init__(self, storages: Mapping[str, ColumnStorage], stored: Mapping[str, Stored]) -> None:
        self.storages, self.stored = storages, stored

    @staticmethod
    def of(table: pa.Table) -> TupleColumns:
        storages = {f.name: ColumnStorage(f.type) for f in table.schema}
        stored = {name: s.store(table[name]) for name, s in storages.items()}
        return TupleColumns(storages, stored)

    def shown(self, names: list[str]) -> dict[str, Any]:
        """The columns that the windows shown to a user are slices of."""
        return {name: self._shown(self.storages[name], self.stored[name]) for name in names}

    def _shown(self, storage: ColumnStorage, stored: Stored) -> Any:
        if storage.is_decimal:
            return _DecimalsWhenCut(storage, stored)
        if storage.is_object or stored.valid is not None:
            return _ShownWhenCut(storage, stored)
        return storage.show(stored)

    def python(self, name: str, lo: int, hi: int) -> list[Any]:
        return self.storages[name].to_python(self.stored[name].slice(lo, hi))

    def python_at(self, name: str, positions: Int64s) -> list[Any]:
        return self.storages[name].to_python(self.stored[name].take(positions))

    def compact(self, windows: FiredWindows) -> tuple[TupleColumns, FiredWindows]:
        """The tuples of these windows only, each once, and the windows as ranges of them."""
        first = np.flatnonzero(np.diff(windows.keys, prepend=-1))
        lo = np.minimum.reduceat(windows.lo, first)
        lengths = np.maximum.reduceat(windows.hi, first) - lo
        moved = np.repeat(np.cumsum(lengths) - lengths - lo, np.diff(first, append=len(windows)))
        positions = spread(lo, lengths)
        stored = {name: column.take(positions) for name, column in self.stored.items()}
        ranges = windows.lo + moved, windows.hi + moved
        kept = FiredWindows(windows.keys, windows.ids, windows.start, windows.end, *ranges)
        return TupleColumns(self.storages, stored), kept

    def to_arrow(self) -> dict[str, pa.Array]:
        return {name: self.storages[name].to_arrow(s) for name, s in self.stored.items()}


class _ShownWhenCut:
    """A column with nulls or objects, converted to the form a user sees slice by slice."""

    def __init__(self, storage: ColumnStorage, stored: Stored) -> None:
        self.storage, self.stored = storage, stored

    def __len__(self) -> int:
        return len(self.stored.values)

    def __getitem__(self, part: slice) -> NDArray[Any]:
        return self.storage.show(self.stored.slice(part.start, part.stop))


class _DecimalsWhenCut(_ShownWhenCut):
    """A column of decimals. Each is converted once, when a slice with it is first cut."""

    def __init__(self, storage: ColumnStorage, stored: Stored) -> None:
        super().__init__(storage, stored)
        self.objects: NDArray[Any] | None = None
        self.is_known = np.zeros(0, np.bool_)

    def __getitem__(self, part: slice) -> NDArray[Any]:
        if self.objects is None:
            self.objects = np.empty(len(self), object)
            self.is_known = np.zeros(len(self), np.bool_)
        missing = part.start + np.flatnonzero(~self.is_known[part])
        self.objects[missing] = self.storage.to_python(self.stored.take(missing))
        self.is_known[missing] = True
        shown = self.objects[part]
        shown.flags.writeable = False
        return shown
