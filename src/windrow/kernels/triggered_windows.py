"""Which windows of many keys have fired, if tuples trigger or delimit them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.core.watermark import END_OF_STREAM
from windrow.kernels.columns import Column, Positions
from windrow.kernels.compiled import compiled
from windrow.kernels.fired import put_window, with_room
from windrow.kernels.search import first_above, first_at_least


@compiled
def fire_slide_by_tuple(
    axis: Positions,
    head: Positions,
    tail: Positions,
    count: Positions,
    next_id: Positions,
    length: int,
    slide: int,
) -> NDArray[np.int64]:
    """Windows of the last ``length`` of time, at every ``slide``-th tuple: (key, id, lo, hi).

    ``count[k]`` tuples of key k have come. The last ``tail[k] - head[k]`` of them are held,
    ascending in time. Moves ``next_id`` and ``head`` on.

    Time O(keys + windows * log held), space O(windows).
    """
    windows = np.empty((256, 4), np.int64)
    n = 0
    for k in range(len(head)):
        lo = head[k]
        while (next_id[k] + 1) * slide <= count[k]:
            trigger = tail[k] - (count[k] - ((next_id[k] + 1) * slide - 1))
            lo = first_above(axis, lo, tail[k], axis[trigger] - length)
            hi = first_above(axis, trigger, tail[k], axis[trigger])
            if n == len(windows):
                windows = with_room(windows, n)
            put_window(windows, n, k, next_id[k], lo, hi)
            n += 1
            next_id[k] += 1
        if head[k] < tail[k]:
            head[k] = first_above(axis, head[k], tail[k], axis[tail[k] - 1] - length)
    return windows[:n]


@compiled
def fire_slide_by_time(
    axis: Positions,
    head: Positions,
    tail: Positions,
    scanned: Positions,
    length: int,
    slide: int,
    origin: int,
    watermark: int,
) -> NDArray[np.int64]:
    """Windows of the last ``length`` tuples, every ``slide`` of time: (key, id, lo, hi).

    The first ``scanned[k]`` tuples held belong to slides that have fired. Moves ``scanned`` and
    ``head`` on.

    Time O(keys + windows * log), space O(windows).
    """
    windows = np.empty((256, 4), np.int64)
    n = 0
    for k in range(len(head)):
        position = head[k] + scanned[k]
        while position < tail[k]:
            id = (axis[position] - origin) // slide + 1
            end = origin + id * slide
            if end > watermark:
                break
            hi = first_at_least(axis, position, tail[k], end)
            if n == len(windows):
                windows = with_room(windows, n)
            put_window(windows, n, k, id, max(head[k], hi - length), hi)
            n += 1
            position = hi
        head[k] = max(head[k], position - (length - 1))
        scanned[k] = position - head[k]
    return windows[:n]


@compiled
def fire_deltas(
    axis: Column,
    head: Positions,
    tail: Positions,
    scanned: Positions,
    next_id: Positions,
    last_trigger: Column,
    length: Any,
    slide: Any,
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Windows of a change of ``length``, whenever the attribute has grown by more than ``slide``.

    Returns (key, id, lo, hi), the position of each window's trigger, and the position of a value
    that is less than the one before it, or -1. Moves ``scanned``, ``next_id``, ``last_trigger`` and
    ``head`` on.

    Time O(keys + tuples not yet scanned + windows * log held), space O(windows).
    """
    windows = np.empty((256, 4), np.int64)
    triggers = np.empty((256, 4), np.int64)
    n = 0
    for k in range(len(head)):
        for position in range(head[k] + scanned[k], tail[k]):
            value = axis[position]
            if position > head[k] and value < axis[position - 1]:
                return windows[:n], triggers[:n, 0], position
            if next_id[k] == 0 or value - last_trigger[k] > slide:
                lo = first_at_least(axis, head[k], position, value - length)
                hi = first_at_least(axis, lo, position, value)
                if lo < hi:
                    if n == len(windows):
                        windows = with_room(windows, n)
                    put_window(windows, n, k, next_id[k], lo, hi)
                    if n == len(triggers):
                        triggers = with_room(triggers, n)
                    put_window(triggers, n, position, 0, 0, 0)
                    n += 1
                last_trigger[k] = value
                next_id[k] += 1
        scanned[k] = tail[k] - head[k]
        if head[k] < tail[k]:
            lo = first_at_least(axis, head[k], tail[k] - 1, axis[tail[k] - 1] - length)
            scanned[k] -= lo - head[k]
            head[k] = lo
    return windows[:n], triggers[:n, 0], -1


@compiled
def fire_sessions(
    axis: Positions,
    head: Positions,
    tail: Positions,
    scanned: Positions,
    next_id: Positions,
    gap: int,
    watermark: int,
) -> NDArray[np.int64]:
    """Sessions whose end the watermark has passed: (key, id, lo, hi).

    The first ``scanned[k]`` tuples held are known to belong to one session. Moves ``scanned``,
    ``next_id`` and ``head`` on.

    Time O(keys + tuples not yet scanned), space O(windows).
    """
    windows = np.empty((256, 4), np.int64)
    n = 0
    for k in range(len(head)):
        position = head[k] + scanned[k]
        while head[k] < tail[k]:
            position = max(position, head[k] + 1)
            while position < tail[k] and axis[position] - axis[position - 1] <= gap:
                position += 1
            is_past = watermark == END_OF_STREAM or axis[position - 1] + gap < watermark
            if position == tail[k] and not is_past:
                break
            if n == len(windows):
                windows = with_room(windows, n)
            put_window(windows, n, k, next_id[k], head[k], position)
            n += 1
            next_id[k] += 1
            head[k] = position
        scanned[k] = position - head[k]
    return windows[:n]
