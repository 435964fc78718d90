"""A worker that keeps the tuples of open windows and passes windows on as they fire."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.core.watermark import BEGINNING
from windrow.engine.columns.arrays import Int64s, sort_keys
from windrow.engine.columns.control import AXIS, CODE, PIECE, RANK, TIME
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.columns.storage import ColumnStorage, Stored, concatenate
from windrow.engine.evaluate.decisive import DecisiveTuples
from windrow.engine.state.chunks import Chunk, ChunkLog
from windrow.engine.state.worker_state import State, chunks_of
from windrow.engine.windows.buffer import WindowBuffer
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.engine.windows.given_ranks import GivenRanks
from windrow.engine.windows.placing import Passed, Placing
from windrow.engine.windows.windower import NOT_SHARED, Late, RefusedTuple, Share
from windrow.engine.workers.role import Role
from windrow.engine.workers.worker import KeyedWorker, Message

CHUNK = "chunk "
LEAST_FORGOTTEN = 10_000
"""With fewer keys than this, none are forgotten."""


@dataclass(frozen=True)
class _SortKeys:
    """What tuples are sorted by: their key codes, the axis, and the columns that break ties.

    It does not refer to its worker. A worker with a log would otherwise refer to itself, and a
    worker process that does not look for garbage could not forget it.
    """

    ties: dict[str, ColumnStorage]
    """The columns that order tuples with the same position on the axis."""

    def __call__(self, codes: Int64s, columns: dict[str, Stored]) -> list[Any]:
        sorting: list[Any] = [codes, columns[AXIS].values]
        for name, storage in self.ties.items():
            values = storage.to_arrow(columns[name])
            sorting.extend(sort_keys(pa.chunked_array([values])))
        return sorting


class WindowWorker(KeyedWorker):
    """Keeps the tuples of its windows in a buffer. Subclasses implement ``give`` for fired windows.

    Time per batch: O(tuples of the batch + fired windows), regardless of how many tuples are held.

    Lateness is judged by the query's own windows, even if panes are computed here. If a tuple is
    sent to several workers, the worker whose share ``outer`` contains the tuple's last window
    counts it as dropped.
    """

    def __init__(
        self,
        role: Role,
        outer: Share | None = None,
        placing: Placing | None = None,
    ) -> None:
        query, geometry, columns, share = role.query, role.geometry, role.columns, role.share
        super().__init__(query, placing or geometry.placing(query, columns))
        self.geometry, self.share, self.outer = geometry, share, outer or share
        self.windower = geometry.windower(geometry.model, share, geometry.pane)
        self.take_given_ranks(geometry.axis)
        is_own = geometry.model == query.model
        has_windows = is_own and geometry.axis != PIECE and query.model.shares_tuples
        self.decisive = DecisiveTuples.of(query) if has_windows else None
        """What finds the tuples worth keeping, if it is worth it."""
        self.judge = self.windower if is_own else geometry.judge(query.model, self.outer)
        self.buffer = WindowBuffer()
        self.log: ChunkLog | None = None
        """The stored form of the buffer; None until the state is first asked for."""
        self.forgotten = 0
        """How many times keys were forgotten and the others renumbered."""
        self.storages = {name: ColumnStorage(kind) for name, kind in columns.items()}
        self.sorting = _SortKeys({n: self.storages[n] for n in geometry.ties(query, columns)})

    def take_given_ranks(self, axis: str | None) -> None:
        """If tuples come with their ranks, wait for those whose turn it is.

        Without an axis, the worker gets all tuples of its keys.
        """
        if self.query.rank is not None:
            self.has_all = axis is None
            is_first = axis in (None, RANK)
            self.given_ranks = GivenRanks.of(self.query.model, self.share) if is_first else None

    def ranked(self) -> tuple[Int64s, Int64s]:
        shifts = self.windower.shifts
        count = self.windower.by_key["count"]
        return count, np.full(len(shifts), NOT_SHARED) if self.has_all else shifts

    @abstractmethod
    def give(self, columns: TupleColumns, windows: FiredWindows) -> list[Message]:
        """Pass fired windows on. There is at least one."""

    def reached_by(self, low: int) -> int | None:
        # What a ranker sends begins behind all that it has sent before, in time or in arrival.
        is_behind_ranker = self.geometry.axis == RANK and self.query.rank is None
        return BEGINNING if is_behind_ranker else super().reached_by(low)

    def add_keys(self, n: int) -> None:
        self.buffer.add_keys(len(self.keys))
        new = np.arange(len(self.keys) - n, len(self.keys))
        self.windower.add_keys(self.own_shifts(new))
        if self.judge is not self.windower:
            self.judge.add_keys(self.outer.shifts(self.hashes[new]))

    @property
    def n_held(self) -> int:
        return self.n_waiting + self.buffer.alive

    def own_shifts(self, codes: Int64s) -> Int64s:
        """The number by which each key's windows are shifted among the workers that share them."""
        return self.share.shifts(self.hashes[codes])

    def advance(self, watermark: int) -> list[Message]:
        given = self.take(self.released(watermark))
        reached = self.geometry.reached(watermark)
        if AXIS not in self.buffer.columns:
            self.windower.pass_by(reached)
            return given
        try:
            windows = self.windower.fire(self.buffer, reached)
        except RefusedTuple as e:
            raise e.of_key(self.keys.value(e.key)) from None
        if len(windows):
            given += self.give(self.named(self.buffer.columns), self._with_numbers(windows))
        if self.log is not None:
            self.log.evict(self.buffer)
        self._forget_keys()
        return given

    def _with_numbers(self, windows: FiredWindows) -> FiredWindows:
        buffer = self.buffer
        offset, held = buffer.numbered - buffer.tail, buffer.numbered - buffer.tail + buffer.head
        return replace(windows, offset=offset[windows.keys], held=held[windows.keys])

    def renumber(self) -> None:
        """Begin with an empty buffer, in which tuples get new numbers."""
        self.buffer = WindowBuffer()

    def _forget_keys(self) -> None:
        """Forget keys without tuples once they are the majority.

        Only for windowers that keep no numbers per key.
        """
        is_held = self.buffer.tail > self.buffer.head
        n_held = int(np.count_nonzero(is_held))
        if self.windower.by_key or len(self.keys) < max(2 * n_held, LEAST_FORGOTTEN):
            return
        held = np.flatnonzero(is_held)
        codes, columns = self.buffer.contents()
        values = pa.table(self.keys.take(held), names=list(self.keys.columns))
        self.keys, self.hashes = KeyTable(self.query.keys), self.hashes[:0]
        self.windower.forget_keys()
        self.judge.forget_keys()
        self.renumber()
        self.codes(values)
        self.buffer.append(np.searchsorted(held, codes), columns)
        if self.log is not None:
            self.log.compact(self.buffer)
        self.forgotten += 1

    def named(self, columns: dict[str, Stored]) -> TupleColumns:
        """Columns of tuples in the form that evaluators take."""
        axis = ColumnStorage(pa.from_numpy_dtype(columns[AXIS].values.dtype))
        return TupleColumns(self.storages | {AXIS: axis}, columns)

    def take(self, passed: Passed) -> list[Message]:
        """Put tuples into the buffer and return messages that must be sent at once."""
        tuples = passed.tuples
        if passed.late is not None:
            late = self._not_too_late(passed.late, passed.previous)
            tuples = late if tuples is None else pa.concat_tables([late, tuples])
        if tuples is not None and len(tuples):
            self._place(tuples, self.codes(tuples))
        return []

    def _place(self, tuples: pa.Table, codes: Int64s) -> None:
        """Put tuples of these keys into the buffer, in order."""
        order = self.placing.order(tuples, codes)
        codes, axis = codes[order], self._positions(tuples, order)
        if axis is None:
            axis = self.windower.place(codes)
            assert axis is not None
        elif self.geometry.is_placed:
            # A piece counts up to the rank of its last tuple.
            self.windower.place(codes, (axis + self.geometry.span) * self.geometry.pane - 1)
        else:
            self.windower.place(codes)
        if self.decisive is not None:
            kept = self.decisive.among(tuples, order, codes, axis, with_last=False)
            if kept is not None:
                tuples, codes, axis = tuples.take(pa.array(order[kept])), codes[kept], axis[kept]
                order = np.arange(len(kept))
        self._keep(codes, self._stored(tuples, order, axis))

    def _keep(self, codes: Int64s, columns: dict[str, Stored]) -> None:
        """Put tuples into the buffer, and into the log if there is one."""
        has_merged = self._append(codes, columns)
        if self.log is None:
            return
        if has_merged and self.windower.may_precede_evicted:
            # Restoring the log must not bring back evicted tuples that come after a late one.
            self.log.compact(self.buffer)
        else:
            self.log.append(codes, columns)

    def _not_too_late(self, late: pa.Table, previous: int) -> pa.Table:
        codes, times = self.codes(late), np.asarray(late[TIME].to_numpy())
        judged = self.judge.judge_late(times, codes, previous, self.buffer)
        self.dropped += int(self._counted_here(judged, codes).sum())
        return late.filter(pa.array(judged.is_kept))

    def _counted_here(self, late: Late, codes: Int64s) -> NDArray[np.bool_]:
        """The lost tuples that this worker counts as dropped."""
        if self.outer.n == 1:
            return late.is_lost
        assert late.last_id is not None
        shifts = self.outer.shifts(self.hashes[codes])
        return late.is_lost & self.outer.hosts(shifts, late.last_id)

    def _positions(self, tuples: pa.Table, order: Int64s) -> NDArray[Any] | None:
        """The positions of tuples on the axis, in order; None if they are not ranked yet."""
        if self.geometry.axis is None:
            return None
        axis = np.asarray(tuples[self.geometry.axis].to_numpy())
        wide = np.float64 if axis.dtype.kind == "f" else np.int64
        return axis[order].astype(wide, copy=False)

    def _stored(self, tuples: pa.Table, order: Int64s, axis: NDArray[Any]) -> dict[str, Stored]:
        """The columns of tuples to keep, in order, with the positions on the axis."""
        columns = {name: s.store(tuples[name]).take(order) for name, s in self.storages.items()}
        return {**columns, AXIS: Stored(axis)}

    def _append(self, codes: Int64s, columns: dict[str, Stored]) -> bool:
        """Append tuples to the buffer, or merge them with the tuples held of their key.

        Return whether any tuple belongs before one that is held.
        """
        merged = self._keys_to_merge(codes, columns[AXIS].values)
        if not len(merged):
            self.buffer.append(codes, columns)
            return False
        is_merged = np.isin(codes, merged)
        for part, put in ((~is_merged, self.buffer.append), (is_merged, self._merge)):
            at = np.flatnonzero(part)
            if len(at):
                put(codes[at], {name: c.take(at) for name, c in columns.items()})
        return True

    def _keys_to_merge(self, codes: Int64s, axis: NDArray[Any]) -> Int64s:
        """The keys of tuples, in order of key, of which one belongs before a tuple that is held."""
        if self.query.model.ranks_tuples or not len(codes):
            return np.zeros(0, np.int64)
        first = np.flatnonzero(np.diff(codes, prepend=-1))
        keys, earliest = codes[first], np.fmin.reduceat(axis, first)
        tail = self.buffer.tail[keys]
        is_held = tail > self.buffer.head[keys]
        if not is_held.any():
            return np.zeros(0, np.int64)
        last = self.buffer.axis[np.where(is_held, tail - 1, 0)]
        # If something orders ties, a tie may belong before the tuple that is held.
        is_before = (earliest <= last) if self.sorting.ties else (earliest < last)
        merged: Int64s = keys[is_held & is_before]
        return merged

    def _merge(self, codes: Int64s, columns: dict[str, Stored]) -> None:
        """Merge tuples with the n tuples held of their keys, in order. Time O(n log n)."""
        keys = np.unique(codes)
        held = self.buffer.positions_of(keys)
        lengths = self.buffer.tail[keys] - self.buffer.head[keys]
        codes = np.concatenate([np.repeat(keys, lengths), codes])
        both = {
            name: concatenate([self.buffer.columns[name].take(held), column])
            for name, column in columns.items()
        }
        order = np.lexsort(self.sorting(codes, both)[::-1])
        self.buffer.replace(keys, codes[order], {n: c.take(order) for n, c in both.items()})
        self.windower.merged(keys)

    def _kept_log(self) -> ChunkLog:
        """The log. It is created on first use, with the contents of the buffer."""
        if self.log is None:
            length = self.geometry.model.pane_length if self.geometry.axis == TIME else None
            self.log = ChunkLog(length, self.sorting)
            self.log.compact(self.buffer)
        return self.log

    def _to_table(self, chunk: Chunk) -> pa.Table:
        return pa.table({CODE: chunk.codes, **self.named(chunk.columns).to_arrow()})

    def completed(self, stored: pa.Table) -> pa.Table:
        """A stored chunk with all columns, including those that older versions did not store."""
        return stored

    def _chunk(self, name: str, read: Callable[[], pa.Table]) -> Chunk:
        """Read the chunk stored under this name."""
        table = self.completed(read())
        columns = {n: s.store(table[n]) for n, s in self.storages.items()}
        columns[AXIS] = Stored(np.asarray(table[AXIS].to_numpy()))
        first, last = map(int, name.split("-"))
        return Chunk(first, last, np.asarray(table[CODE].to_numpy()), columns)

    def state(self) -> State:
        state, log = super().state(), self._kept_log()
        by_key = {**self.windower.by_key, "alive": self.buffer.tail - self.buffer.head}
        own = {"next_chunk": log.next_number, "base": log.base, "forgotten": self.forgotten}
        return State(
            {**state.scalars, **self.windower.scalars(), **own},
            state.keys,
            by_key,
            {**state.chunks, **chunks_of(CHUNK, log.chunks, self._to_table)},
        )

    def restore(self, state: State) -> None:
        super().restore(state)
        self.forgotten = state.scalars["forgotten"]
        base, next_number = state.scalars["base"], state.scalars["next_chunk"]
        stored = state.of_kind(CHUNK)
        chunks = {name: partial(self._chunk, name, read) for name, read in stored.items()}
        is_anew, lacking = self._kept_log().restore(chunks, base, next_number)
        if is_anew:
            self.renumber()
            self.buffer.add_keys(len(self.keys))
        for chunk in lacking:
            self._append(chunk.codes, chunk.columns)
        self.buffer.head = self.buffer.tail - state.by_key["alive"]
        self.windower.restore(state.by_key, state.scalars)
