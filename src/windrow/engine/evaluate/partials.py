"""Partials of aggregates as columns, which panes and parts of windows send to be combined."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from windrow.core.aggregate import Aggregate
from windrow.core.computation import Aggregation
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.storage import ColumnStorage, decimals_of
from windrow.engine.evaluate.aggregation import (
    MOST_DIGITS,
    aggregate,
    decode,
    kernel_inputs,
    lower_partials,
    scalar_partials,
    suits_kernels,
    takes_codes,
    to_arrow,
)
from windrow.engine.evaluate.kept_rows import OPENS, KeptRows, is_row
from windrow.engine.evaluate.partial_ranges import Known, combine_partials
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.functions.columnar import Values, skip_nulls
from windrow.functions.mergeable import Mergeable
from windrow.functions.ranges import reduce_ranges, sum_ranges_with_loss
from windrow.functions.reducible import Reducible, Reduction

Form: TypeAlias = Literal["reductions", "numbers", "rows", "pickled"]
"""What the partials of a function are."""


def lost_of(column: str) -> str:
    """The column of what rounding has lost of the sums of floats in a partial column."""
    return f"{column}.lost"


class PartialColumns:
    """The partial columns of an aggregation. ``order`` names columns that order a key's tuples.

    A function made of counts, sums and extremes of numbers has one column for each of these. A sum
    of floats has a second column for what rounding has lost; a sum of decimals is one of 256 bits.
    A Mergeable function has a column per number of its partial. Of other columnar functions, a
    piece sends the rows that matter. Only the partials of users' own aggregates are pickled.

    Without kept rows, a piece of a window is one row of partials. With them, it is one or more
    rows, and partials are in the first of these.
    """

    def __init__(self, query: WindowQuery, order: Sequence[str] = ()) -> None:
        assert isinstance(query.computation, Aggregation)
        self.functions = query.computation.functions
        self.fields = {field.name: field for field in query.result_schema()}
        self.storages = {c: ColumnStorage(query.arrow_type(c)) for c in query.computation.columns}
        of_rows = {n: f for n, f in self.functions.items() if self.form_of(f) == "rows"}
        self.rows = KeptRows(query, of_rows, order) if of_rows else None
        self.of_pieces = {n: f for n, f in self.functions.items() if n not in of_rows}
        """The functions that have one partial per piece."""

    def form_of(self, function: Aggregate[Any, Any, Any]) -> Form:
        """What the partials of a function are."""
        if self.is_reducible(function):
            return "reductions"
        if not suits_kernels(function, self.storages):
            return "pickled"
        return "numbers" if isinstance(function, Mergeable) else "rows"

    @property
    def needs_positions(self) -> bool:
        """Whether a pickled partial has the positions of tuples."""
        functions = self.of_pieces.values()
        return any(f.takes_position and self.form_of(f) == "pickled" for f in functions)

    def is_reducible(self, function: Aggregate[Any, Any, Any]) -> bool:
        """Whether its partials are counts of anything, or sums and extremes of numbers."""
        if not isinstance(function, Reducible):
            return False
        reduced = self._reduced(function)
        takes_decimals = function.takes_decimals == "exactly" or takes_codes(function)
        return not any(s.is_object or (s.is_decimal and not takes_decimals) for s in reduced)

    def is_reducible_in_panes(self, function: Aggregate[Any, Any, Any]) -> bool:
        """Whether kernels and Spark can reduce tuples to partials of panes in one pass."""
        if not self.is_reducible(function):
            return False
        return not any(storage.is_decimal for storage in self._reduced(function))

    def _reduced(self, function: Any) -> list[ColumnStorage]:
        """The columns of which sums or extremes are taken."""
        return [
            self.storages[function.columns[r.column]]
            for r in function.reductions
            if r.column is not None and r.op != "count"
        ]

    @property
    def schema(self) -> pa.Schema:
        fields: list[Any] = []
        for name, function in self.of_pieces.items():
            form = self.form_of(function)
            if form == "pickled":
                fields.append((f"{name}#", pa.binary()))
            elif isinstance(function, Mergeable):
                fields += [(f"{name}#{i}", pa.float64()) for i in range(function.width)]
            else:
                fields += self._reduced_fields(name, function)
        if self.rows is not None:
            fields += [(OPENS, pa.bool_())] if self.of_pieces else []
            fields += self.rows.fields
        return pa.schema(fields)

    def _reduced_fields(self, name: str, function: Any) -> list[tuple[str, pa.DataType]]:
        fields = []
        for i, reduction in enumerate(function.reductions):
            column, kind = f"{name}#{i}", self._kind(function, reduction)
            fields.append((column, kind))
            if reduction.op == "sum" and kind == pa.float64():
                fields.append((lost_of(column), kind))
        return fields

    def _kind(self, function: Any, reduction: Reduction) -> pa.DataType:
        if reduction.op == "count" or reduction.column is None:
            return pa.int64()
        storage = self.storages[function.columns[reduction.column]]
        if storage.is_decimal:
            is_sum = reduction.op == "sum"
            return pa.decimal256(MOST_DIGITS, storage.kind.scale) if is_sum else storage.kind
        if reduction.as_float:
            return pa.float64()
        return pa.float64() if pa.types.is_floating(storage.kind) else pa.int64()

    def lift(
        self,
        function: Aggregate[Any, Any, Any],
        positions: Sequence[Any],
        columns: TupleColumns,
        windows: FiredWindows,
    ) -> list[pa.Array]:
        """A function's partials, one per piece. ``positions`` orders the tuples of a key."""
        form = self.form_of(function)
        if form == "reductions":
            return _reduce(function, columns, windows)
        if isinstance(function, Mergeable) and form == "numbers":
            inputs = [values for values, _ in kernel_inputs(function, columns)]
            return list(map(pa.array, function.lift_ranges(inputs, windows.lo, windows.hi)))
        return [pickled(scalar_partials(function, columns, windows, positions))]

    def with_rows(
        self, arrays: Sequence[pa.Array], columns: TupleColumns, windows: FiredWindows
    ) -> tuple[list[pa.Array], Int64s | None]:
        """All columns of pieces with these partials, and the piece of each row."""
        if self.rows is None:
            return list(arrays), None
        positions, pieces = self.rows.choose(columns, windows)
        spread_out: list[pa.Array] = []
        if self.of_pieces:
            opens = np.diff(pieces, prepend=-1) != 0
            places = pa.array(pieces, mask=~opens)
            spread_out = [*(array.take(places) for array in arrays), pa.array(opens)]
        return spread_out + self.rows.arrays(columns, positions), pieces

    def combine(self, name: str, columns: TupleColumns, windows: FiredWindows) -> pa.Array:
        """The results of a function over ranges of pieces."""
        function, field = self.functions[name], self.fields[name]
        if self.rows is not None:
            if name in self.rows.functions:
                return aggregate(function, self.rows.tuples(columns), windows, field)
            columns, windows = _without_rows(columns, windows)
        form = self.form_of(function)
        if form == "reductions":
            return self._lower(name, function, columns, windows)
        if isinstance(function, Mergeable) and form == "numbers":
            numbers = [columns.stored[f"{name}#{i}"].values for i in range(function.width)]
            counts = Values(numbers[0], numbers[0] > 0)
            some, lo, hi = skip_nulls([counts, *map(Values, numbers[1:])], windows.lo, windows.hi)
            return to_arrow(
                function.lower_columns(function.merge_ranges(tuple(some), lo, hi)), field
            )
        sent = columns.stored[f"{name}#"].values[: int(windows.hi.max(initial=0))]
        partials = [pickle.loads(p) for p in sent]
        wholes = combine_partials(function, partials, windows.lo, windows.hi)
        return lower_partials(function, wholes, field)

    def unpickling(self, name: str, columns: TupleColumns, at: Int64s) -> Callable[[int], Known]:
        """What reads the pickled partial in the i-th of these rows, if there is one in it."""
        sent = columns.stored[f"{name}#"].values[at]
        return lambda i: None if sent[i] is None else pickle.loads(sent[i])

    def merge(self, columns: TupleColumns, windows: FiredWindows) -> list[pa.Array]:
        """The partials of ranges of partials, which are all counts, sums and extremes of numbers.

        They do not depend on the order of pieces.
        """
        arrays: list[pa.Array] = []
        for name, function in self.functions.items():
            for i, reduction in enumerate(function.reductions):  # type: ignore[attr-defined]
                column = f"{name}#{i}"
                values, lost = columns.stored[column].values, columns.stored.get(lost_of(column))
                if lost is not None:
                    found = sum_ranges_with_loss(values, windows.lo, windows.hi, lost.values)
                    arrays += map(pa.array, found)
                else:
                    operation: Any = "sum" if reduction.op == "count" else reduction.op
                    merged = reduce_ranges(values, windows.lo, windows.hi, operation)
                    arrays.append(pa.array(merged))
        return arrays

    def completed(self, stored: pa.Table) -> pa.Table:
        """Partials that an older version may have stored, with the columns of this one.

        Older versions did not store what rounding has lost, and pickled the partials of decimals.
        Checkpoints with other pickled partials of functions of the library are refused by then.
        """
        for name, function in self.functions.items():
            if f"{name}#" in stored.column_names and self.is_reducible(function):
                sent = stored[f"{name}#"].to_pylist()
                counts, values = _unpickled([pickle.loads(p) for p in sent])
                kind = self.schema.field(f"{name}#1").type
                stored = stored.append_column(f"{name}#0", pa.array(counts, pa.int64()))
                stored = stored.append_column(f"{name}#1", pa.array(values, kind))
        for name in self.schema.names:
            if name not in stored.column_names:
                stored = stored.append_column(name, pa.array(np.zeros(len(stored))))
        return stored

    def _lower(
        self, name: str, function: Any, columns: TupleColumns, windows: FiredWindows
    ) -> pa.Array:
        combined, scale, dictionary, field = [], None, None, self.fields[name]
        for i, reduction in enumerate(function.reductions):
            column = f"{name}#{i}"
            storage, partials = columns.storages[column], columns.stored[column]
            lost = columns.stored.get(lost_of(column))
            operation: Any = "sum" if reduction.op == "count" else reduction.op
            if storage.is_decimal and operation == "sum":
                scale = storage.kind.scale
            values, dictionary = storage.to_kernel(partials, None if scale is None else "exactly")
            (known,), lo, hi = skip_nulls([values], windows.lo, windows.hi)
            given = None if lost is None else lost.values
            combined.append(reduce_ranges(known, lo, hi, operation, given))
        if scale is not None:
            return to_arrow(function.lower_decimals(combined, scale), field)
        found = function.lower_reductions(combined)
        source = function.returns_values_of
        if source is None:
            return to_arrow(found, field)
        return decode(found, self.storages[function.columns[source]], dictionary, field.type)


