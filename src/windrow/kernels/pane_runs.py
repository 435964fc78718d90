"""Where the panes of keys begin among tuples in order."""

from __future__ import annotations

import numpy as np

from windrow.kernels.columns import Positions, read_only
from windrow.kernels.compiled import compiled


def pane_runs(codes: Positions, positions: Positions, length: int, origin: int = 0) -> Positions:
    """Where a tuple is of another key or pane than the one before it.

    Pane p of a key is [origin + p*length, origin + (p+1)*length), of times or ranks.

    Ordering: by key, then by position. Time O(n), with a division per pane; space O(n).

    >>> pane_runs(np.array([0, 0, 0, 1]), np.array([8, 9, 10, 11]), length=10)
    array([0, 2, 3])
    """
    found = np.empty(len(codes), np.int64)
    n = _begin(read_only(codes), read_only(positions), length, origin, found)
    return found[:n]


@compiled
def _begin(
    codes: Positions, positions: Positions, length: int, origin: int, found: Positions
) -> int:
    n = 0
    code, start = np.int64(0), np.int64(0)
    for i in range(codes.shape[0]):
        if n and codes[i] == code and 0 <= positions[i] - start < length:
            continue
        code = codes[i]
        start = origin + (positions[i] - origin) // length * length
        found[n] = i
        n += 1
    return n
