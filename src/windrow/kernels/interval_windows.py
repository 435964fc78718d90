"""Which windows of many keys have fired, if windows are intervals of time, rank or pane."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.core.models import interval
from windrow.core.watermark import END_OF_STREAM
from windrow.kernels.columns import Positions
from windrow.kernels.compiled import compiled
from windrow.kernels.fired import put_window, with_room
from windrow.kernels.search import first_at_least

_last_ended = compiled(interval.last_ended)
_last_id = compiled(interval.last_id)
_bounds_of = compiled(interval.bounds_of)


@compiled
def next_hosted(id: int, shift: int, batch: int, hosted: NDArray[np.bool_]) -> int:
    """The first window from ``id`` on that belongs to a worker hosted here.

    Window i of a key belongs to worker ``(shift + i // batch) mod n`` (Mencagli 2019, equation 1,
    for batches of windows); ``hosted`` has n entries.
    """
    n = len(hosted)
    block = id // batch
    if hosted[(shift + block) % n]:
        return id
    for _ in range(n):
        block += 1
        if hosted[(shift + block) % n]:
            return block * batch
    return END_OF_STREAM


@compiled
def fire_intervals(
    axis: Positions,
    head: Positions,
    tail: Positions,
    next_id: Positions,
    shift: Positions,
    hosted: NDArray[np.bool_],
    batch: int,
    length: int,
    slide: int,
    every: int,
    origin: int,
    reached: Positions,
) -> NDArray[np.int64]:
    """The windows that fire, as rows (key, id, lo, hi); moves ``next_id`` and ``head`` on.

    The tuples of key k are ``axis[head[k]:tail[k]]``, ascending. A window fires if its end is at
    most ``reached[k]``: the watermark, the number of tuples, or END_OF_STREAM. All windows of a key
    whose shift is negative are computed here. Tuples that no later window of the workers hosted
    here holds are evicted by moving ``head`` on.

    Time O(keys + windows * log + tuples evicted), space O(windows). Neither depends on the number
    of tuples held.
    """
    windows = np.empty((256, 4), np.int64)
    n = 0
    for k in range(len(head)):
        if head[k] == tail[k]:
            continue
        limit = END_OF_STREAM
        if reached[k] != END_OF_STREAM:
            limit = _last_ended(reached[k], length, slide, origin)
        is_shared = len(hosted) > 1 and shift[k] >= 0
        id = max(next_id[k], _last_ended(axis[head[k]], length, slide, origin) + 1)
        lo, hi = head[k], head[k]
        while id <= limit and lo < tail[k]:
            if is_shared:
                own = next_hosted(id, shift[k], batch, hosted)
                if own > id:
                    id = own
                    continue
            start, end = _bounds_of(id, length, slide, every, origin)
            while lo < tail[k] and axis[lo] < start:
                lo += 1
            if lo == tail[k]:
                break
            if axis[lo] >= end:
                id = max(id + 1, _last_ended(axis[lo], length, slide, origin) + 1)
                continue
            hi = max(lo, hi)
            if hi < tail[k] and axis[hi] < end:
                hi = first_at_least(axis, hi + 1, tail[k], end)
            if n == len(windows):
                windows = with_room(windows, n)
            put_window(windows, n, k, id, lo, hi)
            n += 1
            id += 1
        if limit != END_OF_STREAM:
            next_id[k] = max(next_id[k], limit + 1)
        else:
            next_id[k] = max(next_id[k], id)
        own = next_id[k]
        if is_shared:
            own = next_hosted(own, shift[k], batch, hosted)
        while head[k] < tail[k] and _last_id(axis[head[k]], slide, every, origin) < own:
            head[k] += 1
    return windows[:n]
