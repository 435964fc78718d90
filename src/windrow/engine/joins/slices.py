"""Cuts a batch of both sides into slices that are short compared with the windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from windrow.core.watermark import END_OF_STREAM
from windrow.engine.columns.arrays import Int64s
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import SEEN, integers
from windrow.engine.joins.runs import places

LEAST_SLICE = 8192
"""The average length of a slice is at least this, in tuples."""

Sides = tuple[pa.Table | None, pa.Table | None]


@dataclass(frozen=True)
class Slice:
    """Tuples of both sides that are matched together, and the time the next slice starts at."""

    sides: Sides
    until: int


def slices(query: JoinQuery, sides: Sides) -> Iterator[Slice]:
    """One slice, or several in order of time if the batch is long compared with the windows.

    Each slice is matched only with the windows of its time. A long batch, or a whole bounded
    input, therefore costs no more than a stream of short batches.
    """
    stands = [None if t is None else _stands(query, t) for t in sides]
    known = [s for s in stands if s is not None]
    if not known:
        return
    everything = np.concatenate(known)
    span = int(everything.max()) - int(everything.min())
    least = max(1, sum(query.lengths) // 4)
    n = min(len(everything) // LEAST_SLICE, span // least)
    if n < 2:
        yield Slice(sides, END_OF_STREAM)
        return
    everything.sort()
    cuts = np.unique(everything[np.arange(1, n) * len(everything) // n])
    parts = [_cut(t, s, cuts) for t, s in zip(sides, stands, strict=True)]
    for left, right, until in zip(*parts, [*cuts.tolist(), END_OF_STREAM], strict=True):
        yield Slice((left, right), until)


def _stands(query: JoinQuery, tuples: pa.Table) -> Int64s:
    """The place of each tuple among the tuples of both sides."""
    own = places(query, tuples)
    return own + integers(tuples, SEEN) if query.by_count else own


def _cut(tuples: pa.Table | None, stands: Int64s | None, cuts: Int64s) -> list[pa.Table | None]:
    if tuples is None or stands is None:
        return [None] * (len(cuts) + 1)
    order = np.argsort(stands, kind="stable")
    bounds = [0, *np.searchsorted(stands[order], cuts).tolist(), len(order)]
    return [tuples.take(pa.array(order[a:b])) if b > a else None for a, b in pairwise(bounds)]
