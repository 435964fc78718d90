"""Partials of sliding windows that are kept from one firing to the next.

Each tuple is lifted once, with the first window that has it, however many batches its windows last.
A pane becomes one *leaf*, a run of tuples that no window cuts, if the model has panes; otherwise a
tuple is one. A window is made of its leaves, of which n are new since the window before and m have
gone. The algebra decides how:

| type | of n new leaves, m old ones |
|---|---|
| overrides ``combine_all`` | one call for all leaves of the window |
| ``Invertible``, exact partials | n calls of ``combine``, m of ``subtract`` |
| any other | two stacks: n and about m calls of ``combine``, and one more |

What is kept can always be computed again from the tuples held. So it is no part of the state of a
worker, and a late tuple that belongs before others only means that its key begins anew.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from decimal import Inexact, localcontext
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np

from windrow.core.aggregate import Aggregate, Invertible
from windrow.engine.columns.arrays import Int64s
from windrow.engine.evaluate.partial_ranges import (
    Combine,
    Known,
    combine_partials,
    combining_known,
    is_exact,
    lift_inside,
)
from windrow.engine.windows.fired import FiredWindows
from windrow.engine.windows.segments import spread

Lift: TypeAlias = Callable[[Int64s, Int64s], Callable[[int], Known]]
"""Takes positions and numbers of tuples, and gives what lifts the i-th of them."""
Panes: TypeAlias = Callable[[Int64s], Int64s]
"""The panes of the tuples at some positions."""
Leaves: TypeAlias = Callable[[int, int], tuple[Sequence[int], list[Known]]]
"""The first numbers and the partials of the leaves that tuples with these numbers form."""


class _NotExact(Exception):
    """Partials that cannot be subtracted without a rounding error."""


class Kept(ABC):
    """The leaves of the last window of a key."""

    def __init__(self) -> None:
        self.starts: deque[int] = deque()
        """The number of the first tuple of each leaf."""
        self.end = 0

    def over(self, first: int, last: int, leaves: Leaves) -> Known:
        """The partial of the tuples with the numbers ``first`` to ``last - 1``."""
        if not self._starts_at(first) or last < self.end:
            self.starts.clear()
            self.clear()
            self.end = first
        if last > self.end:
            starts, partials = leaves(self.end, last)
            self.starts.extend(starts)
            self.add(partials)
            self.end = last
        return self.whole()

    def _starts_at(self, first: int) -> bool:
        """Leave out what comes before ``first``. Return whether a leaf starts there."""
        if first >= self.end:
            return False
        n = 0
        while self.starts and self.starts[0] < first:
            self.starts.popleft()
            n += 1
        if not self.starts or self.starts[0] != first:
            return False
        self.evict(n)
        return True

    @abstractmethod
    def clear(self) -> None:
        """Leave out all leaves."""

    @abstractmethod
    def add(self, partials: list[Known]) -> None:
        """Add leaves at the end."""

    @abstractmethod
    def evict(self, n: int) -> None:
        """Leave out the first n leaves."""

    @abstractmethod
    def whole(self) -> Known:
        """The partial of all leaves."""


class TwoStacks(Kept):
    """The older leaves as running partials from their end, the newer ones also as one partial.

    K. Tangwongsan, M. Hirzel and S. Schneider, Low-latency sliding-window aggregation in worst-case
    constant time, 2017.
    """

    def __init__(self, combine: Combine) -> None:
        super().__init__()
        self.combine = combine
        self.clear()

    def clear(self) -> None:
        self.older: list[Known] = []
        self.leaves: list[Known] = []
        self.newer: Known = None

    def add(self, partials: list[Known]) -> None:
        for partial in partials:
            self.newer = self.combine(self.newer, partial)
        self.leaves += partials

    def evict(self, n: int) -> None:
        if n > len(self.older):
            some = self.leaves[n - len(self.older) :]
            self.older = list(accumulate(some[::-1], lambda newer, old: self.combine(old, newer)))
            self.leaves, self.newer = [], None
        elif n:
            del self.older[-n:]

    def whole(self) -> Known:
        found: Known = self.combine(self.older[-1] if self.older else None, self.newer)
        return found


class Difference(Kept):
    """One partial, to which leaves are added and from which they are subtracted again."""

    def __init__(self, function: Invertible[Any, Any, Any]) -> None:
        super().__init__()
        self.function = function
        self.clear()

    def clear(self) -> None:
        self.leaves: deque[Any] = deque()
        self.running: Known = None
        self.n_known = 0

    def add(self, partials: list[Known]) -> None:
        for partial in partials:
            if partial is not None:
                running = self.running
                whole = partial[0] if running is None else self._combined(running[0], partial[0])
                if not is_exact(whole):
                    raise _NotExact
                self.running = (whole,)
                self.n_known += 1
        self.leaves.extend(partials)

    def _combined(self, older: Any, newer: Any) -> Any:
        try:
            with localcontext() as context:
                context.traps[Inexact] = True
                return self.function.combine(older, newer)
        except Inexact:
            raise _NotExact from None

    def evict(self, n: int) -> None:
        for _ in range(n):
            leaf = self.leaves.popleft()
            if leaf is not None:
                self.n_known -= 1
                if not self.n_known:
                    self.running = None
                elif self.running is not None:
                    self.running = (self.function.subtract(self.running[0], leaf[0]),)

    def whole(self) -> Known:
        return self.running


class AtOnce(Kept):
    """All leaves, which the function combines at once."""

    def __init__(self, function: Aggregate[Any, Any, Any]) -> None:
        super().__init__()
        self.function = function
        self.clear()

    def clear(self) -> None:
        self.leaves: list[Known] = []

    def add(self, partials: list[Known]) -> None:
        self.leaves += partials

    def evict(self, n: int) -> None:
        del self.leaves[:n]

    def whole(self) -> Known:
        return combined(self.function, self.leaves)


def combined(function: Aggregate[Any, Any, Any], partials: Sequence[Known]) -> Known:
    """The partial of neighbouring runs, oldest first."""
    some = [p[0] for p in partials if p is not None]
    if len(some) < 2:
        return (some[0],) if some else None
    return (function.combine_all(some),)


class SlidingPartials:
    """The partials of a function's windows, key by key, kept while tuples of them are held."""

    def __init__(self, function: Aggregate[Any, Any, Any]) -> None:
        self.function = function
        self.keys: dict[int, Kept] = {}
        self.subtracts = isinstance(function, Invertible)
        """Whether all partials so far could be subtracted without a rounding error."""

    def over(self, windows: FiredWindows, lift: Lift, panes: Panes | None) -> list[Known]:
        """The partial of each window. The tuples of a window have numbers."""
        assert windows.offset is not None and windows.held is not None
        first = np.flatnonzero(np.diff(windows.keys, prepend=-1))
        codes, offsets = windows.keys[first].tolist(), windows.offset[first]
        lowest = np.minimum.reduceat(windows.lo, first)
        highest = np.maximum.reduceat(windows.hi, first)
        kept = [self.keys.pop(code, None) for code in codes]
        held = windows.held[first]
        if not any(kept) and (held >= highest + offsets).all():
            return self._all_at_once(windows, lift, first, lowest, highest)
        ends = np.array([0 if known is None else known.end for known in kept], np.int64)
        begins = np.clip(ends - offsets, lowest, highest)
        new = _NewTuples(self.function, lift, panes, begins, highest, offsets)
        lo, hi = (windows.lo + windows.offset).tolist(), (windows.hi + windows.offset).tolist()
        stops = [*first[1:].tolist(), len(windows)]
        found: list[Known] = []
        for i, (start, stop) in enumerate(zip(first.tolist(), stops, strict=True)):
            own, leaves = kept[i] or self._new(), new.of(i)
            for w in range(start, stop):
                try:
                    found.append(own.over(lo[w], hi[w], leaves))
                except _NotExact:
                    self.subtracts, own = False, TwoStacks(combining_known(self.function))
                    found.append(own.over(lo[w], hi[w], leaves))
            if held[i] < own.end:
                self.keys[codes[i]] = own
        return found

    def _all_at_once(
        self, windows: FiredWindows, lift: Lift, first: Int64s, lowest: Int64s, highest: Int64s
    ) -> list[Known]:
        """The same where nothing was kept, and nothing will be: no later window has the tuples."""
        assert windows.offset is not None
        lengths = highest - lowest
        of_windows = np.diff(first, append=len(windows))
        positions = spread(lowest, lengths)
        numbers = positions + np.repeat(windows.offset[first], lengths)
        moved = np.repeat(np.cumsum(lengths) - lengths - lowest, of_windows)
        lo, hi = windows.lo + moved, windows.hi + moved
        lifted = lift_inside(lift(positions, numbers), len(positions), lo, hi)
        return combine_partials(self.function, lifted, lo, hi)

    def _new(self) -> Kept:
        if self.function.combines_at_once:
            return AtOnce(self.function)
        if self.subtracts and isinstance(self.function, Invertible):
            return Difference(self.function)
        return TwoStacks(combining_known(self.function))


