"""The band join of two sorted runs: pairs of positions, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

import numpy as np

from windrow.kernels.columns import Column, Positions, read_only
from windrow.kernels.compiled import compiled
from windrow.kernels.search import first_above, first_at_least

BLOCK = 1 << 18
"""The most pairs returned at once."""

_NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Probes:
    """What to find: a code, a value in [lo, hi], and a place in [near_lo, near_hi].

    If there is a second value, it must be in [more_lo, more_hi]. Ordering: by code, then ``lo``.
    """

    codes: Positions | None
    lo: Column
    hi: Column
    near_lo: Positions
    near_hi: Positions
    more_lo: Column | None = None
    more_hi: Column | None = None


@dataclass(frozen=True)
class Targets:
    """Where to find it. Ordering: by code, then by value."""

    codes: Positions | None
    values: Column
    places: Positions
    more: Column | None = None


def band_pairs(probes: Probes, targets: Targets) -> Iterator[tuple[Positions, Positions]]:
    """The positions (probe, target) of all pairs, in blocks of at most ``BLOCK``.

    Time O(probes * log targets + candidates), where the candidates are the pairs of equal code
    whose value is in the probe's range. It is less if probes are near each other, because each
    search gallops on from the one before. Space O(BLOCK). This is an indexed join of two batches:
    the nested loops of DP-Join, section 4, compare a probe with every tuple of the other window.

    >>> near = np.zeros(2, np.int64), np.full(2, 9)
    >>> probes = Probes(None, np.array([1, 4]), np.array([3, 9]), *near)
    >>> targets = Targets(None, np.array([2, 3, 5]), np.array([0, 20, 1]))
    >>> [(p.tolist(), t.tolist()) for p, t in band_pairs(probes, targets)]
    [([0, 1], [0, 2])]
    """
    n, size = len(probes.lo), len(targets.values)
    if n == 0 or size == 0:
        return
    columns = [_given(getattr(of, f.name)) for of in (probes, targets) for f in fields(of)]
    fill: Callable[..., tuple[int, int, int]] = _fill
    room = min(BLOCK, n * size)
    at_probe, at_target = 0, -1
    while at_probe < n:
        left, right = np.empty(room, np.int64), np.empty(room, np.int64)
        at_probe, at_target, found = fill(*columns, at_probe, at_target, left, right)
        if found:
            yield left[:found], right[:found]


def _given(column: Column | None) -> Column:
    """One array type for all inputs, so that the kernel is compiled once per number type."""
    return read_only(_NOTHING if column is None else np.ascontiguousarray(column))


@compiled
def _fill(
    probe_codes: Positions,
    lo: Column,
    hi: Column,
    near_lo: Positions,
    near_hi: Positions,
    more_lo: Column,
    more_hi: Column,
    codes: Positions,
    values: Column,
    places: Positions,
    more: Column,
    at_probe: int,
    at_target: int,
    left: Positions,
    right: Positions,
) -> tuple[int, int, int]:
    """Fill the block from a probe and a target on; return where to go on and the number found."""
    found, size = 0, len(values)
    is_coded, has_more = len(codes) > 0, len(more) > 0
    begin, end, first = 0, size, 0
    for p in range(at_probe, len(lo)):
        if is_coded and (p == at_probe or probe_codes[p] != probe_codes[p - 1]):
            begin = first_at_least(codes, begin, size, probe_codes[p])
            end = begin
            if begin < size and codes[begin] == probe_codes[p]:
                end = first_above(codes, begin, size, probe_codes[p])
            first = begin
        first = first_at_least(values, first, end, lo[p])
        t = first
        if p == at_probe and at_target >= 0:
            t = at_target
        while t < end and values[t] <= hi[p]:
            if near_lo[p] <= places[t] <= near_hi[p] and (
                not has_more or more_lo[p] <= more[t] <= more_hi[p]
            ):
                if found == len(left):
                    return p, t, found
                left[found], right[found] = p, t
                found += 1
            t += 1
    return len(lo), -1, found
