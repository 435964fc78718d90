"""A growing list of fired windows: key, id, lo, hi."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.kernels.compiled import compiled

KEY, ID, LO, HI = 0, 1, 2, 3


@compiled
def append_window(
    windows: NDArray[np.int64], n: int, key: int, id: int, lo: int, hi: int
) -> NDArray[np.int64]:
    """Write window ``n``; the list doubles when full.

    >>> append_window(np.empty((1, 4), np.int64), 1, 7, 0, 3, 5).shape
    (2, 4)
    """
    if n == len(windows):
        larger = np.empty((2 * n, 4), np.int64)
        larger[:n] = windows
        windows = larger
    windows[n, 0] = key
    windows[n, 1] = id
    windows[n, 2] = lo
    windows[n, 3] = hi
    return windows
