"""What all evaluators have: they compute fired windows, and name the window at fault."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from windrow.core.decimals import wide_decimals
from windrow.core.models import Axis, mapped
from windrow.core.window import Window
from windrow.engine.columns.arrays import Int64s, around
from windrow.engine.columns.control import AXIS
from windrow.engine.columns.key_table import KeyTable
from windrow.engine.evaluate.calling import Row, call, checked_rows, name_of, unfit
from windrow.engine.evaluate.folding import OpenFolds
from windrow.engine.evaluate.partial_ranges import Known
from windrow.engine.evaluate.returned import Unfit, column_of
from windrow.engine.evaluate.sliding import Lift, Panes, SlidingPartials
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
        self.forget()

    def forget(self) -> None:
        """Forget what is kept of windows for later ones: tuples get new numbers."""
        self.sliding: dict[str, SlidingPartials] = {}
        self.folds: OpenFolds = {}

    def slide(
        self, name: str, function: Any, windows: FiredWindows, lift: Lift, panes: Panes | None
    ) -> list[Known]:
        """The partials of windows over numbered tuples, each of which is lifted once."""
        sliding = self.sliding.setdefault(name, SlidingPartials(function))
        return sliding.over(windows, lift, panes)

    def panes(self, columns: TupleColumns) -> Panes | None:
        """The panes of tuples, if the query's windows have panes."""
        model = self.query.model
        if model.pane_length is None:
            return None
        panes, axis = mapped(model).panes(), columns.stored[AXIS].values
        return lambda positions: panes.mapping(axis[positions])[0]

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
