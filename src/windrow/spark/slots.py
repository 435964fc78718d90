"""Which value to partition by so that Spark puts each worker into a partition of its own."""

from __future__ import annotations

from functools import cache

_MASK = 0xFFFFFFFF
_SEED = 42


@cache
def slots(n: int, partitions: int | None = None) -> tuple[int, ...]:
    """For each of n workers an int that Spark hashes to a partition of its own.

    Spark partitions by ``pmod(murmur3(value), partitions)``: plain worker numbers would collide,
    and leave other partitions idle. There are at least n partitions, n if not said. The first
    worker's is always 0: it finds the state of any other pattern.

    >>> sorted(_hash_int(s) % 4 for s in slots(4))
    [0, 1, 2, 3]
    """
    found: dict[int, int] = {}
    value = 0
    while len(found) < n:
        found.setdefault(_hash_int(value) % (partitions or n), value)
        value += 1
    return tuple(found.values())


def slots_in_order(partitions: int) -> list[int]:
    """For each partition an int that Spark hashes to it.

    >>> [_hash_int(s) % 4 for s in slots_in_order(4)]
    [0, 1, 2, 3]
    """
    return sorted(slots(partitions), key=lambda slot: _hash_int(slot) % partitions)


def _hash_int(value: int) -> int:
    """Murmur3 (32 bits) of an int with Spark's seed, as a signed number."""
    k = value * 0xCC9E2D51 & _MASK
    k = _rotate(k, 15) * 0x1B873593 & _MASK
    h = _rotate(_SEED ^ k, 13) * 5 + 0xE6546B64 & _MASK
    h ^= 4
    h = (h ^ h >> 16) * 0x85EBCA6B & _MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & _MASK
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


def _rotate(x: int, bits: int) -> int:
    return (x << bits | x >> 32 - bits) & _MASK