class _NewTuples:
    """The tuples of each key that windows have for the first time, converted all at once."""

    def __init__(
        self,
        function: Aggregate[Any, Any, Any],
        lift: Lift,
        panes: Panes | None,
        begins: Int64s,
        ends: Int64s,
        offsets: Int64s,
    ) -> None:
        self.function, self.lift, self.panes = function, lift, panes
        lengths = ends - begins
        self.begins, self.offsets = begins + offsets, offsets
        """The numbers of the first tuples."""
        self.places = np.cumsum(lengths) - lengths
        positions = spread(begins, lengths)
        self.lifted = lift(positions, positions + np.repeat(offsets, lengths))
        self.of_panes = None if panes is None else panes(positions).tolist()

    def of(self, key: int) -> Leaves:
        """The leaves of the key's tuples with these numbers."""
        begin, place = int(self.begins[key]), int(self.places[key])
        offset = int(self.offsets[key])

        def leaves(first: int, last: int) -> tuple[Sequence[int], list[Known]]:
            lifted, panes, at = self.lifted, self.of_panes, place + first - begin
            if first < begin:  # no leaf starts where the window does: the key begins anew
                positions = np.arange(first - offset, last - offset)
                lifted, at = self.lift(positions, positions + offset), 0
                panes = None if self.panes is None else self.panes(positions).tolist()
            partials = [lifted(i) for i in range(at, at + last - first)]
            if panes is None:
                return range(first, last), partials
            own = panes[at : at + last - first]
            cuts = [i for i in range(len(own)) if not i or own[i] != own[i - 1]]
            bounds = zip(cuts, [*cuts[1:], len(own)], strict=True)
            return [first + i for i in cuts], [
                combined(self.function, partials[lo:hi]) for lo, hi in bounds
            ]

        return leaves
