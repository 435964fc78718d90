"""Tables of what was computed: results of windows, or partials of pieces."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.engine.columns.control import PIECE, PIECE_END, PIECE_START
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.evaluate.evaluators import Evaluator, PiecesOfWindows
from windrow.engine.window_query import END, ID, START, WindowQuery
from windrow.engine.windows.fired import FiredWindows


def to_table(
    query: WindowQuery,
    keys: KeyTable,
    windows: FiredWindows,
    arrays: list[pa.Array],
    evaluator: Evaluator,
) -> pa.Table:
    """The windows' keys, ids and bounds beside what was computed of them."""
    columns = keys.take(windows.keys)
    kind: pa.DataType | None = query.bound_type()
    names = [ID, START, END]
    if isinstance(evaluator, PiecesOfWindows):
        names, kind = [PIECE, PIECE_START, PIECE_END], None
    columns.append(pa.array(windows.ids))
    for bound in (windows.start, windows.end):
        raw = pa.array(np.ascontiguousarray(bound))
        columns.append(raw if kind is None else raw.cast(kind))
    return pa.table([*columns, *arrays], names=[*query.keys, *names, *evaluator.schema.names])
