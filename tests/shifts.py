"""A second window model of a user's own, on the time axis and with panes: shifts of a day."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import windrow as wr
from windrow.core.watermark import BEGINNING, END_OF_STREAM, final_watermark
from windrow.engine.windows import FiredWindows, Late, WindowBuffer, Windower, register_windower

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class ShiftWindow(wr.MappedWindow):
    """The shifts of every day: shift s is ``starts[s]`` to ``ends[s]`` after the day has begun.

    E(w) = { t : d*day + starts[s] <= time(t) < d*day + ends[s] }, w = d*len(starts) + s.
    Shifts may overlap and leave gaps. Both starts and ends increase from each shift to the next.
    """

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    day: int

    axis = wr.Axis.TIME
    ranks_tuples = False

    def __post_init__(self) -> None:
        for bounds in (self.starts, self.ends):
            cycle = [*bounds, bounds[0] + self.day]
            if sorted(set(cycle)) != cycle:
                raise wr.WindrowError("the bounds of shifts must increase", repr(bounds))

    def mapping(self, position: Int64s) -> tuple[Int64s, Int64s]:
        ended, begun = self._last(position, self.ends), self._last(position, self.starts)
        return ended + 1, begun

    def _last(self, position: Int64s, bounds: tuple[int, ...]) -> Int64s:
        """The last shift with this bound at or before each position."""
        n = len(bounds)
        each = [(position - bound) // self.day * n + s for s, bound in enumerate(bounds)]
        last: Int64s = np.max(each, axis=0)
        return last

    def bounds(self, ids: Int64s) -> tuple[Int64s, Int64s]:
        days, shifts = np.divmod(ids, len(self.starts))
        starts, ends = np.array(self.starts), np.array(self.ends)
        return days * self.day + starts[shifts], days * self.day + ends[shifts]

    @property
    def pane_length(self) -> int:
        return math.gcd(self.day, *self.starts, *self.ends)

    def panes(self, span: int = 1) -> wr.TimeWindow:
        return wr.TimeWindow(span * self.pane_length, self.pane_length)

    def in_panes(self) -> ShiftWindow:
        pane = self.pane_length
        starts, ends = (tuple(b // pane for b in bounds) for bounds in (self.starts, self.ends))
        return ShiftWindow(starts, ends, self.day // pane)

    def closed_at(self, time: int) -> int:
        _, last = self.mapping(np.array([time]))
        return max(int(self.bounds(last)[1][0]), time + 1)

    @property
    def newest_lag(self) -> int:
        return max(end - start for start, end in zip(self.starts, self.ends, strict=True))

    def expected_rows(self, rate: float) -> tuple[float, float]:
        length = (sum(self.ends) - sum(self.starts)) / len(self.starts)
        return length * rate, self.day / len(self.starts) * rate


@register_windower(ShiftWindow)
class ShiftWindower(Windower):
    """A shift fires for all keys when the watermark reaches its end."""

    model: ShiftWindow
    fired = BEGINNING
    """The id of the last shift that has fired."""

    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        before = self.fired
        self.pass_by(watermark)
        found: list[tuple[int, int, int, int]] = []
        for key in range(buffer.n_keys):
            lo, times = int(buffer.head[key]), buffer.axis[buffer.head[key] : buffer.tail[key]]
            first, last = self.model.mapping(times)
            ids = {i for a, b in zip(first, last, strict=True) for i in range(a, b + 1)}
            over = np.array(sorted(i for i in ids if before < i <= self.fired), np.int64)
            over = over[self.share.hosts(np.broadcast_to(self.shifts[key], len(over)), over)]
            cuts = [np.searchsorted(times, bound) + lo for bound in self.model.bounds(over)]
            found += [(key, i, a, b) for i, a, b in zip(over, *cuts, strict=True)]
            own = self.share.last_hosted(np.broadcast_to(self.shifts[key], len(last)), last)
            buffer.head[key] = lo + int(np.searchsorted(own, self.fired, side="right"))
        keys, shifts, begin, end = np.array(found, np.int64).reshape(-1, 4).T
        return FiredWindows(keys, shifts, *self.model.bounds(shifts), begin, end)

    def pass_by(self, watermark: int) -> None:
        limit = watermark
        if watermark not in (BEGINNING, END_OF_STREAM):
            limit = int(self.model.mapping(np.array([watermark]))[0][0]) - 1
        self.fired = max(self.fired, limit)

    def judge_late(
        self, positions: Int64s, codes: Int64s, reached: int, buffer: WindowBuffer
    ) -> Late:
        first, last = self.model.mapping(positions)
        own = self.share.last_hosted(self.shifts[codes], last)
        end, own_end = self.model.bounds(last)[1], self.model.bounds(own)[1]
        return Late((first <= own) & (own_end > reached), (first <= last) & (end <= reached), last)

    def scalars(self) -> dict[str, Any]:
        return {"fired": self.fired}

    def restore(self, by_key: dict[str, NDArray[Any]], scalars: dict[str, Any]) -> None:
        super().restore(by_key, scalars)
        self.fired = scalars["fired"]


Row = Mapping[str, Any]


def definition(
    model: ShiftWindow, rows: Iterable[Row], *, key: tuple[str, ...], delay: int, emits_open: bool
) -> dict[tuple[tuple[Any, ...], int, int, int], list[Row]]:
    """All shifts of all keys by their condition; rows have the time ``t`` and the order ``i``."""
    rows = sorted(rows, key=lambda row: (row["t"], row["i"]))
    passed = final_watermark(rows[-1]["t"], delay) if rows else 0
    found: dict[tuple[tuple[Any, ...], int, int, int], list[Row]] = {}
    for row in rows:
        for d in range(row["t"] // model.day - 4, row["t"] // model.day + 1):
            for s, (start, end) in enumerate(zip(model.starts, model.ends, strict=True)):
                w, begin, over = (
                    d * len(model.starts) + s,
                    d * model.day + start,
                    d * model.day + end,
                )
                if begin <= row["t"] < over and (emits_open or over <= passed):
                    place = tuple(row[k] for k in key), w, begin, over
                    found.setdefault(place, []).append(row)
    return found
