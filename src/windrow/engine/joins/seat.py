"""A cell's seat in the grid: whether other cells have copies of its tuples, and who speaks."""

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
    """What the copies of tuples in a cell are, of the left and of the right.

    ``is_shared``: other cells have copies of a tuple. ``speaks``: this one speaks for it, unless
    the tuple's ``HOME`` is another partition.
    """

    is_shared: tuple[bool, bool] = (False, False)
    speaks: tuple[bool, bool] = (True, True)

    def speaks_for(self, side: int, tuples: pa.Table) -> Mask:
        """For which tuples the cell speaks: of all copies of a tuple one does."""
        if not self.speaks[side]:
            return np.zeros(len(tuples), np.bool_)
        if HOME in tuples.column_names:
            return np.asarray(tuples[HOME])
        return np.ones(len(tuples), np.bool_)

    def close(
        self, query: JoinQuery, side: int, tuples: pa.Table, matched: Mask
    ) -> Iterator[pa.Table]:
        """What to tell of tuples whose windows are over, given which have matched in this cell.

        Rows of the result where no other cell has copies. Else the cell that speaks for a tuple
        hands it on, and the others only tell that it has matched with them.
        """
        if not self.is_shared[side]:
            yield closed_rows(query, side, tuples, matched)
            return
        speaks = self.speaks_for(side, tuples)
        told = tuples.select([ARRIVAL]).filter(pa.array(matched & ~speaks))
        if len(told):
            yield labelled(told, "matched", side)
        # Of a tuple that has matched here nothing more is to be known, unless matches are wanted.
        is_asked = speaks if query.how == "semi" else speaks & ~matched
        if is_asked.any():
            asked = tuples.append_column(MATCHED, pa.array(matched)).filter(pa.array(is_asked))
            yield labelled(asked, "closed", side)
