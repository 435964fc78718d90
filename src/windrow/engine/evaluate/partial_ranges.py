"""Partials of ranges for functions written in Python. The algebra decides the algorithm.

| type | ranges | combinations |
|---|---|---|
| overrides ``combine_all`` | any | one call per range |
| ``Invertible``, exact partials | any | one per tuple, one ``subtract`` per range |
| ``Idempotent`` | out of order | log(longest range) per tuple, one per range |
| any other | in order | two per tuple, one per range |
| any other | out of order | as above, but a range that goes back is combined from scratch |

Each partial is wrapped as ``(partial,)``. None means that there is no value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, Inexact, localcontext
from functools import reduce
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np

from windrow.core.aggregate import Aggregate, Idempotent, Invertible
from windrow.engine.columns.arrays import Int64s
from windrow.functions.ranges import are_ordered

Known: TypeAlias = tuple[Any] | None
"""A wrapped partial, or None if there is no value."""
Combine: TypeAlias = Callable[[Any, Any], Any]


def combine_partials(
    function: Aggregate[Any, Any, Any], partials: Sequence[Known], lo: Int64s, hi: Int64s
) -> list[Known]:
    """The partial of each range [lo, hi) of the partials."""
    if function.combines_at_once:
        return _combine_at_once(function, partials, lo, hi)
    if isinstance(function, Invertible):
        found = subtract_prefixes(function, partials, lo, hi)
        if found is not None:
            return found

    combine = combining_known(function)
    if isinstance(function, Idempotent) and not are_ordered(lo, hi):
        return overlap_partials(combine, partials, lo, hi)
    return slide_partials(combine, partials, lo, hi)


def lift_inside(lift: Callable[[int], Known], n: int, lo: Int64s, hi: Int64s) -> list[Known]:
    """The partials of n tuples. Those outside of all ranges are not lifted."""
    opened = np.zeros(n + 1, np.int64)
    np.add.at(opened, lo, 1)
    np.add.at(opened, hi, -1)
    are_inside = (np.cumsum(opened[:-1]) > 0).tolist()
    return [lift(i) if is_inside else None for i, is_inside in enumerate(are_inside)]


def combining_known(function: Aggregate[Any, Any, Any]) -> Combine:
    """The function's ``combine`` for wrapped partials."""

    def combine(older: Known, newer: Known) -> Known:
        if older is None or newer is None:
            return newer if older is None else older
        return (function.combine(older[0], newer[0]),)

    return combine


def _combine_at_once(
    function: Aggregate[Any, Any, Any], partials: Sequence[Known], lo: Int64s, hi: Int64s
) -> list[Known]:
    found: list[Known] = []
    for first, last in zip(lo.tolist(), hi.tolist(), strict=True):
        some = [p[0] for p in partials[first:last] if p is not None]
        found.append((function.combine_all(some),) if some else None)
    return found


def subtract_prefixes(
    function: Invertible[Any, Any, Any], partials: Sequence[Known], lo: Int64s, hi: Int64s
) -> list[Known] | None:
    """Compute ranges as differences of running partials; None if these are not exact.

    A running partial restarts wherever no range continues from the previous position, so it only
    grows while ranges overlap. Ordering: none. Time O(n + ranges), space O(n).
    """
    try:
        with localcontext() as context:
            context.traps[Inexact] = True
            return _subtract_prefixes(function, partials, lo, hi)
    except Inexact:
        return None


def _subtract_prefixes(
    function: Invertible[Any, Any, Any], partials: Sequence[Known], lo: Int64s, hi: Int64s
) -> list[Known] | None:
    inside = np.zeros(len(partials) + 2, np.int64)
    np.add.at(inside, lo + 1, 1)
    np.add.at(inside, np.maximum(hi, lo + 1), -1)
    continues = np.cumsum(inside) > 0
    before: list[Known] = []
    through: list[Known] = []
    counts = [0]
    running: Known = None
    for partial, is_continued in zip(partials, continues.tolist(), strict=False):
        running = running if is_continued else None
        before.append(running)
        if partial is not None:
            whole = partial[0] if running is None else function.combine(running[0], partial[0])
            if not is_exact(whole):
                return None
            running = (whole,)
        through.append(running)
        counts.append(counts[-1] + (partial is not None))
    found: list[Known] = []
    for first, last in zip(lo.tolist(), hi.tolist(), strict=True):
        if counts[first] == counts[last]:
            found.append(None)
            continue
        whole, older = through[last - 1], before[first]
        found.append(whole if older is None else (function.subtract(whole[0], older[0]),))
    return found


def is_exact(partial: object) -> bool:
    """Whether values can be subtracted from the partial without a rounding error.

    >>> is_exact((1, Decimal("0.1"))), is_exact((1, 0.1)), is_exact(Decimal("NaN"))
    (True, False, False)
    """
    if isinstance(partial, tuple):
        return all(map(is_exact, partial))
    return isinstance(partial, int) or (isinstance(partial, Decimal) and partial.is_finite())


def overlap_partials(
    combine: Combine, partials: Sequence[Known], lo: Int64s, hi: Int64s
) -> list[Known]:
    """Cover each range by two runs whose length is the greatest power of two that fits.

    The runs may overlap. Ordering: none. Algebra: associative and idempotent. Time
    O(n log(longest range) + ranges), space O(n). The same algorithm as
    :func:`windrow.kernels.sparse_table.overlapping_ranges`.

    >>> union = lambda a, b: (a[0] | b[0],)
    >>> overlap_partials(union, [({1},), ({2},), ({3},)], np.array([1, 0]), np.array([3, 3]))
    [({2, 3},), ({1, 2, 3},)]
    """
    found: list[Known] = [None] * len(lo)
    levels = np.frexp(hi - lo)[1]
    runs, length = list(partials), 1
    for level in range(1, int(levels.max(initial=0)) + 1):
        if level > 1:
            runs = [combine(a, b) for a, b in zip(runs, runs[length:], strict=False)]
            length *= 2
        for i in np.flatnonzero(levels == level).tolist():
            found[i] = combine(runs[lo[i]], runs[hi[i] - length])
    return found


def slide_partials(
    combine: Combine, partials: Sequence[Known], lo: Int64s, hi: Int64s
) -> list[Known]:
    """Combine ranges with two stacks.

    The older part of a range is kept as running partials from its end, the newer part as one
    partial. Ordering: lo and hi non-decreasing; a range that goes back is combined from scratch.
    Algebra: associative. Time O(n + ranges), space O(longest range). K. Tangwongsan, M. Hirzel and
    S. Schneider, Low-latency sliding-window aggregation in worst-case constant time, 2017.

    >>> join = lambda a, b: b if a is None else (a[0] + b[0],) if b else a
    >>> slide_partials(join, [("a",), ("b",), ("c",)], np.array([0, 1]), np.array([2, 3]))
    [('ab',), ('bc',)]
    """
    found: list[Known] = []
    older: list[Known] = []
    newer: Known = None
    start, middle, end = 0, 0, 0
    for first, last in zip(lo.tolist(), hi.tolist(), strict=True):
        if first < start or first >= end or last < end:
            older, newer, start, middle, end = [], None, first, first, first
        elif first >= middle:
            older = list(accumulate(partials[first:end][::-1], lambda n, o: combine(o, n)))
            newer, start, middle = None, first, end
        del older[len(older) - (first - start) :]
        newer = reduce(combine, partials[end:last], newer)
        start, end = first, last
        found.append(combine(older[-1] if older else None, newer))
    return found
