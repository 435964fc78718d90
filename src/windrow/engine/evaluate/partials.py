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
from windrow.engine.columns.storage import ColumnStorage
from windrow.engine.evaluate.aggregation import (
    decode,
    lower_partials,
    scalar_partials,
    to_arrow,
)
from windrow.engine.evaluate.partial_ranges import DECIMAL_DIGITS, combine_partials
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.functions.columnar import skip_nulls
from windrow.functions.ranges import reduce_ranges
from windrow.functions.reducible import Reducible, Reduction


class PartialColumns:
    """The partial columns of an aggregation.

    A function made of counts, sums and extremes of numbers has one column for each of these. The
    partials of other functions are pickled.
    """

    def __init__(self, query: WindowQuery) -> None:
        assert isinstance(query.computation, Aggregation)
        self.functions = query.computation.functions
        self.fields = {field.name: field for field in query.result_schema()}
        self.storages = {c: ColumnStorage(query.arrow_type(c)) for c in query.computation.columns}

    def is_reducible(self, function: Aggregate[Any, Any, Any]) -> bool:
        """Whether its partials are counts of anything, or sums and extremes of numbers."""
        return isinstance(function, Reducible) and not any(
            self.storages[function.columns[r.column]].is_object
            for r in function.reductions
            if r.column is not None and r.op != "count"
        )

    @property
    def schema(self) -> pa.Schema:
        fields = []
        for name, function in self.functions.items():
            if not self.is_reducible(function):
                fields.append((f"{name}#", pa.binary()))
                continue
            assert isinstance(function, Reducible)
            for i, reduction in enumerate(function.reductions):
                fields.append((f"{name}#{i}", self._kind(function, reduction)))
        return pa.schema(fields)

    def _kind(self, function: Any, reduction: Reduction) -> pa.DataType:
        if reduction.op == "count" or reduction.column is None:
            return pa.int64()
        storage = self.storages[function.columns[reduction.column]]
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

    def _lower(
        self, name: str, function: Any, columns: TupleColumns, windows: FiredWindows
    ) -> pa.Array:
        combined = []
        for i, reduction in enumerate(function.reductions):
            partials = columns.stored[f"{name}#{i}"].values
            operation: Any = "sum" if reduction.op == "count" else reduction.op
            combined.append(reduce_ranges(partials, windows.lo, windows.hi, operation))
        values = function.lower_reductions(combined)
        source = function.returns_values_of
        if source is None:
            return to_arrow(values, self.fields[name])
        return decode(values, self.storages[function.columns[source]], None, self.fields[name])


def _reduce(function: Any, columns: TupleColumns, windows: FiredWindows) -> list[pa.Array]:
    arrays = []
    inputs = [columns.storages[c].to_kernel(columns.stored[c])[0] for c in function.columns]
    for reduction in function.reductions:
        if reduction.column is None:
            arrays.append(pa.array(windows.hi - windows.lo))
            continue
        (values,), lo, hi = skip_nulls([inputs[reduction.column]], windows.lo, windows.hi)
        if reduction.as_float:
            values = values.astype(np.float64, copy=False)
        if reduction.op == "count":
            arrays.append(pa.array(hi - lo))
        else:
            arrays.append(pa.array(reduce_ranges(values, lo, hi, reduction.op)))
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
