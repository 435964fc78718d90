"""Placing: a tuple takes its place in the order of its key once the watermark has passed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.columns.arrays import Int64s, ascend, is_ordered_by, sort_keys, sorting_order
from windrow.engine.columns.control import ARRIVAL, TIME
from windrow.kernels.groups import sort_codes

_MANY = 64
"""The most batches that are held back separately. If there are more, they are merged."""


@dataclass(frozen=True)
class Passed:
    """The tuples that are released when the watermark advances from ``previous``."""

    parts: tuple[pa.Table, ...]
    """The tuples that take their place now. Each part comes before the next."""
    late: pa.Table | None
    """Tuples that the watermark had already passed when they arrived."""
    previous: int

    @property
    def tuples(self) -> pa.Table | None:
        """All parts as one table."""
        return _joined(self.parts) if self.parts else None


class Placing:
    """Holds tuples back until the watermark has passed them.

    Without event time, every tuple takes its place as it arrives.
    """

    def __init__(self, is_timed: bool, order_by: Sequence[str]) -> None:
        self.is_timed, self.order_by = is_timed, list(order_by)
        self.pending: dict[int, pa.Table] = {}
        """Tuples held back, by the number of their batch. A batch only ever loses tuples."""
        self.watermark = BEGINNING
        self.next_number = 0
        """The number of the next batch. Numbers are never reused, so all copies agree on them."""

    def add(self, tuples: pa.Table) -> None:
        if len(tuples):
            self.pending[self.next_number] = tuples
            self.next_number += 1

    def advance(self, watermark: int) -> Passed:
        """Advance the watermark and return the tuples that it releases."""
        previous, self.watermark = self.watermark, max(self.watermark, watermark)
        pending, self.pending = self.pending, {}
        if not self.is_timed:
            parts = list(pending.values())
            is_sorted_later = bool(self.order_by) and len(parts) > 1
            return Passed((_joined(parts),) if is_sorted_later else tuple(parts), None, previous)
        placed, late = [], []
        for number, tuples in pending.items():
            passed, waiting = split_at(tuples, self.watermark)
            behind, on_time = split_at(passed, previous)
            if len(waiting):
                self.pending[number] = waiting
            late += [behind] if len(behind) else []
            placed += [on_time] if len(on_time) else []
        if not _follow_each_other(placed, bool(self.order_by)):
            placed = [_joined(placed)]
        if len(self.pending) > _MANY:
            waiting, self.pending = _joined(list(self.pending.values())), {}
            self.add(waiting)
        return Passed(tuple(placed), _joined(late) if late else None, previous)

    @property
    def waiting(self) -> int:
        """How many tuples are held back."""
        return sum(map(len, self.pending.values()))

    def edges(self, size: int) -> list[int]:
        """Times that cut the tuples held back into parts of about ``size``; none if few wait."""
        waiting = self.waiting
        if not self.is_timed or waiting <= 2 * size:
            return []
        step = max(1, waiting // 100_000)
        sample = np.concatenate([time_of(tuples)[::step] for tuples in self.pending.values()])
        quantiles = np.quantile(sample, np.arange(size, waiting, size) / waiting)
        edges: list[int] = np.unique(quantiles.astype(np.int64)).tolist()
        return edges

    def restore(self, pending: dict[int, pa.Table], watermark: int, next_number: int) -> None:
        """Take over the tuples that a copy of this worker holds back at the watermark."""
        self.pending = pending
        if self.is_timed:
            waiting = {n: split_at(tuples, watermark)[1] for n, tuples in pending.items()}
            self.pending = waiting
        self.watermark, self.next_number = watermark, next_number

    def order(self, tuples: pa.Table, codes: Int64s) -> Int64s:
        """The permutation that sorts tuples by key, time, ``order_by`` and arrival."""
        if self.is_in_order(tuples):
            return sort_codes(codes)[1]
        keys: list[Any] = [codes, time_of(tuples)] if self.is_timed else [codes]
        for name in self.order_by:
            keys.extend(sort_keys(tuples[name]))
        if ARRIVAL in tuples.column_names:
            keys.append(np.asarray(tuples[ARRIVAL].to_numpy()))
        # Messages in the order of each key, such as those of a ranker, need only be put together.
        by_code = sort_codes(codes)[1]
        return by_code if ascend([key[by_code] for key in keys]) else sorting_order(keys)

    def is_in_order(self, tuples: pa.Table) -> bool:
        """Whether tuples are already in order, regardless of their keys."""
        names = [TIME] if self.is_timed else []
        names += self.order_by
        names += [ARRIVAL] if ARRIVAL in tuples.column_names else []
        return is_ordered_by((tuples[name] for name in names), len(tuples))


def next_ranks(codes: Int64s, count: Int64s) -> Int64s:
    """Rank tuples given in order of key; ``count``, the number of tuples per key, is updated.

    >>> count = np.array([5, 0])
    >>> next_ranks(np.array([0, 0, 1]), count), count
    (array([5, 6, 0]), array([7, 1]))
    """
    first = np.flatnonzero(np.diff(codes, prepend=-1))
    lengths = np.diff(first, append=len(codes))
    ranks = np.arange(len(codes)) + np.repeat(count[codes[first]] - first, lengths)
    count[codes[first]] += lengths
    return ranks


def time_of(tuples: pa.Table) -> Int64s:
    return np.asarray(tuples[TIME].to_numpy())


def ascends(times: Int64s) -> bool:
    """Whether times are in ascending order."""
    return bool((times[1:] >= times[:-1]).all())


def _joined(parts: Sequence[pa.Table]) -> pa.Table:
    """Concatenate parts. A column that is all null in one part takes the type of the others."""
    if len(parts) == 1:
        return parts[0]
    return pa.concat_tables(parts, promote_options="permissive")


def _follow_each_other(parts: list[pa.Table], are_ties_ordered: bool) -> bool:
    """Whether each part is in order of time and comes after the part before it."""
    if len(parts) < 2:
        return True
    last = BEGINNING
    for part in parts:
        times = time_of(part)
        # A tie across parts is in order only if the parts are in order of arrival and nothing else
        # breaks ties. Tuples with an arrival number may come in another order.
        has_ties = are_ties_ordered or ARRIVAL in part.column_names
        is_behind = int(times[0]) > last if has_ties else int(times[0]) >= last
        if not is_behind or not ascends(times):
            return False
        last = int(times[-1])
    return True


def split_at(tuples: pa.Table, time: int) -> tuple[pa.Table, pa.Table]:
    """The tuples before a time, and the others. Tuples in order of time are not copied."""
    if len(tuples) == 0 or time in (BEGINNING, END_OF_STREAM):
        nothing = tuples.slice(0, 0)
        return (tuples, nothing) if time == END_OF_STREAM else (nothing, tuples)
    times = time_of(tuples)
    if ascends(times):
        cut = int(np.searchsorted(times, time))
        return tuples.slice(0, cut), tuples.slice(cut)
    is_before = pa.array(times < time)
    return tuples.filter(is_before), tuples.filter(pc.invert(is_before))
