"""Hashes of keys: the same in every process and on every machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windrow.kernels.columns import Positions, as_column
from windrow.kernels.compiled import compiled

Hashes = NDArray[np.uint64]


@compiled
def mix(x: np.uint64) -> np.uint64:
    """Spread a number over 64 bits (splitmix64)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled
def hash_integers(values: Positions, seed: Hashes) -> Hashes:
    """The hash of each value, folded into ``seed``. Time O(n)."""
    hashes = np.empty(len(values), np.uint64)
    for i in range(len(values)):
        hashes[i] = mix(np.uint64(values[i]) ^ seed[i])
    return hashes


@compiled
def number_integers(values: Positions, n: int) -> Positions:
    """The hash of each value, folded into no other, modulo ``n``. Time O(n)."""
    numbers = np.empty(len(values), np.int64)
    modulus = np.uint64(n)
    if n & (n - 1) == 0:
        # A division would cost as much as everything else.
        for i in range(len(values)):
            numbers[i] = mix(np.uint64(values[i])) & (modulus - np.uint64(1))
    else:
        for i in range(len(values)):
            numbers[i] = mix(np.uint64(values[i])) % modulus
    return numbers


def hash_together(columns: Sequence[Positions]) -> Hashes:
    """One hash of the values of several columns. Time O(values)."""
    hashes = np.zeros(len(columns[0]), np.uint64)
    for values in columns:
        hashes = hash_integers(as_column(values), hashes)
    return hashes


@compiled
def hash_bytes(offsets: Positions, data: NDArray[np.uint8], seed: Hashes) -> Hashes:
    """The hash of each ``data[offsets[i]:offsets[i + 1]]`` (FNV-1a), folded into ``seed``.

    Time O(bytes).
    """
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(hashes)):
        h = np.uint64(0xCBF29CE484222325)
        for j in range(offsets[i], offsets[i + 1]):
            h = (h ^ np.uint64(data[j])) * np.uint64(0x100000001B3)
        hashes[i] = mix(h ^ seed[i])
    return hashes
