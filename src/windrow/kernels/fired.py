"""A growing list of fired windows: key, id, lo, hi."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.kernels.compiled import compiled

Windows = NDArray[np.int64]


@compiled
def with_room(windows: Windows, n: int) -> Windows:
    """The list with room for window ``n``: it doubles when full.

    >>> with_room(np.empty((1, 4), np.int64), 1).shape
    (2, 4)
    """
    if n < len(windows):
        return windows
    larger = np.empty((2 * n, 4), np.int64)
    larger[:n] = windows
    return larger


@compiled
def put_window(windows: Windows, n: int, key: int, id: int, lo: int, hi: int) -> None:
    """Write window ``n``."""
    windows[n, 0] = key
    windows[n, 1] = id
    windows[n, 2] = lo
    windows[n, 3] = hi
