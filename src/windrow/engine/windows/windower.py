"""The windower: which windows of which keys fire as the watermark moves on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.core.errors import WindrowError
from windrow.core.models import (
    CountWindow,
    DeltaWindow,
    LandmarkWindow,
    SessionWindow,
    SlideByTimeWindow,
    SlideByTupleWindow,
    TimeWindow,
    WindowModel,
)
from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import AXIS
from windrow.engine.windows.buffer import WindowBuffer
from windrow.engine.windows.fired import FiredWindows
from windrow.kernels.interval_windows import fire_intervals


@dataclass(frozen=True)
class Share:
    """Which windows are computed here: those of the hosted ones of n workers.

    Window i of a key is worker ``(hash + i // batch) mod n``'s.
    """

    hosted: NDArray[np.bool_] = field(default_factory=lambda: np.ones(1, np.bool_))
    batch: int = 1

    @property
    def n(self) -> int:
        return len(self.hosted)

    @staticmethod
    def of(worker: int, n: int, batch: int = 1) -> Share:
        return Share(np.arange(n) == worker, batch)


class Windower(ABC):
    """The windows of one model over a buffer; its state is a few numbers a key."""

    def __init__(self) -> None:
        self.next_id = np.zeros(0, np.int64)
        self.scanned = np.zeros(0, np.int64)
        self.count = np.zeros(0, np.int64)

    first_id = 0

    @staticmethod
    def of(model: WindowModel, share: Share | None = None) -> Windower:
        """The windower of a model."""
        share = share or Share()
        if isinstance(model, CountWindow | TimeWindow | LandmarkWindow):
            return IntervalWindower(model, share)
        if isinstance(model, SessionWindow):
            return SessionWindower(model)
        if isinstance(model, SlideByTupleWindow):
            return SlideByTupleWindower(model)
        if isinstance(model, SlideByTimeWindow):
            return SlideByTimeWindower(model)
        assert isinstance(model, DeltaWindow)
        return DeltaWindower(model)

    def add_keys(self, shifts: Int64s) -> None:
        """Know more keys; ``shifts`` are their hashes modulo the number of workers."""
        n = len(shifts)
        self.next_id = np.concatenate([self.next_id, np.full(n, self.first_id, np.int64)])
        self.scanned = np.concatenate([self.scanned, np.zeros(n, np.int64)])
        self.count = np.concatenate([self.count, np.zeros(n, np.int64)])

    @abstractmethod
    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        """The windows that fire; evicts from the buffer what no later one holds."""

    def pass_by(self, watermark: int) -> None:
        """Let windows fire before there is any tuple."""
        return

    def taking_over(self, other: Windower) -> Windower:
        """Itself, with all that another remembers but for keys."""
        return self

    def by_key(self) -> dict[str, NDArray[Any]]:
        """What the windower knows of each key, for ``restore``."""
        return {"next_id": self.next_id, "scanned": self.scanned, "count": self.count}

    def scalars(self) -> dict[str, Any]:
        """What else it knows."""
        return {}

    def restore(self, by_key: dict[str, NDArray[Any]], scalars: dict[str, Any]) -> None:
        for name in self.by_key():
            setattr(self, name, by_key[name].copy())


def _axis(buffer: WindowBuffer) -> NDArray[Any]:
    return buffer.columns[AXIS].values


class IntervalWindower(Windower):
    """Windows that are intervals of the axis: of time, or of ranks with a CountWindow."""

    def __init__(self, model: CountWindow | TimeWindow | LandmarkWindow, share: Share) -> None:
        super().__init__()
        self.is_ranked = isinstance(model, CountWindow)
        self.first_id = 0 if self.is_ranked else BEGINNING
        self.model, self.share = model, share
        self.slide = model.slide
        self.length = 0 if isinstance(model, LandmarkWindow) else model.length
        self.every = model.every if isinstance(model, LandmarkWindow) else 0
        self.origin = 0 if isinstance(model, CountWindow) else model.origin
        self.shift = np.zeros(0, np.int64)
        self.fired = BEGINNING
        self.pane: int | None = None
        """Where ranks are counted here and kept as panes: the tuples of a pane."""

    def add_keys(self, shifts: Int64s) -> None:
        super().add_keys(shifts)
        self.shift = np.concatenate([self.shift, shifts])

    def limit(self, watermark: int) -> int:
        """The last window that has fired once the watermark is reached."""
        if watermark in (BEGINNING, END_OF_STREAM):
            return watermark
        return (watermark - self.origin - self.length) // self.slide

    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        if not self.is_ranked:
            np.maximum(self.next_id, self.fired + 1, out=self.next_id)
            self.pass_by(watermark)
        found = fire_intervals(
            _axis(buffer),
            buffer.head,
            buffer.tail,
            self.next_id,
            self.shift,
            self.share.hosted,
            self.share.batch,
            self.length,
            self.slide,
            self.every,
            self.origin,
            self._reached(buffer, watermark),
        )
        ids = found[:, 1]
        return FiredWindows(found[:, 0], ids, *self.bounds(ids), found[:, 2], found[:, 3])

    def pass_by(self, watermark: int) -> None:
        self.fired = max(self.fired, self.limit(watermark))

    def _reached(self, buffer: WindowBuffer, watermark: int) -> Int64s:
        """How far each key's axis is complete: up to the watermark, or the last rank."""
        if not self.is_ranked or watermark == END_OF_STREAM:
            return np.full(buffer.n_keys, watermark, np.int64)
        if self.pane is not None:
            return self.count // self.pane
        is_held = buffer.tail > buffer.head
        last = _axis(buffer)[np.where(is_held, buffer.tail - 1, 0)] if is_held.any() else 0
        return np.where(is_held, last + 1, 0)

    def taking_over(self, other: Windower) -> Windower:
        assert isinstance(other, IntervalWindower)
        self.fired, self.pane = other.fired, other.pane
        return self

    def bounds(self, ids: Int64s) -> tuple[Int64s, Int64s]:
        """Start and end of windows, on the axis."""
        if self.every:
            end = self.origin + ids * self.slide
            return self.origin + (ids * self.slide - 1) // self.every * self.every, end
        start = self.origin + ids * self.slide
        return start, start + self.length

    def by_key(self) -> dict[str, NDArray[Any]]:
        # Windows of time have fired up to the same id of all keys.
        return {"next_id": self.next_id, "count": self.count} if self.is_ranked else {}

    def scalars(self) -> dict[str, Any]:
        return {"fired": self.fired}

    def restore(self, by_key: dict[str, NDArray[Any]], scalars: dict[str, Any]) -> None:
        super().restore(by_key, scalars)
        self.fired = scalars["fired"]


class SessionWindower(Windower):
    """Sessions."""

    def __init__(self, model: SessionWindow) -> None:
        super().__init__()
        self.gap = model.gap

    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        from windrow.kernels.triggered_windows import fire_sessions

        axis = _axis(buffer)
        found = fire_sessions(
            axis, buffer.head, buffer.tail, self.scanned, self.next_id, self.gap, watermark
        )
        lo, hi = found[:, 2], found[:, 3]
        bounds = axis[lo], axis[hi - 1] + self.gap
        return FiredWindows(found[:, 0], found[:, 1], *bounds, lo, hi)


class SlideByTupleWindower(Windower):
    """Length in time, slide in tuples."""

    def __init__(self, model: SlideByTupleWindow) -> None:
        super().__init__()
        self.model = model

    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        from windrow.kernels.triggered_windows import fire_slide_by_tuple

        axis, model = _axis(buffer), self.model
        found = fire_slide_by_tuple(
            axis, buffer.head, buffer.tail, self.count, self.next_id, model.length, model.slide
        )
        lo, hi = found[:, 2], found[:, 3]
        end = axis[hi - 1]
        return FiredWindows(found[:, 0], found[:, 1], end - model.length, end, lo, hi)


class SlideByTimeWindower(Windower):
    """Length in tuples, slide in time."""

    def __init__(self, model: SlideByTimeWindow) -> None:
        super().__init__()
        self.model = model

    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        from windrow.kernels.triggered_windows import fire_slide_by_time

        axis, model = _axis(buffer), self.model
        found = fire_slide_by_time(
            axis,
            buffer.head,
            buffer.tail,
            self.scanned,
            model.length,
            model.slide,
            model.origin,
            watermark,
        )
        ids, lo, hi = found[:, 1], found[:, 2], found[:, 3]
        return FiredWindows(found[:, 0], ids, axis[lo], model.origin + ids * model.slide, lo, hi)


class DeltaWindower(Windower):
    """Length and slide are changes of an attribute."""

    def __init__(self, model: DeltaWindow) -> None:
        super().__init__()
        self.model = model
        self.last_trigger: NDArray[Any] = np.zeros(0, np.int64)

    def add_keys(self, shifts: Int64s) -> None:
        super().add_keys(shifts)
        self.last_trigger = np.concatenate([self.last_trigger, np.zeros(len(shifts), np.int64)])

    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        from windrow.kernels.triggered_windows import fire_deltas

        axis, model = _axis(buffer), self.model
        self.last_trigger = self.last_trigger.astype(axis.dtype, copy=False)
        found, triggers, fall = fire_deltas(
            axis,
            buffer.head,
            buffer.tail,
            self.scanned,
            self.next_id,
            self.last_trigger,
            model.length,
            model.slide,
        )
        if fall >= 0:
            raise DecreasingAttribute(model.on, axis[fall - 1], axis[fall], _key(buffer, fall))
        end = axis[triggers]
        bounds = end - model.length, end
        return FiredWindows(found[:, 0], found[:, 1], *bounds, found[:, 2], found[:, 3])

    def by_key(self) -> dict[str, NDArray[Any]]:
        return {**super().by_key(), "last_trigger": self.last_trigger}


def _key(buffer: WindowBuffer, position: int) -> int:
    return int(np.flatnonzero((buffer.head <= position) & (position < buffer.tail))[0])


class DecreasingAttribute(WindrowError):
    """A delta attribute that decreases; the worker that knows the key's value names it."""

    def __init__(self, on: str, before: Any, after: Any, key: int) -> None:
        self.key = key
        super().__init__(
            f"DeltaWindow needs an attribute that never decreases within a key: {on!r}",
            f"{after} after {before}",
            "order the tuples with event_time() or order_by(), or add a key.",
        )

    def of_key(self, value: Any) -> WindrowError:
        return WindrowError(f"{self.rule}, key {value!r}", self.got, self.hint)
