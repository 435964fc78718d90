"""Intake of a join: the tuples of one side with their control columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.engine.columns.arrays import to_microseconds
from windrow.engine.columns.control import ARRIVAL, TIME
from windrow.engine.columns.held import as_held
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import labelled


def join_tuples(query: JoinQuery, side: int, batch: pa.Table, arrived: int) -> tuple[pa.Table, int]:
    """The tuples of a batch that have a time, as a message, and the number of those without one.

    Tuples are numbered from ``arrived``, the number of earlier tuples of the side, unless the batch
    has arrival numbers already. The number identifies a tuple within its side.
    """
    tuples = as_held(batch.select(query.needed_columns(side)))
    if ARRIVAL in batch.column_names:
        tuples = tuples.append_column(ARRIVAL, batch[ARRIVAL])
    else:
        numbers = np.arange(arrived, arrived + len(batch))
        tuples = tuples.append_column(ARRIVAL, pa.array(numbers))
    if query.time is not None:
        time = batch[query.time[side]]
        if time.null_count:
            is_known = pc.is_valid(time)
            tuples, time = tuples.filter(is_known), time.filter(is_known)
        tuples = tuples.append_column(TIME, pa.array(to_microseconds(time)))
    return labelled(tuples, "tuples", side), len(batch) - len(tuples)
