"""Evaluators compute fired windows: results or partials from tuples, results from partials."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.computation import Aggregation, Apply, Computation, Decompose, Fold, Round
from windrow.core.errors import WindrowError, near_names
from windrow.core.models import Axis
from windrow.core.window import Window
from windrow.engine.columns.arrays import Int64s, around
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.evaluate.aggregation import aggregate, result_array
from windrow.engine.evaluate.partials import PartialColumns, order_positions
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.fired import FiredWindows, TupleColumns

Row = Mapping[str, Any]
Evaluated = tuple[list[pa.Array], Int64s | None]
"""One column per field, and the window of each row; None if every window has one row."""


class Evaluator(ABC):
    """Computes the fields of its schema for fired windows."""

    schema: pa.Schema

    def __init__(self, query: WindowQuery) -> None:
        self.query = query

    def __call__(self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable) -> Evaluated:
        """Evaluate windows, which are ranges of the columns."""
        if len(windows) == 0:
            return [pa.array([], f.type) for f in self.schema], None
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
    ) -> Evaluated:
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
                found = checked_rows(result, names, window)
                rows.extend(found)
                counts.append(len(found))
        arrays = [result_array(f.name, [r[f.name] for r in rows], f.type) for f in self.schema]
        return arrays, np.repeat(np.arange(len(windows)), counts)

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
        except WindrowError:
            raise
        except Exception:
            for i, window in enumerate(self.windows(columns, windows, keys)):
                one = windows.take(np.array([i]))
                call(lambda _, one=one: compute(columns, one), window, repr(function))  # type: ignore[misc]
            raise

    def windows(self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable) -> Any:
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
    """Computes results from the tuples of whole windows."""

    def __init__(self, query: WindowQuery) -> None:
        super().__init__(query)
        self.schema = query.result_schema()

    def evaluate(self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable) -> Evaluated:
        computation = self.query.computation
        if isinstance(computation, Aggregation):
            compact, ranges = columns.compact(windows)
            functions = computation.functions
            kinds = self.schema.types
            results = []
            for function, kind in zip(functions.values(), kinds, strict=True):
                compute = partial(aggregate, function, kind=kind)
                results.append(self.naming(function, compute, compact, ranges, keys))
            return results, None
        if isinstance(computation, Fold):
            return self._call_each(_folding(computation, columns), columns, windows, keys)
        return self._call_each(_whole(computation), columns, windows, keys)


class PiecesOfWindows(Evaluator):
    """Computes partials from the tuples of panes or of parts of windows.

    ``order`` names columns that order the tuples of a key in the same way on every worker.
    """

    def __init__(self, query: WindowQuery, order: Sequence[str]) -> None:
        super().__init__(query)
        self.order = order
        computation = query.computation
        if isinstance(computation, Decompose):
            self.schema = query.partial_schema()
        else:
            self.partials = PartialColumns(query)
            self.schema = self.partials.schema

    def evaluate(self, columns: TupleColumns, windows: FiredWindows, keys: KeyTable) -> Evaluated:
        computation = self.query.computation
        if isinstance(computation, Decompose):
            return self._call_each(computation.last.partial, columns, windows, keys)
        compact, ranges = columns.compact(windows)
        length = int(ranges.hi.max(initial=0))
        positions = order_positions(compact, self.order, length)
        arrays = []
        for function in self.partials.functions.values():
            lift = partial(self.partials.lift, function, positions)
            arrays += self.naming(function, lift, compact, ranges, keys)
        return arrays, None


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
        together = combining(computation.last, columns, self.fields)
        return self._call_each(together, columns, windows, keys)


def combining(r: Round, columns: TupleColumns, fields: list[str]) -> Callable[[Window], Any]:
    """A round's ``combine`` as a function of a window of partials."""

    def combine(window: Window) -> Any:
        parts = [columns.python(name, window._lo, window._hi) for name in fields]
        return r.combine([dict(zip(fields, p, strict=True)) for p in zip(*parts, strict=True)])

    combine.__name__ = getattr(r.combine, "__name__", repr(r.combine))
    return combine


def _whole(computation: Computation) -> Callable[[Window], Any]:
    if isinstance(computation, Apply):
        return computation.function
    assert isinstance(computation, Decompose)
    rounds = computation.rounds

    def decomposed(window: Window) -> Any:
        made = rounds[0].combine([rounds[0].partial(window)])
        for r in rounds[1:]:
            made = r.combine([r.partial(window, made)])
        return made

    return decomposed


def _folding(computation: Fold, columns: TupleColumns) -> Callable[[Window], Any]:
    init, update = computation.init, computation.update

    def fold(window: Window) -> Any:
        accumulated = init() if callable(init) else copy.deepcopy(init)
        names = window.columns
        values = [columns.python(name, window._lo, window._hi) for name in names]
        for row in zip(*values, strict=True):
            accumulated = update(accumulated, dict(zip(names, row, strict=True)))
        return accumulated

    fold.__name__ = getattr(update, "__name__", repr(update))
    return fold


def call(function: Callable[[Window], Any], window: Window, name: str | None = None) -> Any:
    """Call a user's function. An error names the function, the key, the window and its bounds."""
    try:
        return function(window)
    except Exception as e:
        called = name or getattr(function, "__name__", repr(function))
        raise WindrowError(
            f"{called} failed on window {window.id} of key {window.key!r} "
            f"[{window.start}, {window.end}) with {len(window)} rows",
            f"{type(e).__name__}: {e}",
        ) from e


def checked_rows(result: Any, names: list[str], window: Window) -> Sequence[Row]:
    """The rows that a function returned, checked against the declared fields."""
    if isinstance(result, Mapping):
        return [_checked_row(result, names, window)]
    if isinstance(result, list | tuple) and all(isinstance(r, Mapping) for r in result):
        return [_checked_row(r, names, window) for r in result]
    if len(names) == 1 and result is not None and not isinstance(result, list | tuple):
        return [{names[0]: result}]
    raise WindrowError(
        f"the function must return a dict, or a list of dicts, of {names}",
        f"{result!r} for {window!r}",
        "return [] for no row.",
    )


def _checked_row(row: Row, names: list[str], window: Window) -> Row:
    for name in names:
        if name not in row:
            raise WindrowError(
                f"the function must return every field that returns declares: {name!r} is missing",
                f"{list(row)} for {window!r}",
            )
    unknown = next((name for name in row if name not in names), None)
    if unknown is None:
        return row
    raise WindrowError(
        f"the function returned a field that returns does not declare: {unknown!r}",
        f"{list(row)} for {window!r}",
        near_names(unknown, names, "fields"),
    )
