"""An index of integer keys: their codes in order of appearance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.kernels.columns import Positions, as_column, read_only
from windrow.kernels.compiled import compiled
from windrow.kernels.hashing import mix

EMPTY = -1
MOST_NEAR = 1 << 16
"""The widest range of keys that are looked up by their distance from the least."""


class IntegerIndex:
    """A table from int64 keys to codes 0, 1, 2, ...

    Keys close to each other are looked up by their distance from the least, others by their hash:
    open addressing, at most half full. Time O(1) amortised per key, space O(keys).

    >>> index = IntegerIndex()
    >>> index.codes(np.array([70, -5, 70])), index.codes(np.array([1 << 40, -5])), index.keys
    (array([0, 1, 0]), array([2, 1]), array([           70,            -5, 1099511627776]))
    """

    def __init__(self) -> None:
        self._slots = np.full(1024, EMPTY, np.int64)
        self._keys = np.empty(512, np.int64)
        self._n = 0
        self._hashed = 0
        """How many of the keys are in the slots."""
        self._near = np.zeros(0, np.int64)
        """The codes of the keys from ``_low`` on."""
        self._low = 0
        self._placed = 0
        """How many of the keys are in ``_near``, if they are in its range."""

    def __len__(self) -> int:
        return self._n

    @property
    def keys(self) -> Positions:
        """The keys by code."""
        return self._keys[: self._n]

    def codes(self, values: Positions) -> Positions:
        """The code of each value; a value not seen before gets a new code."""
        values = as_column(values)
        codes = np.empty(len(values), np.int64)
        is_near = len(values) > 0 and self._covers(int(values.min()), int(values.max()))
        done = 0
        while done < len(values):
            if is_near:
                near, low = self._near, self._low
                done, self._n = _find_near(values, done, codes, near, low, self._keys, self._n)
                self._placed = self._n
            else:
                self._hash_keys()
                done, self._n = _find(values, done, codes, self._slots, self._keys, self._n)
                self._hashed = self._n
            if done < len(values):
                self._grow()
        return codes

    def _covers(self, low: int, high: int) -> bool:
        """Whether values in this range can be looked up by their distance from the least."""
        end = self._low + len(self._near)
        if low < self._low or high >= end:
            if len(self._near):
                low, high = min(low, self._low), max(high, end - 1)
            if high - low >= MOST_NEAR:
                return False
            self._near = np.full(high - low + 1, EMPTY, np.int64)
            self._low, self._placed = low, 0
        if self._placed < self._n:
            new = self._keys[self._placed : self._n]
            is_inside = (new >= self._low) & (new < self._low + len(self._near))
            inside = np.flatnonzero(is_inside)
            self._near[new[inside] - self._low] = inside + self._placed
            self._placed = self._n
        return True

    def _hash_keys(self) -> None:
        """Put the keys into the slots that were only looked up by their distance."""
        if self._hashed < self._n:
            _insert(read_only(self._keys[: self._n]), self._hashed, self._slots)
            self._hashed = self._n

    def _grow(self) -> None:
        larger = np.empty(2 * len(self._keys), np.int64)
        larger[: self._n] = self._keys[: self._n]
        self._keys = larger
        self._slots = np.full(2 * len(self._slots), EMPTY, np.int64)
        self._hashed = 0


@compiled
def _find_near(
    values: Positions,
    begin: int,
    codes: Positions,
    near: Positions,
    low: int,
    keys: Positions,
    n: int,
) -> tuple[int, int]:
    """Like ``_find`` for values from ``low`` on, whose codes are in ``near``."""
    for i in range(begin, len(values)):
        place = np.uint64(values[i] - low)
        code = near[place]
        if code == EMPTY:
            if n == len(keys):
                return i, n
            near[place] = code = n
            keys[n] = values[i]
            n += 1
        codes[i] = code
    return len(values), n


@compiled
def _find(
    values: Positions,
    begin: int,
    codes: Positions,
    slots: Positions,
    keys: Positions,
    n: int,
) -> tuple[int, int]:
    """Fill codes from ``begin`` on; return where room ran out, and the number of keys."""
    mask = np.uint64(len(slots) - 1)
    for i in range(begin, len(values)):
        value = values[i]
        slot = mix(np.uint64(value)) & mask
        code = slots[slot]
        while code != EMPTY and keys[np.uint64(code)] != value:
            slot = (slot + np.uint64(1)) & mask
            code = slots[slot]
        if code == EMPTY:
            if n == len(keys):
                return i, n
            slots[slot] = code = n
            keys[n] = value
            n += 1
        codes[i] = code
    return len(values), n


@compiled
def _insert(keys: NDArray[np.int64], begin: int, slots: Positions) -> None:
    mask = np.uint64(len(slots) - 1)
    for code in range(begin, len(keys)):
        slot = mix(np.uint64(keys[code])) & mask
        while slots[slot] != EMPTY:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = code
