"""Evaluators compute fired windows: results or partials from tuples, results from partials."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from windrow.core.computation import Aggregation, Apply, Decompose, Fold, Round
from windrow.core.decimals import wide_decimals
from windrow.core.models import Axis
from windrow.core.window import Window
from windrow.engine.columns.arrays import Int64s, around
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.evaluate.aggregation import aggregate
from windrow.engine.evaluate.calling import Row, call, checked_rows, name_of, unfit
from windrow.engine.evaluate.partials import PartialColumns, order_positions
from windrow.engine.evaluate.returned import Unfit, column_of
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.fired import FiredWindows, TupleColumns

Evaluated = tuple[list[pa.Array], Int64s | None]
"""One column per field, and the window of each row; None if every window has one row."""


class Evaluator(ABC):
    """Computes the fields of its schema for fired windows, with all digits of Decimals."""

    schema: pa.Schema
    gives_pieces: ClassVar[bool] = False
    """Whether it gives partials of pieces of windows, not results of windows."""

    def __init__(self, query: WindowQuery) -> None:
        self.query = query

    def __call__(self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable) -> Evaluated:
        """Evaluate windows, which are ranges of the columns."""
        if len(windows) == 0:
            return [pa.array([], f.type) for f in self.schema], None
        with wide_decimals():
            return self.evaluate(columns, windows, keys)

    @abstractmethod
    def evaluate(
        self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable
    ) -> Evaluated: ...

    def _call_each(
        self,
        function: Callable[[Window], Any],
        columns: TupleColumns,
        windows: FiredWindows,
        keys: KeyTable,
    ) -> tuple[list[pa.Array], Int64s]:
        """Call a function once per window and gather the rows it returns."""
        rows: list[Row] = []
        counts: list[int] = []
        names = self.schema.names
        expected = set(names)
        for window in self.windows(columns, windows, keys):
            result = call(function, window)
            if type(result) is dict and result.keys() == expected:
                rows.append(result)
                counts.append(1)
            else:
                found = checked_rows(result, names, name_of(function), window)
                rows.extend(found)
                counts.append(len(found))
        of_rows = np.repeat(np.arange(len(windows)), counts)
        try:
            return [column_of([r[f.name] for r in rows], f) for f in self.schema], of_rows
        except Unfit as e:
            window = self._window_at(int(of_rows[e.row]), columns, windows, keys)
            raise unfit(name_of(function), e, window) from None

    def naming(
        self,
        function: Any,
        compute: Callable[[TupleColumns, FiredWindows], Any],
        columns: TupleColumns,
        windows: FiredWindows,
        keys: KeyTable,
    ) -> Any:
        """Compute many windows at once. If that fails, find the window at fault and name it."""
        try:
            return compute(columns, windows)
        except Unfit as e:
            window = self._window_at(e.row, columns, windows, keys)
            raise unfit(repr(function), e, window) from None
        except Exception:
            for i, window in enumerate(self.windows(columns, windows, keys)):
                one = windows.take(np.array([i]))
                call(lambda _, one=one: compute(columns, one), window, repr(function))  # type: ignore[misc]
            raise

    def _window_at(
        self, position: int, columns: TupleColumns, windows: FiredWindows, keys: KeyTable
    ) -> Window:
        return next(islice(self.windows(columns, windows, keys), position, None))

    def windows(
        self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable
    ) -> Iterator[Window]:
        """Yield each window as a user sees it."""
        shown = columns.shown([c for c in self.query.types if c in columns.stored])
        starts, ends = self._bounds(windows)
        known, key = -1, None
        lists = (windows.keys, windows.ids, windows.lo, windows.hi)
        for k, id, lo, hi, start, end in zip(
            *(c.tolist() for c in lists), starts, ends, strict=True
        ):
            if k != known:
                known, key = k, keys.value(k)
            yield Window(shown, key=key, id=id, start=start, end=end, lo=lo, hi=hi)

    def _bounds(self, windows: FiredWindows) -> tuple[list[Any], list[Any]]:
        """Starts and ends. Bounds in time have the kind and unit of the event-time column."""
        query, bounds = self.query, (windows.start, windows.end)
        if query.model.axis is not Axis.TIME or query.time is None:
            return windows.start.tolist(), windows.end.tolist()
        if query.types[query.time] in ("bigint", "int"):
            return around(*bounds, query.unit)
        starts, ends = (list(b.astype("M8[us]")) for b in bounds)
        return starts, ends


class WholeWindows(Evaluator):
    """Computes results from the tuples of whole windows, except those of ``decompose``."""

    def __init__(self, query: WindowQuery) -> None:
        super().__init__(query)
        self.schema = query.result_schema()

    def evaluate(self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable) -> Evaluated:
        computation = self.query.computation
        if isinstance(computation, Aggregation):
            compact, ranges = columns.compact(windows)
            results = []
            for field in self.schema:
                function = computation.functions[field.name]
                compute = partial(aggregate, function, field=field)
                results.append(self.naming(function, compute, compact, ranges, keys))
            return results, None
        if isinstance(computation, Fold):
            return self._call_each(_folding(computation, columns), columns, windows, keys)
        assert isinstance(computation, Apply)
        return self._call_each(computation.function, columns, windows, keys)


class PiecesOfWindows(Evaluator):
    """Computes partials from the tuples of panes or of parts of windows.

    ``order`` names columns that order the tuples of a key in the same way on every worker.
    """

    gives_pieces = True

    def __init__(self, query: WindowQuery, order: Sequence[str]) -> None:
        super().__init__(query)
        self.order = order
        computation = query.computation
        if isinstance(computation, Decompose):
            self.schema = query.partial_schema()
        else:
            self.partials = PartialColumns(query, order)
            self.schema = self.partials.schema

    def evaluate(self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable) -> Evaluated:
        computation = self.query.computation
        if isinstance(computation, Decompose):
            return self._call_each(computation.last.partial, columns, windows, keys)
        compact, ranges = columns.compact(windows)
        length = int(ranges.hi.max(initial=0))
        positions: Sequence[Any] = range(length)
        if self.partials.needs_positions:
            positions = order_positions(compact, self.order, length)
        arrays = []
        for function in self.partials.of_pieces.values():
            lift = partial(self.partials.lift, function, positions)
            arrays += self.naming(function, lift, compact, ranges, keys)
        return self.partials.with_rows(arrays, compact, ranges)


class MergedPieces(Evaluator):
    """Computes partials from the partials of panes that emitters have made, in any order."""

    gives_pieces = True

    def __init__(self, query: WindowQuery) -> None:
        super().__init__(query)
        self.partials = PartialColumns(query)
        self.schema = self.partials.schema

    def evaluate(self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable) -> Evaluated:
        return self.partials.merge(*columns.compact(windows)), None


class WindowsOfPieces(Evaluator):
    """Computes results from the partials of panes or parts."""

    def __init__(self, query: WindowQuery) -> None:
        super().__init__(query)
        self.schema = query.result_schema()
        if isinstance(query.computation, Aggregation):
            self.partials = PartialColumns(query)
        else:
            self.fields = query.partial_schema().names

    def evaluate(self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable) -> Evaluated:
        computation = self.query.computation
        if isinstance(computation, Aggregation):
            compact, ranges = columns.compact(windows)
            results = []
            for name, function in self.partials.functions.items():
                combine = partial(self.partials.combine, name)
                results.append(self.naming(function, combine, compact, ranges, keys))
            return results, None
        assert isinstance(computation, Decompose)
        partials = partial(partial_rows, columns, self.fields)
        together = combining(computation.last, partials)
        return self._call_each(together, columns, windows, keys)


def partial_rows(columns: TupleColumns, fields: list[str], lo: int, hi: int) -> list[Row]:
    """The partials ``lo:hi`` as ``combine`` gets them."""
    parts = [columns.python(name, lo, hi) for name in fields]
    return [dict(zip(fields, p, strict=True)) for p in zip(*parts, strict=True)]


def combining(r: Round, partials: Callable[[int, int], list[Row]]) -> Callable[[Window], Any]:
    """A round's ``combine`` as a function of a window of partials."""

    def combine(window: Window) -> Any:
        return r.combine(partials(window._lo, window._hi))

    combine.__name__ = name_of(r.combine)
    return combine


def _folding(computation: Fold, columns: TupleColumns) -> Callable[[Window], Any]:
    init, update = computation.init, computation.update

    def fold(window: Window) -> Any:
        accumulated = init() if callable(init) else copy.deepcopy(init)
        names = window.columns
        values = [columns.python(name, window._lo, window._hi) for name in names]
        for row in zip(*values, strict=True):
            accumulated = update(accumulated, dict(zip(names, row, strict=True)))
        return accumulated

    fold.__name__ = name_of(update)
    return fold
