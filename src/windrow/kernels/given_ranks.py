"""Which tuples follow on those before them, if they come with their ranks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.core.models import interval
from windrow.kernels.columns import Positions
from windrow.kernels.compiled import compiled
from windrow.kernels.interval_windows import next_hosted

_last_ended = compiled(interval.last_ended)
_last_id = compiled(interval.last_id)


@compiled
def next_rank(
    rank: int, shift: int, hosted: NDArray[np.bool_], batch: int, length: int, slide: int
) -> int:
    """The first rank from ``rank`` on that a window of a worker hosted here holds."""
    first = max(0, _last_ended(rank, length, slide, 0) + 1)
    own = next_hosted(first, shift, batch, hosted)
    return rank if own <= _last_id(rank, slide, 0, 0) else own * slide


@compiled
def next_ranks_held(
    count: Positions,
    shift: Positions,
    hosted: NDArray[np.bool_],
    batch: int,
    length: int,
    slide: int,
) -> Positions:
    """The rank that follows on the last of each key; ``count`` has one more than the last.

    If the worker has all tuples of a key, whose shift is then negative, that is the count itself.
    """
    following = count.copy()
    for k in range(len(count)):
        if shift[k] >= 0:
            following[k] = next_rank(count[k], shift[k], hosted, batch, length, slide)
    return following


@compiled
def follow_each_other(
    codes: Positions,
    ranks: Positions,
    following: Positions,
    shift: Positions,
    hosted: NDArray[np.bool_],
    batch: int,
    length: int,
    slide: int,
) -> tuple[NDArray[np.bool_], int]:
    """Which tuples have the rank that follows on their key's last, and where one has a lower rank.

    ``following`` has the next rank of each key, and is moved on. The second result is -1 if no rank
    comes again. Time O(tuples).
    """
    passes = np.zeros(len(codes), np.bool_)
    for i in range(len(codes)):
        k = codes[i]
        if ranks[i] < following[k]:
            return passes, i
        if ranks[i] == following[k]:
            passes[i] = True
            following[k] += 1
            if shift[k] >= 0:
                following[k] = next_rank(following[k], shift[k], hosted, batch, length, slide)
    return passes, -1
