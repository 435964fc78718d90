"""Placing tuples: each takes its place in its key's order once the watermark has passed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.engine.columns import Int64s, sort_keys
from windrow.engine.control import TIME
from windrow.kernels.groups import sort_codes
from windrow.kernels.interval_windows import ALWAYS, NEVER


@dataclass(frozen=True)
class Placed:
    """Tuples the watermark passes now, and those it had passed when they came, at ``previous``."""

    tuples: pa.Table | None
    late: pa.Table | None
    previous: int


class Placing:
    """Holds tuples back until the watermark has passed them, then gives them in order.

    Without event time every tuple takes its place as it comes.
    """

    def __init__(self, is_timed: bool, order_by: Sequence[str]) -> None:
        self.is_timed, self.order_by = is_timed, list(order_by)
        self.pending: list[pa.Table] = []
        self.watermark = NEVER

    def add(self, tuples: pa.Table) -> None:
        if len(tuples):
            self.pending.append(tuples)

    def advance(self, watermark: int) -> Placed:
        """Move the watermark on; the tuples that take their place now."""
        previous, self.watermark = self.watermark, max(self.watermark, watermark)
        if not self.pending:
            return Placed(None, None, previous)
        tuples = pa.concat_tables(self.pending, promote_options="permissive")
        self.pending = []
        if not self.is_timed:
            return Placed(tuples, None, previous)
        times = time_of(tuples)
        if self.watermark != ALWAYS and int(times.max()) >= self.watermark:
            is_passed = times < self.watermark
            self.pending = [tuples.filter(pa.array(~is_passed))]
            tuples, times = tuples.filter(pa.array(is_passed)), times[is_passed]
        if len(times) == 0 or int(times.min()) >= previous:
            return Placed(tuples, None, previous)
        is_late = pa.array(times < previous)
        return Placed(tuples.filter(pc.invert(is_late)), tuples.filter(is_late), previous)

    def order(self, tuples: pa.Table, codes: Int64s) -> Int64s:
        """The order of tuples by key, time, ``order_by`` and arrival."""
        if self.is_in_order(tuples):
            return sort_codes(codes)[1]
        keys: list[Any] = [codes, time_of(tuples)] if self.is_timed else [codes]
        for name in self.order_by:
            keys.extend(sort_keys(tuples[name]))
        return np.lexsort(keys[::-1])

    def is_in_order(self, tuples: pa.Table) -> bool:
        """Whether tuples stand in their order already, keys aside."""
        if self.order_by:
            return False
        times = time_of(tuples) if self.is_timed else np.zeros(0, np.int64)
        return bool((times[1:] >= times[:-1]).all())


def time_of(tuples: pa.Table) -> Int64s:
    return np.asarray(tuples[TIME].to_numpy())
