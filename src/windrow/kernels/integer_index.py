"""An index of integer keys: their codes in order of appearance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.kernels.columns import Positions
from windrow.kernels.compiled import compiled
from windrow.kernels.hashing import mix

EMPTY = -1


class IntegerIndex:
    """A hash table from int64 keys to codes 0, 1, 2, ...

    Open addressing, at most half full. Time O(1) amortised per key, space O(keys).

    >>> index = IntegerIndex()
    >>> index.codes(np.array([70, -5, 70])), index.keys
    (array([0, 1, 0]), array([70, -5]))
    """

    def __init__(self) -> None:
        self._slots = np.full(1024, EMPTY, np.int64)
        self._keys = np.empty(512, np.int64)
        self._n = 0

    def __len__(self) -> int:
        return self._n

    @property
    def keys(self) -> Positions:
        """The keys by code."""
        return self._keys[: self._n]

    def codes(self, values: Positions) -> Positions:
        """The code of each value; a value not seen before gets a new code."""
        codes = np.empty(len(values), np.int64)
        done = 0
        while done < len(values):
            done, self._n = _find(values, done, codes, self._slots, self._keys, self._n)
            if done < len(values):
                self._grow()
        return codes

    def _grow(self) -> None:
        larger = np.empty(2 * len(self._keys), np.int64)
        larger[: self._n] = self._keys[: self._n]
        self._keys = larger
        self._slots = np.full(2 * len(self._slots), EMPTY, np.int64)
        _insert(self._keys[: self._n], self._slots)


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
def _insert(keys: NDArray[np.int64], slots: Positions) -> None:
    mask = np.uint64(len(slots) - 1)
    for code in range(len(keys)):
        slot = mix(np.uint64(keys[code])) & mask
        while slots[slot] != EMPTY:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = code
