"""Output tables: the results of windows or the partials of pieces."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.engine.columns.control import PART, PIECE, PIECE_END, PIECE_START
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.evaluate.evaluator import Evaluator
from windrow.engine.window_query import END, ID, START, WindowQuery
from windrow.engine.windows.fired import FiredWindows, TupleColumns


def evaluated(
    query: WindowQuery,
    evaluator: Evaluator,
    columns: TupleColumns,
    windows: FiredWindows,
    keys: KeyTable,
) -> pa.Table:
    """The keys, ids and bounds of windows, with the fields that the evaluator computes."""
    arrays, rows = evaluator(columns, windows, keys)
    kept = windows if rows is None else windows.take(rows)
    kind: pa.DataType | None = query.bound_type()
    names = [ID, START, END]
    if evaluator.gives_pieces:
        names, kind = [PIECE, PIECE_START, PIECE_END], None
    found = [*keys.take(kept.keys), pa.array(kept.ids)]
    for bound in (kept.start, kept.end):
        raw = pa.array(np.ascontiguousarray(bound))
        found.append(raw if kind is None else raw.cast(kind))
    return pa.table([*found, *arrays], names=[*query.keys, *names, *evaluator.schema.names])


def with_part(partials: pa.Table, part: int) -> pa.Table:
    """Add the number of the part that the partials were computed from."""
    return partials.append_column(PART, pa.array([part] * len(partials), pa.int32()))
