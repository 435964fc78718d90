"""The grid: to which cells the tuples of each side go, so that every pair meets in one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.predicates import Band
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import ARRIVAL
from windrow.engine.columns.key_table import hash_keys
from windrow.engine.joins.attributes import as_kind, numbers
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import HOME, integers, kind_of, side_of
from windrow.engine.joins.probing import band_bounds
from windrow.engine.joins.seat import Seat
from windrow.engine.stages.routes import Route
from windrow.kernels.columns import Column

_WIDTH = 8
"""Buckets are this many times as wide as the band: one right tuple in eight is sent to two."""
_FURTHEST = 2.0**40
"""Buckets beyond are one: there floats are too coarse to tell neighbours apart."""


@dataclass(frozen=True)
class Grid:
    """``rows`` x ``columns`` cells in each of the ``partitions``.

    A left tuple goes to one row, a copy to each of its columns; a right tuple to one column, a
    copy to each of its rows (004_32846949b9597348, section 4.3). Partitions are by the hash of the
    equi columns (``by_equi``) and of the bucket of band number ``by_band``.
    """

    rows: int = 1
    columns: int = 1
    partitions: int = 1
    by_equi: bool = False
    by_band: int | None = None

    @property
    def n(self) -> int:
        return self.partitions * self.rows * self.columns

    def seat(self, index: int) -> Seat:
        """What the copies of tuples in a cell are."""
        row, column = index // self.columns % self.rows, index % self.columns
        is_spread = self.by_band is not None and self.partitions > 1
        return Seat((self.columns > 1, self.rows > 1 or is_spread), (column == 0, row == 0))

    def describe(self, query: JoinQuery) -> str:
        by = [f"l.{e.left}" for e in query.on.equis] if self.by_equi else []
        if self.by_band is not None:
            band = query.on.bands[self.by_band]
            by.append(f"bucket(l.{band.left}, {bucket_width(band)})")
        cells = f"{self.rows} x {self.columns}"
        if self.partitions == 1:
            return cells
        parts = f"{self.partitions} partitions by hash({', '.join(by)})"
        return parts if cells == "1 x 1" else f"{parts}, each {cells}"


def bucket_width(band: Band) -> float | None:
    """The width of a band's buckets; None if it has none: all or nothing is in the band."""
    width = _WIDTH * (band.below + band.above)
    return width if 0 < width < 2.0**60 else None


@dataclass(frozen=True)
class ToCells(Route):
    """The tuples of both sides to the cells of a grid."""

    query: JoinQuery
    grid: Grid

    @property
    def n(self) -> int:  # type: ignore[override]
        return self.grid.n

    def targets(self, message: Any, instance: int) -> list[Any]:
        if kind_of(message) == "progress" or self.n == 1:
            return [message] * self.n
        grid, side = self.grid, side_of(message)
        sent: list[Any] = [None] * self.n
        lines = (grid.rows, grid.columns)[side]
        line = integers(message, ARRIVAL) % lines
        for p, part, own in self._partitioned(message, side, line):
            for i in range(lines):
                share = part if lines == 1 else part.filter(pa.array(own == i))
                for j in range((grid.columns, grid.rows)[side]):
                    row, column = (i, j) if side == 0 else (j, i)
                    sent[(p * grid.rows + row) * grid.columns + column] = share
        return sent

    def _partitioned(self, tuples: pa.Table, side: int, line: Int64s) -> Any:
        """(partition, its tuples, their rows or columns)."""
        partitions = self.grid.partitions
        if partitions == 1:
            yield 0, tuples, line
            return
        homes, others = self._partitions(tuples, side)
        for p in range(partitions):
            is_home = homes == p
            mask = is_home.copy()
            for other in others:
                mask |= other == p
            part = tuples.filter(pa.array(mask))
            if others:
                part = part.append_column(HOME, pa.array(is_home[mask]))
            yield p, part, line[mask]

    def _partitions(self, tuples: pa.Table, side: int) -> tuple[Int64s, list[Int64s]]:
        """The first partition of each tuple, and the others that a right tuple goes to."""
        columns = []
        if self.grid.by_equi:
            for equi, kind in zip(self.query.on.equis, self.query.equi_kinds, strict=True):
                columns.append(as_kind(tuples[(equi.left, equi.right)[side]], kind))
        if self.grid.by_band is None:
            return self._hashed(columns, len(tuples)), []
        band, kind = (of[self.grid.by_band] for of in (self.query.on.bands, self.query.band_kinds))
        values, valid = numbers(tuples[(band.left, band.right)[side]], kind)
        # What is in no band is anywhere at home: infinity, too, would be in every bucket.
        is_finite = np.isfinite(values) if valid is None else valid & np.isfinite(values)
        values = np.where(is_finite, values, 0)
        width = bucket_width(band)
        assert width is not None
        if side == 0:
            return self._hashed([*columns, _column(buckets(values, width))], len(tuples)), []
        lo, hi = (buckets(bound, width) for bound in band_bounds(band, 1, values))
        spread = range(int((hi - lo).max(initial=0)) + 1)
        found = [
            self._hashed([*columns, _column(np.minimum(lo + k, hi))], len(tuples)) for k in spread
        ]
        return found[0], [*found[1:], found[0]]

    def _hashed(self, columns: list[pa.ChunkedArray], n: int) -> Int64s:
        return (hash_keys(columns, n) % np.uint64(self.grid.partitions)).astype(np.int64)

    def describe(self) -> str:
        return f"left to a row, right to a column of {self.grid.describe(self.query)}"


def buckets(values: Column, width: float) -> Int64s:
    """The bucket of each value, non-decreasing with it.

    >>> buckets(np.array([-1, 0, 79, 80]), 80)
    array([-1,  0,  0,  1])
    """
    if values.dtype.kind == "i":
        return np.asarray(values // np.int64(np.ceil(width)), np.int64)
    return np.floor(np.clip(values / width, -_FURTHEST, _FURTHEST)).astype(np.int64)


def _column(values: Int64s) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values)])
