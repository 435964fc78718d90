"""The grid: which cells receive which tuples, so that every pair meets in exactly one cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import ARRIVAL
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import HOME, integers, kind_of, side_of
from windrow.engine.joins.seat import Seat
from windrow.engine.stages.routes import Route
from windrow.kernels.hashing import hash_together


@dataclass(frozen=True)
class Grid:
    """``rows`` x ``columns`` cells in each of the ``partitions``.

    A left tuple goes to all cells of one row, a right tuple to all cells of one column (DP-Join,
    section 4.3). Tuples are partitioned by a hash of the codes of the terms ``by``, which are
    indices into the predicate. If such a term ``has_copies``, a right tuple may go to several
    partitions.
    """

    rows: int = 1
    columns: int = 1
    partitions: int = 1
    by: tuple[int, ...] = ()
    has_copies: bool = False

    @property
    def n(self) -> int:
        return self.partitions * self.rows * self.columns

    def seat(self, index: int) -> Seat:
        """The seat of a cell."""
        row, column = index // self.columns % self.rows, index % self.columns
        is_shared = (self.columns > 1, self.rows > 1 or self.has_copies)
        return Seat(is_shared, (column == 0, row == 0))

    def describe(self, query: JoinQuery) -> str:
        cells = f"{self.rows} x {self.columns}"
        if self.partitions == 1:
            return cells
        by = ", ".join(query.on.terms[i].partitioned_by or "" for i in self.by)
        parts = f"{self.partitions} partitions by hash({by})"
        return parts if cells == "1 x 1" else f"{parts}, each {cells}"


@dataclass(frozen=True)
class ToCells(Route):
    """Sends the tuples of both sides to the cells of a grid."""

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

    def _partitioned(
        self, tuples: pa.Table, side: int, line: Int64s
    ) -> Iterator[tuple[int, pa.Table, Int64s]]:
        """For each partition its number, its tuples, and their rows or columns."""
        if self.grid.partitions == 1:
            yield 0, tuples, line
            return
        home, *others = self._partitions(tuples, side)
        for p in range(self.grid.partitions):
            is_home = home == p
            mask = np.logical_or.reduce([is_home, *(other == p for other in others)])
            part = tuples.filter(pa.array(mask))
            if self.grid.has_copies and side == 1:
                part = part.append_column(HOME, pa.array(is_home[mask]))
            yield p, part, line[mask]

    def _partitions(self, tuples: pa.Table, side: int) -> list[Int64s]:
        """The home partition of each tuple, then the others that a right tuple goes to."""
        codes = [self.query.on.terms[i].partition(side, tuples) for i in self.grid.by]
        copies = range(max(map(len, codes)))
        hashes = (hash_together([own[min(k, len(own) - 1)] for own in codes]) for k in copies)
        return [(h % np.uint64(self.grid.partitions)).astype(np.int64) for h in hashes]

    def describe(self) -> str:
        return f"left to a row, right to a column of {self.grid.describe(self.query)}"
