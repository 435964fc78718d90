"""Sorted runs: tuples of one side, in the order in which they are searched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import RANK, TIME
from windrow.engine.joins.attributes import Mask
from windrow.engine.joins.candidates import Columns
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import SEEN, integers
from windrow.kernels.columns import Column
from windrow.kernels.hashing import hash_together


class Run:
    """Tuples of one side, sorted by the predicate's code, then by the attribute of its first range.

    Without a range they are sorted by place: their time, or in count windows their rank. The first
    ``usable`` tuples can match; those behind them never do, for example because of a null.

    Only ``matched`` ever changes.
    """

    def __init__(
        self, query: JoinQuery, side: int, tuples: pa.Table, matched: Mask | None = None
    ) -> None:
        self.query, self.side = query, side
        tuples = tuples.combine_chunks()
        codes, values, usable = _sort_columns(query, side, tuples)
        order = _order(codes, values, usable)
        if order is not None:
            tuples, values = tuples.take(pa.array(order)), values[order]
            codes = None if codes is None else codes[order]
            matched = None if matched is None else matched[order]
        self.usable = len(tuples) if usable is None else int(usable.sum())
        self.tuples = tuples
        self.codes, self.values = codes, values
        self.places = places(query, tuples)
        self.first, self.last = int(self.places.min()), int(self.places.max())
        self.matched = matched
        if matched is None and query.keeps(side):
            self.matched = np.zeros(len(tuples), np.bool_)
        self.columns = Columns(side, tuples)
        for term in query.on.ranged[:1]:
            self.columns.keep(term, values)

    def __len__(self) -> int:
        return len(self.tuples)

    @property
    def seen(self) -> Int64s:
        """How many tuples of the other side come before each tuple; only in count windows."""
        return integers(self.tuples, SEEN)

    def rows(self, positions: Int64s) -> pa.Table:
        """Some tuples, without control columns."""
        return self.columns.data.take(pa.array(positions))


def merged(older: Run, newer: Run) -> Run:
    """Both runs in one. Without codes this takes O(n): the stable sort merges two sorted runs."""
    matched = None
    if older.matched is not None and newer.matched is not None:
        matched = np.concatenate([older.matched, newer.matched])
    tuples = pa.concat_tables([older.tuples, newer.tuples], promote_options="permissive")
    return Run(older.query, older.side, tuples, matched)


def places(query: JoinQuery, tuples: pa.Table) -> Int64s:
    """The place of each tuple in its stream: its time, or in count windows its rank."""
    return integers(tuples, RANK if query.by_count else TIME)


def _sort_columns(
    query: JoinQuery, side: int, tuples: pa.Table
) -> tuple[Int64s | None, Column, Mask | None]:
    """The codes, the values of the first range, and a mask of the tuples that can match."""
    usable: Mask | None = None
    codes: list[Int64s] = []
    values: list[Column] = []
    for terms, columns in ((query.on.coded, codes), (query.on.ranged, values)):
        for term in terms:
            attribute, valid = term.attribute(side, tuples)
            columns.append(attribute)
            usable = _both(usable, valid)
    code = hash_together(codes).view(np.int64) if len(codes) > 1 else next(iter(codes), None)
    return code, values[0] if values else places(query, tuples), usable


def _both(a: Mask | None, b: Mask | None) -> Mask | None:
    if a is None or b is None:
        return b if a is None else a
    return a & b


def _order(codes: Int64s | None, values: Column, usable: Mask | None) -> Int64s | None:
    """The order of the tuples; None if they are in order already."""
    keys: list[NDArray[Any]] = [values]
    if codes is not None:
        keys.append(codes)
    if usable is not None and not usable.all():
        keys.append(~usable)
    if len(keys) > 1:
        return np.lexsort(keys)
    if bool((values[1:] >= values[:-1]).all()):
        return None
    return np.argsort(values, kind="stable")
