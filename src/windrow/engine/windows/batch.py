"""Packed batches of consecutive windows, which the windower sends to agnostic executors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import AXIS, RANK
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.windows.fired import FiredWindows, TupleColumns

_MANY = 1 << 15
"""Tuples of a batch that take kernels longer than it takes to send and receive a message."""
_SHARED = 4
"""The tuples of a batch, per tuple of one of its windows."""
_KEY, _ID, _START, _END, _LO, _HI = "key", "id", "start", "end", "lo", "hi"


@dataclass(frozen=True)
class WindowBatch:
    """Some windows: their tuples (each once), the windows as ranges of the tuples, and their keys.

    Each tuple has its rank within the batch, which orders tuples across parts. If the batch was
    split, ``part`` is the number of the part of each window that it holds.
    """

    tuples: pa.Table
    windows: pa.Table
    keys: pa.Table
    part: int = 0

    @staticmethod
    def pack(
        columns: TupleColumns, windows: FiredWindows, keys: KeyTable, *, with_axis: bool = False
    ) -> WindowBatch:
        """Pack windows given in order of key; with the tuples' positions on the axis if needed."""
        payload = {n: c for n, c in columns.stored.items() if n != AXIS or with_axis}
        compact, kept = TupleColumns(columns.storages, payload).compact(windows)
        distinct, own = np.unique(kept.keys, return_inverse=True)
        fields = (own, kept.ids, kept.start, kept.end, kept.lo, kept.hi)
        names = [_KEY, _ID, _START, _END, _LO, _HI]
        packed = pa.table([np.ascontiguousarray(f) for f in fields], names=names)
        key_columns = keys.take(distinct)
        key_table = pa.table(key_columns, names=list(keys.columns)) if key_columns else pa.table({})
        ranks = pa.array(np.arange(kept.hi.max()))
        return WindowBatch(pa.table({**compact.to_arrow(), RANK: ranks}), packed, key_table)

    @property
    def mark(self) -> int:
        """A number that differs between most batches."""
        return int(self._column(_ID)[0]) + len(self.tuples)

    def split(self, parts: int) -> Iterator[WindowBatch]:
        """Deal the tuples round-robin to ``parts`` batches. Each gets a part of every window."""
        if parts == 1:
            yield self
            return
        length = len(self.tuples)
        lo, hi = self._column(_LO), self._column(_HI)
        for part in range(parts):
            tuples = self.tuples.take(np.arange(part, length, parts))
            dealt = (-(-(bound - part) // parts) for bound in (lo, hi))
            yield WindowBatch(tuples, self._ranging(*dealt), self.keys, part)

    def cut(self, parts: int) -> Iterator[WindowBatch]:
        """Cut each window into ``parts`` contiguous runs of tuples, in order.

        A tuple goes to all parts that have a run with it: runs of overlapping windows overlap.
        """
        lo, hi = self._column(_LO), self._column(_HI)
        edges = [lo + (hi - lo) * part // parts for part in range(parts + 1)]
        for part, (begin, end) in enumerate(itertools.pairwise(edges)):
            change = np.zeros(len(self.tuples) + 1, np.int64)
            np.add.at(change, begin, 1)
            np.add.at(change, end, -1)
            is_needed = np.cumsum(change[:-1]) > 0
            place = np.concatenate([[0], np.cumsum(is_needed)])
            tuples = self.tuples.filter(pa.array(is_needed))
            yield WindowBatch(tuples, self._ranging(place[begin], place[end]), self.keys, part)

    def _ranging(self, lo: Int64s, hi: Int64s) -> pa.Table:
        """The windows with other ranges of tuples."""
        windows = self.windows
        for name, bound in ((_LO, lo), (_HI, hi)):
            at = windows.schema.get_field_index(name)
            windows = windows.set_column(at, name, pa.array(bound))
        return windows

    def unpack(self) -> tuple[TupleColumns, FiredWindows]:
        """The columns of the tuples, and the windows that have at least one tuple here.

        The batch keeps them: in one process, all rounds of ``decompose`` share them.
        """
        return self._unpacked

    @cached_property
    def _unpacked(self) -> tuple[TupleColumns, FiredWindows]:
        names = (_KEY, _ID, _START, _END, _LO, _HI)
        windows = FiredWindows(*(self._column(name) for name in names))
        kept = windows.take(np.flatnonzero(windows.lo < windows.hi))
        return TupleColumns.of(self.tuples), kept

    def _column(self, name: str) -> Int64s:
        return np.asarray(self.windows[name].to_numpy())

    def key_table(self, columns: tuple[str, ...]) -> KeyTable:
        """The keys, numbered by the codes that the windows use."""
        keys = KeyTable(columns)
        if columns:
            keys.codes(self.keys)
        return keys


def pack_batches(
    columns: TupleColumns,
    windows: FiredWindows,
    keys: KeyTable,
    batch: int,
    *,
    with_axis: bool = False,
) -> Iterator[WindowBatch]:
    """Pack windows in order of key and id, ``batch`` windows per batch."""
    ordered = windows.take(np.lexsort((windows.ids, windows.keys)))
    for begin in range(0, len(ordered), batch):
        at = np.arange(begin, min(begin + batch, len(ordered)))
        yield WindowBatch.pack(columns, ordered.take(at), keys, with_axis=with_axis)


def pack_fired(
    columns: TupleColumns,
    windows: FiredWindows,
    keys: KeyTable,
    least: int,
    most: int,
    *,
    for_kernels: bool = False,
) -> Iterator[WindowBatch]:
    """Pack windows that fire together: ``least`` windows per batch, or more in ``most`` batches.

    Kernels take time per tuple more than per window. For them, batches have many tuples as well,
    few of which are in several.
    """
    if for_kernels:
        most = min(most, _batches_for_kernels(windows))
    return pack_batches(columns, windows, keys, max(least, -(-len(windows) // most)))


def _batches_for_kernels(windows: FiredWindows) -> int:
    first = np.flatnonzero(np.diff(windows.keys, prepend=-1))
    lengths = np.maximum.reduceat(windows.hi, first) - np.minimum.reduceat(windows.lo, first)
    per_window = float(np.mean(windows.hi - windows.lo))
    return max(1, int(lengths.sum() / max(_MANY, _SHARED * per_window)))
