"""A window model of a user's own, by public means only: its meaning, windower and definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import windrow as wr
from windrow.core.watermark import END_OF_STREAM, final_watermark
from windrow.engine.windows import FiredWindows, WindowBuffer, Windower, register_windower


@dataclass(frozen=True)
class PunctuatedWindow(wr.WindowModel):
    """Windows that end at every tuple with the flag set.

    E(w) = { t_i : r_(w-1) < i <= r_w }, r_w the rank of the key's w-th flagged tuple, r_(-1) = -1.
    A window is [r_(w-1) + 1, r_w + 1).
    """

    flag: str

    context = wr.Context.FCA
    axis = wr.Axis.RANK
    needs_event_time = False
    ranks_tuples = True
    shares_tuples = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.flag,)

    def check_types(self, types: Mapping[str, str]) -> None:
        if types[self.flag] != "boolean":
            got = f"{self.flag!r} of {types[self.flag]}"
            raise wr.WindrowError("PunctuatedWindow needs a boolean flag", got)


@register_windower(PunctuatedWindow)
class PunctuatedWindower(Windower):
    """A window fires when its flagged tuple has taken its place, the open one at the end."""

    model: PunctuatedWindow
    remembers = ("next_id",)

    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        flags, next_id = buffer.columns[self.model.flag].values, self.by_key["next_id"]
        found = []
        for key in range(buffer.n_keys):
            lo, tail = int(buffer.head[key]), int(buffer.tail[key])
            ends = (np.flatnonzero(flags[lo:tail]) + lo + 1).tolist()
            if watermark == END_OF_STREAM and (ends[-1] if ends else lo) < tail:
                ends.append(tail)
            for hi in ends:
                found.append((key, int(next_id[key]), lo, hi))
                next_id[key] += 1
                lo = hi
            buffer.head[key] = lo
        keys, ids, first, last = np.array(found, np.int64).reshape(-1, 4).T
        return FiredWindows(keys, ids, buffer.axis[first], buffer.axis[last - 1] + 1, first, last)


Row = Mapping[str, Any]
Extents = dict[tuple[tuple[Any, ...], int, int, int], list[Row]]
"""The tuples of each (key, id, start, end)."""


def definition(
    model: PunctuatedWindow,
    rows: Iterable[Row],
    *,
    key: tuple[str, ...] = (),
    time: str | None = None,
    order_by: tuple[str, ...] = (),
    delay: int = 0,
    emits_open: bool,
) -> Extents:
    """All windows of all keys by their definition; ``rows`` are in order of arrival."""
    rows = list(rows)
    placed = [r for r in rows if r[model.flag] is not None]
    if time is not None:
        known = [r[time] for r in rows if r[time] is not None]
        passed = final_watermark(max(known), delay) if known else 0
        placed = [r for r in placed if r[time] is not None and (emits_open or r[time] < passed)]
        placed.sort(key=lambda r: (r[time], *(r[c] for c in order_by)))
    keys: dict[tuple[Any, ...], list[Row]] = {}
    for row in placed:
        keys.setdefault(tuple(row[k] for k in key), []).append(row)
    found: Extents = {}
    for value, tuples in keys.items():
        ends = [rank + 1 for rank, row in enumerate(tuples) if row[model.flag]]
        if emits_open and (ends[-1] if ends else 0) < len(tuples):
            ends.append(len(tuples))
        for id, (start, end) in enumerate(pairwise([0, *ends])):
            found[value, id, start, end] = tuples[start:end]
    return found