def _unpickled(partials: Sequence[Any]) -> tuple[list[int], list[Any]]:
    """Counts, and sums or extremes, of pickled partials of one function of decimals."""
    counts, values = [], []
    for partial in partials:
        if partial is None:
            value, count = None, 0
        else:
            # Only a mean has a count; for the others it matters whether there is a value.
            value, count = partial[0] if isinstance(partial[0], tuple) else (partial[0], 1)
        counts.append(count)
        values.append(value)
    return counts, values


def _reduce(function: Any, columns: TupleColumns, windows: FiredWindows) -> list[pa.Array]:
    arrays = []
    inputs = kernel_inputs(function, columns)
    for reduction in function.reductions:
        if reduction.column is None:
            arrays.append(pa.array(windows.hi - windows.lo))
            continue
        column, dictionary = inputs[reduction.column]
        (values,), lo, hi = skip_nulls([column], windows.lo, windows.hi)
        if reduction.as_float and column.scale is None:
            values = values.astype(np.float64, copy=False)
        if reduction.op == "count":
            arrays.append(pa.array(hi - lo))
        elif reduction.op == "sum" and values.dtype.kind == "f":
            arrays += map(pa.array, sum_ranges_with_loss(values, lo, hi))
        else:
            found = reduce_ranges(values, lo, hi, reduction.op)
            storage = columns.storages[function.columns[reduction.column]]
            if column.scale is not None:
                arrays.append(decimals_of(found, pa.decimal256(MOST_DIGITS, column.scale)))
            elif storage.is_decimal:
                extremes = Values.where(lo < hi, found)
                arrays.append(decode(extremes, storage, dictionary, storage.kind))
            else:
                arrays.append(pa.array(found))
    return arrays


