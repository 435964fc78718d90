"""``fold``: accumulators of windows, continued where the next window begins with the same tuple."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from windrow.core.computation import Fold
from windrow.core.window import Window
from windrow.engine.evaluate.calling import name_of
from windrow.engine.windows.fired import FiredWindows, TupleColumns


@dataclass(frozen=True)
class OpenFold:
    """The accumulator of the last window of a key: of the tuples numbered ``first`` to ``end``-1.

    The windows since a landmark all begin with the same tuple. Then each tuple is added once. What
    is kept can be computed again from the tuples held, so it is no part of the state.
    """

    first: int
    end: int
    accumulated: Any


OpenFolds: TypeAlias = dict[int, OpenFold]


def folding(
    computation: Fold, columns: TupleColumns, windows: FiredWindows, kept: OpenFolds
) -> Callable[[Window], Any]:
    """The fold as a function of these windows, to be called once for each, in their order."""
    init, update = computation.init, computation.update
    numbers = windows.offset
    offsets = [0] * len(windows) if numbers is None else numbers.tolist()
    of_windows = zip(windows.keys.tolist(), offsets, _may_go_on(windows).tolist(), strict=True)

    def fold(window: Window) -> Any:
        code, offset, may_go_on = next(of_windows)
        first, begin, known = window._lo + offset, window._lo, kept.pop(code, None)
        if known is not None and known.first == first and known.end <= window._hi + offset:
            accumulated, begin = known.accumulated, known.end - offset
        else:
            accumulated = init() if callable(init) else copy.deepcopy(init)
        names = window.columns
        values = [columns.python(name, begin, window._hi) for name in names]
        for row in zip(*values, strict=True):
            accumulated = update(accumulated, dict(zip(names, row, strict=True)))
        if not may_go_on:
            return accumulated
        try:
            given = copy.deepcopy(accumulated)
        except Exception:  # an accumulator that cannot be copied cannot be kept, either
            return accumulated
        kept[code] = OpenFold(first, window._hi + offset, accumulated)
        return given

    fold.__name__ = name_of(update)
    return fold


def _may_go_on(windows: FiredWindows) -> NDArray[np.bool_]:
    """Whether the next window of the key begins, or may begin, with the same tuple."""
    found = np.zeros(len(windows), np.bool_)
    if windows.offset is None or windows.held is None or not len(windows):
        return found
    is_last = np.append(np.diff(windows.keys) != 0, True)
    found[:-1] = ~is_last[:-1] & (np.diff(windows.lo) == 0)
    found[is_last] = (windows.held <= windows.lo + windows.offset)[is_last]
    return found
