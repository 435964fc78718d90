"""Copies of segments of columns, from some places to others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.engine.columns.arrays import Int64s

_LONG = 64
"""Tuples per segment from which a copy of each segment by itself is faster."""


def spread(lo: Int64s, lengths: Int64s) -> Int64s:
    """The positions in all ranges ``lo[i] .. lo[i] + lengths[i]``, concatenated.

    >>> spread(np.array([5, 0]), np.array([2, 1]))
    array([5, 6, 0])
    """
    before = np.cumsum(lengths) - lengths
    return np.repeat(lo - before, lengths) + np.arange(lengths.sum(), dtype=np.int64)


@dataclass(frozen=True)
class Segments:
    """Segments that begin at ``source`` and go to ``target``. They do not overlap."""

    source: Int64s
    target: Int64s
    lengths: Int64s

    def copy(self, given: NDArray[Any], into: NDArray[Any]) -> None:
        """Copy them from one array into another, or within one.

        >>> into = np.zeros(6, np.int64)
        >>> segments = Segments(np.array([0, 2]), np.array([3, 0]), np.array([2, 1]))
        >>> segments.copy(np.array([1, 2, 3]), into)
        >>> into
        array([3, 0, 0, 1, 2, 0])
        """
        if int(self.lengths.sum()) < _LONG * len(self.lengths):
            into[spread(self.target, self.lengths)] = given[spread(self.source, self.lengths)]
            return
        bounds = zip(self.source.tolist(), self.target.tolist(), self.lengths.tolist(), strict=True)
        for source, target, length in bounds:
            into[target : target + length] = given[source : source + length]