def pickled(partials: Sequence[Known]) -> pa.Array:
    """The partials of a user's own aggregate as a column."""
    return pa.array([pickle.dumps(p) for p in partials], pa.binary())


def _without_rows(
    columns: TupleColumns, windows: FiredWindows
) -> tuple[TupleColumns, FiredWindows]:
    """Only the rows that have partials: one per piece."""
    opens = columns.stored[OPENS].values
    before = np.zeros(len(opens) + 1, np.int64)
    np.cumsum(opens, out=before[1:])
    at = np.flatnonzero(opens)
    stored = {n: c.take(at) for n, c in columns.stored.items() if not is_row(n)}
    w = windows
    pieces = FiredWindows(w.keys, w.ids, w.start, w.end, before[w.lo], before[w.hi])
    return TupleColumns(columns.storages, stored), pieces


def order_positions(columns: TupleColumns, order: Sequence[str], at: Int64s) -> list[Any]:
    """What orders the tuples at some positions, and is comparable between workers."""
    if not order:
        numbers: list[int] = at.tolist()
        return numbers
    parts = []
    for name in order:
        values = columns.python_at(name, at)
        parts.append(
            [(v is not None, v != v, v if v is not None and v == v else 0) for v in values]
        )
    return list(zip(*parts, strict=True))
