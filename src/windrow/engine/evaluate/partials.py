"""Partials of aggregates as columns, which panes and parts of windows send to be combined."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from decimal import localcontext
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.aggregate import Aggregate
from windrow.core.computation import Aggregation
from windrow.engine.columns.storage import ColumnStorage, decimals_of
from windrow.engine.evaluate.aggregation import (
    MOST_DIGITS,
    decode,
    kernel_inputs,
    lower_partials,
    scalar_partials,
    takes_codes,
    to_arrow,
)
from windrow.engine.evaluate.partial_ranges import combine_partials
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.functions.columnar import Values, skip_nulls
from windrow.functions.exact_sum import DECIMAL_DIGITS
from windrow.functions.ranges import reduce_ranges, sum_ranges_with_loss
from windrow.functions.reducible import Reducible, Reduction


def lost_of(column: str) -> str:
    """The column of what rounding has lost of the sums of floats in a partial column."""
    return f"{column}.lost"


class PartialColumns:
    """The partial columns of an aggregation.

    A function made of counts, sums and extremes of numbers has one column for each of these. A sum
    of floats has a second column for what rounding has lost; a sum of decimals is one of 256 bits.
    The partials of other functions are pickled.
    """

    def __init__(self, query: WindowQuery) -> None:
        assert isinstance(query.computation, Aggregation)
        self.functions = query.computation.functions
        self.fields = {field.name: field for field in query.result_schema()}
        self.storages = {c: ColumnStorage(query.arrow_type(c)) for c in query.computation.columns}

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
        fields = []
        for name, function in self.functions.items():
            if not self.is_reducible(function):
                fields.append((f"{name}#", pa.binary()))
                continue
            assert isinstance(function, Reducible)
            for i, reduction in enumerate(function.reductions):
                column, kind = f"{name}#{i}", self._kind(function, reduction)
                fields.append((column, kind))
                if reduction.op == "sum" and kind == pa.float64():
                    fields.append((lost_of(column), kind))
        return pa.schema(fields)

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
        """A function's partials over ranges of tuples. ``positions`` orders a key's tuples."""
        if self.is_reducible(function):
            return _reduce(function, columns, windows)
        partials = scalar_partials(function, columns, windows, positions)
        return [pa.array([pickle.dumps(p) for p in partials], pa.binary())]

    def combine(self, name: str, columns: TupleColumns, windows: FiredWindows) -> pa.Array:
        """The results of a function over ranges of partials."""
        function = self.functions[name]
        if self.is_reducible(function):
            return self._lower(name, function, columns, windows)
        pickled = columns.stored[f"{name}#"].values[: int(windows.hi.max(initial=0))]
        with localcontext(prec=DECIMAL_DIGITS):
            partials = [pickle.loads(p) for p in pickled]
            wholes = combine_partials(function, partials, windows.lo, windows.hi)
        return lower_partials(function, wholes, self.fields[name])

    def completed(self, stored: pa.Table) -> pa.Table:
        """Partials that an older version may have stored, with the columns of this one.

        Older versions did not store what rounding has lost, and pickled the partials of decimals.
        """
        for name, function in self.functions.items():
            if f"{name}#" in stored.column_names and self.is_reducible(function):
                pickled = stored[f"{name}#"].to_pylist()
                counts, values = _unpickled([pickle.loads(p) for p in pickled])
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
        combined, scale, dictionary = [], None, None
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
            return to_arrow(function.lower_decimals(combined, scale), self.fields[name])
        found = function.lower_reductions(combined)
        source = function.returns_values_of
        if source is None:
            return to_arrow(found, self.fields[name])
        storage = self.storages[function.columns[source]]
        return decode(found, storage, dictionary, self.fields[name].type)


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


def order_positions(columns: TupleColumns, order: Sequence[str], length: int) -> list[Any]:
    """Positions that order the tuples of a key and are comparable between workers."""
    if not order:
        return np.arange(length).tolist()
    parts = []
    for name in order:
        values = columns.python(name, 0, length)
        parts.append(
            [(v is not None, v != v, v if v is not None and v == v else 0) for v in values]
        )
    return list(zip(*parts, strict=True))
