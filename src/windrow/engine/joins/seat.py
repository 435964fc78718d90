"""A cell's seat in the grid: which tuples it shares with other cells, and which it represents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.engine.columns.control import ARRIVAL
from windrow.engine.joins.attributes import Mask
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import HOME, MATCHED, labelled
from windrow.engine.joins.results import closed_rows


@dataclass(frozen=True)
class Seat:
    """How a cell relates to the other copies of its tuples; left, then right.

    ``is_shared``: other cells have copies too. ``speaks``: this cell's copy represents the tuple,
    unless the tuple's ``HOME`` is in another partition. Exactly one copy represents a tuple.
    """

    is_shared: tuple[bool, bool] = (False, False)
    speaks: tuple[bool, bool] = (True, True)

    def speaks_for(self, side: int, tuples: pa.Table) -> Mask:
        """A mask of the tuples that the cell represents."""
        if not self.speaks[side]:
            return np.zeros(len(tuples), np.bool_)
        if HOME in tuples.column_names:
            return np.asarray(tuples[HOME])
        return np.ones(len(tuples), np.bool_)

    def close(
        self, query: JoinQuery, side: int, tuples: pa.Table, matched: Mask
    ) -> Iterator[pa.Table]:
        """The messages about tuples whose windows are over; ``matched`` is what this cell knows.

        If no other cell has copies, these are result rows. Otherwise the cell that represents a
        tuple hands the tuple on, and the other cells only report that it has matched there.
        """
        if not self.is_shared[side]:
            yield closed_rows(query, side, tuples, matched)
            return
        speaks = self.speaks_for(side, tuples)
        told = tuples.select([ARRIVAL]).filter(pa.array(matched & ~speaks))
        if len(told):
            yield labelled(told, "matched", side)
        # A tuple that has matched gives no row, except in a semi join.
        is_asked = speaks if query.how == "semi" else speaks & ~matched
        if is_asked.any():
            asked = tuples.append_column(MATCHED, pa.array(matched)).filter(pa.array(is_asked))
            yield labelled(asked, "closed", side)
