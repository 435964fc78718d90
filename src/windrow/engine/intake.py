"""Intake: tuples as the first emitter takes them, with their control columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.core.computation import Aggregation
from windrow.engine.columns.arrays import to_microseconds
from windrow.engine.columns.control import ARRIVAL, TIME
from windrow.engine.window_query import WindowQuery


def needed_columns(query: WindowQuery) -> list[str]:
    """The input columns that the function or the order of tuples depend on."""
    if not isinstance(query.computation, Aggregation):
        return list(query.types)
    needed = [*query.keys, *query.order_by, *query.computation.columns, *query.model.columns]
    return list(dict.fromkeys(needed))


def window_tuples(
    query: WindowQuery, batch: pa.Table, arrived: int | None = None
) -> tuple[pa.Table, int]:
    """The tuples of a batch that belong somewhere, and how many do not.

    A tuple without a time, or without a column that the window model needs, belongs nowhere.
    Tuples are numbered as they arrive, from ``arrived`` on. A batch may bring its time in
    microseconds already, as the control column.
    """
    tuples = batch.select(needed_columns(query))
    if arrived is not None:
        arrival = np.arange(arrived, arrived + len(batch))
        tuples = tuples.append_column(ARRIVAL, pa.array(arrival))
    if query.time is not None:
        is_converted = TIME in batch.column_names
        time = batch[TIME if is_converted else query.time]
        if time.null_count:
            is_known = pc.is_valid(time)
            tuples, time = tuples.filter(is_known), time.filter(is_known)
        times = to_microseconds(time, "us" if is_converted else query.unit)
        tuples = tuples.append_column(TIME, pa.array(times))
    for name in query.model.columns:
        is_unknown = pc.is_null(tuples[name], nan_is_null=True)
        tuples = tuples.filter(pc.invert(is_unknown))
    return tuples, len(batch) - len(tuples)
