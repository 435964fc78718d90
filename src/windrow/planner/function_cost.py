"""What a user's function costs per window, measured on a few windows of sampled rows."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
import pyarrow as pa

from windrow.core.computation import Aggregation
from windrow.engine.columns.control import TIME
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.evaluate.rounds import whole_windows
from windrow.engine.intake import window_tuples
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.planner.load import Load

LEAST_WINDOWS = 200
"""Of fewer windows none is called: a single call could be more than 1 % of the query."""
_SECONDS = 0.1
"""How long calls go on: until they have taken this, or the call that takes more has ended."""
_AT_ONCE = 8
"""How many windows are computed together."""
_ROUNDS = 3


def is_measurable(query: WindowQuery) -> bool:
    """Whether the function is the user's and is called once per window."""
    return not isinstance(query.computation, Aggregation)


def measured_cost(query: WindowQuery, rows: pa.Table, load: Load) -> float | None:
    """Microseconds per window; None if there is nothing to call it on, or if it raises.

    The windows have as many rows as the load says, one after the other as they were sampled,
    whatever their keys: only the time of the call counts. If there are too few rows for a window,
    the time is taken to grow with the rows.
    """
    if not is_measurable(query) or load.windows < LEAST_WINDOWS:
        return None
    try:
        tuples, _ = window_tuples(query, _of_one_key(query, rows))
        if len(tuples) == 0:
            return None
        wanted = max(1, round(load.rows_per_window))
        length = min(wanted, len(tuples))
        return _least_time(_calling(query, tuples, length)) * wanted / length
    except Exception:
        # What is wrong with it, the query itself says on its own rows.
        return None


def _of_one_key(query: WindowQuery, rows: pa.Table) -> pa.Table:
    """The rows as if all of them had the key of the first."""
    for key in query.keys:
        i = rows.schema.get_field_index(key)
        same = rows[key].take(pa.array(np.zeros(len(rows), np.int64)))
        rows = rows.set_column(i, rows.schema.field(i), same)
    return rows


def _calling(query: WindowQuery, tuples: pa.Table, length: int) -> Callable[[int], object]:
    """What computes so many windows of this length."""
    if TIME in tuples.column_names:
        tuples = tuples.sort_by(TIME)
    evaluator = whole_windows(query)
    keys = KeyTable(query.keys)
    keys.codes(tuples)
    axis = tuples[TIME].to_numpy() if TIME in tuples.column_names else np.arange(len(tuples))
    columns = TupleColumns.of(tuples)

    def call(n: int) -> object:
        ids = np.arange(n)
        lo = ids * length % (len(tuples) - length + 1)
        hi = lo + length
        windows = FiredWindows(np.zeros(n, np.int64), ids, axis[lo], axis[hi - 1] + 1, lo, hi)
        return evaluator(columns, windows, keys)

    return call


def _least_time(call: Callable[[int], object]) -> float:
    """The least time of a window in some rounds, in microseconds."""
    began = perf_counter()
    call(1)
    first = least = perf_counter() - began
    if first > _SECONDS:
        return first * 1e6
    for _ in range(_ROUNDS):
        start = perf_counter()
        if start - began > _SECONDS:
            break
        n = max(1, min(_AT_ONCE, int(_SECONDS / _ROUNDS / max(least, 1e-6))))
        call(n)
        least = min(least, (perf_counter() - start) / n)
    return least * 1e6
