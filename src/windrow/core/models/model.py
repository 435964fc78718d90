"""What every window model has: a context class, an extent function, a firing rule."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from windrow.core.durations import microseconds
from windrow.core.errors import WindrowError, received

Int64s: TypeAlias = NDArray[np.int64]
Axis: TypeAlias = NDArray[Any]
"""What rules a model's windows: times (int64 microseconds) or the values of an attribute."""


class Context(Enum):
    """What must be known of other tuples to tell the windows of one (the papers' taxonomy)."""

    CF = "context free: the tuple's own time or rank"
    FCF = "forward context free: the tuple and those before it"
    FCA = "forward context aware: tuples after it, too"

    @property
    def is_forward_context_free(self) -> bool:
        return self is not Context.FCA


class Bounds(Enum):
    """What ``window_start`` and ``window_end`` measure."""

    TIME = "timestamp"
    RANK = "long"
    ATTRIBUTE = "the attribute's type"


@dataclass(frozen=True)
class Extents:
    """The non-empty windows of one key, in order of their ids.

    ``E(ids[j])`` is the tuples at positions ``lo[j] <= i < hi[j]`` of the key's ordered tuples:
    in every model a window is a contiguous run of them.
    """

    ids: Int64s
    start: Axis
    end: Axis
    lo: Int64s
    hi: Int64s

    def __len__(self) -> int:
        return len(self.ids)

    def where(self, kept: NDArray[np.bool_]) -> Extents:
        columns = (self.ids, self.start, self.end, self.lo, self.hi)
        return Extents(*(c[kept] for c in columns))

    @staticmethod
    def of(ids: Int64s, start: Axis, end: Axis, lo: Axis, hi: Axis) -> Extents:
        """The windows given, less the empty ones."""
        return Extents(ids, start, end, lo.astype(np.int64), hi.astype(np.int64)).where(lo < hi)


class WindowModel(ABC):
    """A window model: which tuples belong to window w of a key.

    The *axis* is the key's ordered tuples seen by the model: their times, or, for a delta window,
    their attribute. Count windows use only its length.
    """

    context: ClassVar[Context]
    bounds: ClassVar[Bounds]
    needs_event_time: ClassVar[bool] = True
    ranks_tuples: ClassVar[bool]
    """Whether a tuple has a place among the others that a late one can no longer take."""

    @abstractmethod
    def extents(self, axis: Axis) -> Extents:
        """E: the non-empty windows over all tuples of a key, in their order."""

    @abstractmethod
    def fired(self, windows: Extents, watermark: int | None) -> NDArray[np.bool_]:
        """Which windows over the tuples before ``watermark`` have fired once it is reached.

        Without event time there is no watermark (None): every tuple has taken its place.
        """

    def closed_at(self, time: int) -> int:
        """The watermark at which the windows of a tuple at ``time`` have fired, if they will."""
        return time + 1

    @property
    def pane_length(self) -> int | None:
        """The greatest length that divides every window's bounds; None where there is none."""
        return None


class MappedWindow(WindowModel):
    """A forward-context-free model: M(t) tells a tuple's windows when the tuple arrives."""

    @abstractmethod
    def mapping(self, position: Axis) -> tuple[Int64s, Int64s]:
        """M: the first and last id of the windows of each tuple; first > last where it has none."""


def union_of_ranges(first: Int64s, last: Int64s) -> Int64s:
    """The sorted ids in any ``first[i]..last[i]``, both non-decreasing, in O(n + ids).

    >>> union_of_ranges(np.array([0, 1, 7]), np.array([2, 3, 8]))
    array([0, 1, 2, 3, 7, 8])
    """
    if len(first) == 0:
        return np.empty(0, np.int64)
    begin = np.concatenate([first[:1], np.maximum(first[1:], last[:-1] + 1)])
    count = np.maximum(last - begin + 1, 0)
    before = np.cumsum(count) - count
    return np.repeat(begin - before, count) + np.arange(count.sum(), dtype=np.int64)


def has_reached_end(windows: Extents, watermark: int | None) -> NDArray[np.bool_]:
    """The firing rule of windows that end at a time: the watermark has reached it."""
    return np.ones(len(windows), bool) if watermark is None else windows.end <= watermark


def positive_count(value: object, what: str, hint: str | None = None) -> int:
    """A whole number of tuples, at least one."""
    rule = f"{what} must be a positive number of tuples"
    try:
        count = 0 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        if not isinstance(value, float):
            hint = "a number of tuples is a whole number such as 1000, not a time."
        count = 0
    if not 0 < count < 2**62:
        raise WindrowError(rule, received(what, value), hint)
    return count


def positive_duration(value: object, what: str, hint: str | None = None) -> int:
    """A duration longer than nothing, in microseconds."""
    length = microseconds(value, what)
    if length <= 0:
        raise WindrowError(f"{what} must be a positive duration", received(what, value), hint)
    return length
