"""Running combinations within segments, for any associative function over columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.kernels.columns import Column, Positions

Partials = tuple[Column, ...]
"""One partial per position, spread over columns of equal length."""

Combine = Callable[[Partials, Partials], Partials]
"""Combines two runs of partials position by position, the older first; vectorised."""


def scan_segments(partials: Partials, opens: NDArray[np.bool_], combine: Combine) -> Partials:
    """For each position, its segment's partials up to and including it, combined left to right.

    ``opens`` marks the positions where a segment starts. Neighbours are combined in pairs, the
    pairs are scanned, and the positions in between are filled in. So the order is kept, and
    ``combine`` only needs to be associative. It is also called on neighbours from different
    segments; these results are thrown away.

    Time O(n) in O(log longest segment) vectorised calls, space O(n). R. Brent and H. Kung, A
    regular layout for parallel adders, 1982; segments as in G. Blelloch, Prefix sums and their
    applications, 1990.

    >>> opens = np.array([True, False, False, True, False])
    >>> scan_segments((np.array([1, 2, 3, 4, 5]),), opens, lambda a, b: (a[0] + b[0],))
    (array([1, 3, 6, 4, 9]),)
    """
    n = len(opens)
    if n < 2 or opens[1:].all():
        return partials
    paired = n - n % 2
    older = tuple(c[0:paired:2] for c in partials)
    newer = tuple(c[1:paired:2] for c in partials)
    pairs = _unless(opens[1:paired:2], newer, combine(older, newer))
    through = scan_segments(pairs, opens[0:paired:2] | opens[1:paired:2], combine)

    between = tuple(c[2::2] for c in partials)
    before = tuple(c[: len(between[0])] for c in through)
    filled = _unless(opens[2::2], between, combine(before, between))
    scanned = tuple(np.empty(n, dtype=c.dtype) for c in through)
    for out, column, odd, even in zip(scanned, partials, through, filled, strict=True):
        out[0] = column[0]
        out[1::2] = odd
        out[2::2] = even
    return scanned


def combine_across(
    partials: Partials,
    lo: Positions,
    hi: Positions,
    anchor: Positions,
    opens: NDArray[np.bool_],
    combine: Combine,
) -> Partials:
    """Combine each non-empty range as its part before its anchor, then its part from there on.

    ``opens[a]`` holds for every anchor ``a`` below n, and for no position inside a range but its
    anchor. Each range satisfies ``lo <= anchor <= hi``.

    Time O(n + ranges), space O(n).

    >>> lo, hi, anchor = np.array([0, 1]), np.array([3, 4]), np.array([2, 2])
    >>> opens = np.array([False, False, True, False])
    >>> add = lambda a, b: (a[0] + b[0],)
    >>> combine_across((np.array([1, 2, 3, 4]),), lo, hi, anchor, opens, add)
    (array([6, 9]),)
    """
    with np.errstate(all="ignore"):  # results across segments are thrown away
        ahead = scan_segments(partials, opens, combine)
        closes = np.append(opens[1:], True)[::-1]
        mirrored = tuple(c[::-1] for c in partials)
        behind = scan_segments(mirrored, closes, lambda a, b: combine(b, a))
    behind = tuple(c[::-1] for c in behind)

    results = tuple(
        np.where(hi == anchor, b[lo], a[hi - 1]) for a, b in zip(ahead, behind, strict=True)
    )
    both = np.flatnonzero((lo < anchor) & (anchor < hi))
    older = tuple(b[lo[both]] for b in behind)
    newer = tuple(a[hi[both] - 1] for a in ahead)
    for result, joined in zip(results, combine(older, newer), strict=True):
        result[both] = joined
    return results


def fill_empty(
    n_ranges: int, occupied: Positions, results: Partials, identity: Sequence[Any]
) -> Partials:
    """The results of the occupied ranges among ``n_ranges``, the identity for the others.

    >>> fill_empty(3, np.array([1]), (np.array([5]),), (0,))
    (array([0, 5, 0]),)
    """
    columns = []
    for result, neutral in zip(results, identity, strict=True):
        column = np.full(n_ranges, neutral, dtype=result.dtype)
        column[occupied] = result
        columns.append(column)
    return tuple(columns)


def _unless(flag: NDArray[np.bool_], kept: Partials, otherwise: Partials) -> Partials:
    return tuple(np.where(flag, k, o) for k, o in zip(kept, otherwise, strict=True))
