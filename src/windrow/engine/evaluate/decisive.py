"""The tuples of panes that can still decide a result: windows are computed from them alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.computation import Aggregation
from windrow.core.models import mapped
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.storage import ColumnStorage
from windrow.engine.evaluate.aggregation import takes_codes
from windrow.engine.evaluate.kept_rows import KeptRows
from windrow.engine.evaluate.partials import PartialColumns
from windrow.engine.window_query import WindowQuery
from windrow.functions.columnar import Values
from windrow.kernels.pane_runs import pane_runs

_LEAST = 8
"""Tuples per pane from which it pays to leave some out."""


class DecisiveTuples:
    """Finds the tuples that matter, of functions that need few rows of a pane: first, top_k, ...

    All tuples of a pane are in the same windows. So whatever arrives later, a tuple that decides no
    result over its own pane decides none over a window. Of each pane, or part of one, some tuple is
    kept, so that no window loses all its tuples.
    """

    def __init__(self, query: WindowQuery, rows: KeptRows) -> None:
        self.rows = rows
        self.keys = query.keys
        self.pane = mapped(query.model).pane_length
        self.origin = mapped(query.model).panes_begin()

    @staticmethod
    def of(query: WindowQuery) -> DecisiveTuples | None:
        """None if a function may need all tuples, or windows have no panes."""
        pane = query.model.pane_length
        if pane is None or not isinstance(query.computation, Aggregation):
            return None
        if query.model.ranks_tuples and pane < _LEAST:
            return None
        partials = PartialColumns(query)
        if partials.rows is None or partials.of_pieces or not partials.rows.are_few:
            return None
        return DecisiveTuples(query, partials.rows)

    def are_dense(self, times: Int64s) -> bool:
        """Whether a pane of time may have many of these tuples."""
        assert self.pane is not None
        span = int(times.max()) - int(times.min()) if len(times) else 0
        return len(times) >= _LEAST * (span // self.pane)

    def among(
        self, tuples: pa.Table, order: Int64s, codes: Int64s, positions: Int64s, *, with_last: bool
    ) -> Int64s | None:
        """Which tuples are kept, ascending, as places in their order; None if all are.

        ``order`` puts the tuples in order of key, position and what else orders them. ``codes`` and
        ``positions``, which are times or ranks, are in that order already. The last tuple of each
        pane is kept as well if others must learn that it has come.
        """
        assert self.pane is not None
        lo = pane_runs(codes, positions, self.pane, self.origin)
        if len(lo) * _LEAST > len(codes):
            return None
        hi = np.append(lo[1:], len(codes))
        columns = {n: _Column(s, tuples[n], order) for n, s in self.rows.storages.items()}

        def inputs(function: Any) -> list[Values]:
            return [columns[c].values(function) for c in function.columns]

        kept, _ = self.rows.chosen(inputs, lo, hi)
        return np.union1d(kept, hi - 1) if with_last else kept


class _Column:
    """A column of tuples, in their order, in the form that a function takes."""

    def __init__(self, storage: ColumnStorage, column: pa.ChunkedArray, order: Int64s) -> None:
        self.storage, self.column, self.order = storage, column, order

    def values(self, function: Any) -> Values:
        decimals = None if takes_codes(function) else function.takes_decimals
        found, _ = self.storage.of_arrow(self.column, decimals)
        valid = None if found.valid is None else found.valid[self.order]
        return Values(found.values[self.order], valid, found.scale)
