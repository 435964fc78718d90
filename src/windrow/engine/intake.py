"""Intake: prepares tuples for the first emitter by adding the control columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.core.computation import Aggregation
from windrow.core.errors import WindrowError
from windrow.engine.columns.arrays import to_microseconds
from windrow.engine.columns.control import ARRIVAL, RANK, TIME
from windrow.engine.columns.held import as_held
from windrow.engine.window_query import WindowQuery


def needed_columns(query: WindowQuery) -> list[str]:
    """The input columns that the function, the keys, the windows or the order of tuples need."""
    if not isinstance(query.computation, Aggregation):
        return list(query.types)
    given = [] if query.rank is None else [query.rank]
    needed = [
        *query.keys,
        *query.order_by,
        *given,
        *query.computation.columns,
        *query.model.columns,
    ]
    return list(dict.fromkeys(needed))


def window_tuples(
    query: WindowQuery, batch: pa.Table, arrived: int | None = None
) -> tuple[pa.Table, int]:
    """The usable tuples of a batch, and the number of tuples dropped.

    A tuple is dropped if its time, or a column that the window model needs, is null. With
    ``arrived``, tuples are numbered in order of arrival, starting there. A batch may already have
    its time in microseconds, in the control column.
    """
    tuples = as_held(batch.select(needed_columns(query)))
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
    if query.rank is not None:
        tuples = tuples.append_column(RANK, _ranks(tuples[query.rank], query.rank))
    for name in query.model.columns:
        is_unknown = pc.is_null(tuples[name], nan_is_null=True)
        tuples = tuples.filter(pc.invert(is_unknown))
    return tuples, len(batch) - len(tuples)


def _ranks(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """The ranks that tuples come with."""
    least = pc.min(column).as_py()
    if column.null_count or (least is not None and least < 0):
        got = f"{'null' if column.null_count else least} in {name!r}"
        hint = "leave out such rows, or use order_by, which needs no ranks."
        raise WindrowError("rank_by needs ranks 0, 1, 2, ... within a key", got, hint)
    return column.cast(pa.int64())
