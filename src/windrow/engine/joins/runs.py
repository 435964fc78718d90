"""Sorted runs: the tuples of one side that came together, in the order they are searched in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import RANK, TIME
from windrow.engine.columns.key_table import hash_keys
from windrow.engine.columns.storage import ColumnStorage, Stored
from windrow.engine.joins.attributes import Mask, as_kind, numbers
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import SEEN, data_of, integers
from windrow.kernels.columns import Column


class Run:
    """Tuples of one side, sorted by the code of their equi columns, then by the first band's.

    Without a band they are sorted by place: their time, or in count windows their rank. Those with
    a null attribute, or NaN in a band, match nothing: they stand behind the ``usable`` ones.

    All of a run but ``matched`` never changes.
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
        self._seen: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self.tuples)

    @property
    def seen(self) -> Int64s:
        """How many tuples of the other side stand before each, in count windows."""
        return integers(self.tuples, SEEN)

    def band(self, i: int) -> Column:
        """The attribute of a band."""
        if i == 0:
            return self.values
        band = self.query.on.bands[i]
        name = (band.left, band.right)[self.side]
        kind = self.query.band_kinds[i]
        found: Column = self._once(f"band {i}", lambda: numbers(self.tuples[name], kind)[0])
        return found

    def equi(self, i: int) -> pa.ChunkedArray:
        """The attribute of an equality."""
        equi = self.query.on.equis[i]
        name = (equi.left, equi.right)[self.side]
        return self._once(f"equi {i}", lambda: as_kind(self.tuples[name], self.query.equi_kinds[i]))

    def show(self, column: str, positions: Int64s) -> NDArray[Any]:
        """A column of some tuples as a user's function sees it."""
        storage = ColumnStorage(self.tuples.schema.field(column).type)
        stored: Stored = self._once(f"stored {column}", lambda: storage.store(self.tuples[column]))
        return storage.show(stored.take(positions))

    def rows(self, positions: Int64s) -> pa.Table:
        """Some tuples, without control columns."""
        data = self._once("data", lambda: data_of(self.tuples))
        return data.take(pa.array(positions))

    def _once(self, name: str, compute: Any) -> Any:
        if name not in self._seen:
            self._seen[name] = compute()
        return self._seen[name]


def merged(older: Run, newer: Run) -> Run:
    """Both in one. Time O(n), for sorting finds them sorted."""
    matched = None
    if older.matched is not None and newer.matched is not None:
        matched = np.concatenate([older.matched, newer.matched])
    tuples = pa.concat_tables([older.tuples, newer.tuples], promote_options="permissive")
    return Run(older.query, older.side, tuples, matched)


def places(query: JoinQuery, tuples: pa.Table) -> Int64s:
    """Where tuples stand in their stream: the time, or in count windows the rank."""
    return integers(tuples, RANK if query.by_count else TIME)


def _sort_columns(
    query: JoinQuery, side: int, tuples: pa.Table
) -> tuple[Int64s | None, Column, Mask | None]:
    usable: Mask | None = None
    codes, columns = None, []
    for equi, kind in zip(query.on.equis, query.equi_kinds, strict=True):
        column = as_kind(tuples[(equi.left, equi.right)[side]], kind)
        columns.append(column)
        usable = _both(usable, np.asarray(pc.is_valid(column)) if column.null_count else None)
    if is_exact(query):
        codes = np.asarray(columns[0].fill_null(0).to_numpy(), np.int64)
    elif columns:
        codes = hash_keys(columns, len(tuples)).view(np.int64)
    values: Column = places(query, tuples)
    for i, (band, kind) in enumerate(zip(query.on.bands, query.band_kinds, strict=True)):
        attribute, valid = numbers(tuples[(band.left, band.right)[side]], kind)
        usable = _both(usable, valid)
        values = attribute if i == 0 else values
    return codes, values, usable


def is_exact(query: JoinQuery) -> bool:
    """Whether equal codes are equal values: the code is the value itself."""
    return query.equi_kinds == [pa.int64()]


def _both(a: Mask | None, b: Mask | None) -> Mask | None:
    if a is None or b is None:
        return b if a is None else a
    return a & b


def _order(codes: Int64s | None, values: Column, usable: Mask | None) -> Int64s | None:
    """The order of tuples; None if they are in order already."""
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
