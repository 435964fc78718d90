"""The rounds of ``decompose``: partials of pieces, and what ``combine`` makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.computation import Decompose, Round
from windrow.core.window import Window
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.evaluate.calling import call, name_of
from windrow.engine.evaluate.evaluator import Evaluated, Evaluator
from windrow.engine.evaluate.evaluators import (
    PiecesOfWindows,
    WholeWindows,
    combining,
    partial_rows,
)
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.fired import FiredWindows, TupleColumns

Made = dict[tuple[int, int], Any]
"""What ``combine`` returned in a round, by the code of the key and the id of the window."""


class RoundEvaluator(PiecesOfWindows):
    """Computes the partials of one round, given the previous round's results for the windows."""

    def __init__(self, query: WindowQuery, number: int) -> None:
        super().__init__(query, [])
        self.number = number
        self.schema = query.partial_schema(number)
        self.made: Made = {}

    @property
    def round(self) -> Round:
        assert isinstance(self.query.computation, Decompose)
        return self.query.computation.rounds[self.number]

    def evaluate(
        self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable
    ) -> tuple[list[pa.Array], Int64s]:
        function = self.round.partial
        if self.number == 0:
            return self._call_each(function, columns, windows, keys)
        codes = iter(windows.keys.tolist())

        def with_made(window: Window) -> Any:
            return function(window, self.made[next(codes), window.id])

        with_made.__name__ = name_of(function)
        return self._call_each(with_made, columns, windows, keys)

    def combining(self, partials: TupleColumns, n: int) -> Callable[[Window], Any]:
        """The round's ``combine`` as a function of a window of these n partials."""
        rows = partial_rows(partials, self.schema.names, 0, n)
        return combining(self.round, lambda lo, hi: rows[lo:hi])


class DecomposedWindows(Evaluator):
    """Computes all rounds on whole windows: each is its only piece."""

    def __init__(self, query: WindowQuery) -> None:
        super().__init__(query)
        assert isinstance(query.computation, Decompose)
        self.schema = query.result_schema()
        self.rounds = [RoundEvaluator(query, n) for n in range(len(query.computation.rounds))]

    def evaluate(self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable) -> Evaluated:
        kept, made = np.arange(len(windows)), Made()
        for r in self.rounds:
            r.made = made
            arrays, rows = r.evaluate(columns, windows.take(kept), keys)
            partials = TupleColumns.of(pa.table(arrays, names=r.schema.names))
            counts = np.bincount(rows, minlength=len(kept))
            ends = np.cumsum(counts)
            some, kept = np.flatnonzero(counts), kept[counts > 0]
            whole = windows.take(kept)
            bounds = whole.start, whole.end, (ends - counts)[some], ends[some]
            pieces = FiredWindows(whole.keys, whole.ids, *bounds)
            combine = r.combining(partials, len(rows))
            if r is self.rounds[-1]:
                arrays, rows = self._call_each(combine, partials, pieces, keys)
                return arrays, kept[rows]
            each = self.windows(partials, pieces, keys)
            at = zip(whole.keys.tolist(), whole.ids.tolist(), strict=True)
            made = {place: call(combine, window) for place, window in zip(at, each, strict=True)}
        raise AssertionError("decompose has at least one round")


def whole_windows(query: WindowQuery) -> Evaluator:
    """The evaluator of whole windows for a query."""
    is_decomposed = isinstance(query.computation, Decompose)
    return DecomposedWindows(query) if is_decomposed else WholeWindows(query)
