"""Late tuples: those behind the watermark when they come. Which of them still find a window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.core.models import CountWindow, LandmarkWindow, SessionWindow, TimeWindow, WindowModel
from windrow.engine.columns.arrays import Int64s
from windrow.engine.windows.buffer import WindowBuffer
from windrow.engine.windows.windower import IntervalWindower, Share

Mask = NDArray[np.bool_]


def find_windows(
    model: WindowModel,
    times: Int64s,
    codes: Int64s,
    previous: int,
    buffer_axis: Int64s,
    buffer: WindowBuffer,
) -> tuple[Mask, Mask]:
    """Which late tuples count in windows that had not fired at ``previous``, and which are lost.

    Where tuples are ranked a late one can no longer take its place. A tuple in the gap between
    hopping windows is neither kept nor lost.
    """
    if isinstance(model, TimeWindow | LandmarkWindow):
        fired = IntervalWindower(model, Share()).limit(previous)
        first, last = model.mapping(times)
        return (first <= last) & (last > fired), (first <= last) & (last <= fired)
    if isinstance(model, SessionWindow):
        is_kept = _joins_session(times, codes, model.gap, previous, buffer_axis, buffer)
        return is_kept, ~is_kept
    assert isinstance(model, CountWindow) or model.ranks_tuples
    none = np.zeros(len(times), np.bool_)
    return none, ~none


def _joins_session(
    times: Int64s,
    codes: Int64s,
    gap: int,
    previous: int,
    buffer_axis: Int64s,
    buffer: WindowBuffer,
) -> Mask:
    """Whether a tuple is of a session still open: with a tuple held, or not past its end."""
    keys = np.unique(codes)
    held = buffer.positions_of(keys)
    held_codes = np.repeat(keys, buffer.tail[keys] - buffer.head[keys])
    all_codes = np.concatenate([held_codes, codes])
    all_times = np.concatenate([buffer_axis[held], times])
    is_held = np.arange(len(all_codes)) < len(held)
    order = np.lexsort((all_times, all_codes))
    c, t = all_codes[order], all_times[order]
    is_new = np.ones(len(c), np.bool_)
    is_new[1:] = (c[1:] != c[:-1]) | (t[1:] - t[:-1] > gap)
    session = np.cumsum(is_new) - 1
    last = t[np.append(np.flatnonzero(is_new)[1:], len(t)) - 1]
    has_held = np.zeros(len(last), np.bool_)
    np.logical_or.at(has_held, session, is_held[order])
    is_open = has_held | (last + gap >= previous)
    kept = np.empty(len(c), np.bool_)
    kept[order] = is_open[session]
    return kept[len(held) :]
