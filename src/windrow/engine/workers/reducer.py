"""The reducer of Win_MapReduce: combines the parts of each window."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.engine.columns.arrays import sort_keys, sorting_order
from windrow.engine.columns.control import PART, PIECE, PIECE_END, PIECE_START
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.evaluate.evaluators import WindowsOfPieces
from windrow.engine.evaluate.kept_rows import order_columns
from windrow.engine.evaluate.results import evaluated
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.engine.workers.worker import Message, Worker


class Reducer(Worker):
    """Combines the parts of windows. All parts of a window arrive at the same watermark."""

    def __init__(self, query: WindowQuery) -> None:
        self.query = query
        self.evaluator = WindowsOfPieces(query)
        self.waiting: list[pa.Table] = []

    def push(self, message: Message) -> None:
        self.waiting.append(message)

    def advance(self, watermark: int) -> list[Message]:
        if not self.waiting:
            return []
        parts = pa.concat_tables(self.waiting, promote_options="permissive")
        self.waiting = []
        columns, windows, keys = windows_of_parts(self.query, parts)
        self.fired += len(windows)
        return [evaluated(self.query, self.evaluator, columns, windows, keys)]


def windows_of_parts(
    query: WindowQuery, parts: pa.Table
) -> tuple[TupleColumns, FiredWindows, KeyTable]:
    """The partials in order of key, window and part, and the windows as ranges of them.

    If the parts have rows, and their order matters, these are in order across parts.
    """
    keys = KeyTable(query.keys)
    codes = keys.codes(parts)
    ids = np.asarray(parts[PIECE].to_numpy())
    ties = order_columns(parts.column_names) or [PART]
    order = sorting_order([codes, ids, *(key for c in ties for key in sort_keys(parts[c]))])
    parts, codes, ids = parts.take(order), codes[order], ids[order]
    is_new = (np.diff(codes, prepend=-1) != 0) | (np.diff(ids, prepend=ids[:1] - 1) != 0)
    lo = np.flatnonzero(is_new)
    start, end = (np.asarray(parts[c].to_numpy())[lo] for c in (PIECE_START, PIECE_END))
    windows = FiredWindows(codes[lo], ids[lo], start, end, lo, np.append(lo[1:], len(parts)))
    needless = {*query.keys, PIECE, PIECE_START, PIECE_END, PART, *ties}
    columns = TupleColumns.of(parts.select([c for c in parts.column_names if c not in needless]))
    return columns, windows, keys
