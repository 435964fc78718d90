"""Aggregates of many windows at once: by a kernel where the function has one, else in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import localcontext
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.aggregate import Aggregate
from windrow.engine.columns.storage import ColumnStorage, Stored
from windrow.engine.evaluate.partial_ranges import DECIMAL_DIGITS, Known, combine_partials
from windrow.engine.evaluate.returned import column_of
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.functions.columnar import Columnar, Values


def aggregate(
    function: Aggregate[Any, Any, Any],
    columns: TupleColumns,
    windows: FiredWindows,
    field: pa.Field,
) -> pa.Array:
    """The function's result for each window. The columns should be compact: all is read."""
    if isinstance(function, Columnar) and _suits_kernels(function, columns):
        inputs = [columns.storages[c].to_kernel(columns.stored[c]) for c in function.columns]
        values = function.over_ranges([v for v, _ in inputs], windows.lo, windows.hi)
        source = function.returns_values_of
        if source is not None:
            storage = columns.storages[function.columns[source]]
            return decode(values, storage, inputs[source][1], field)
        return to_arrow(values, field)
    partials = scalar_partials(function, columns, windows, range(int(windows.hi.max(initial=0))))
    return lower_partials(function, partials, field)


def _suits_kernels(function: Columnar, columns: TupleColumns) -> bool:
    """Whether kernels can run: codes for objects keep order and equality, but not sums."""
    assert isinstance(function, Aggregate)
    if function.takes_codes or function.returns_values_of is not None:
        return True
    return not any(columns.storages[c].is_object for c in function.columns)


def to_arrow(values: Values, field: pa.Field) -> pa.Array:
    """Convert kernel results to an Arrow array of the declared type."""
    if values.values.dtype == object:
        results = values.to_list()
        try:
            return pa.array(results, field.type)
        except Exception:
            return column_of(results, field)
    mask = None if values.valid is None else ~values.valid
    return pa.array(values.values, mask=mask).cast(field.type)


def decode(values: Values, storage: ColumnStorage, dictionary: Any, field: pa.Field) -> pa.Array:
    """Convert kernel results that consist of a column's values back to these values."""
    kind = field.type
    if values.values.dtype != object and dictionary is None:
        as_stored = values.values
        if pa.types.is_boolean(storage.kind):
            as_stored = as_stored.astype(np.bool_)
        return storage.to_arrow(Stored(as_stored, values.valid)).cast(kind)
    if dictionary is not None:
        return pa.array([_mapped(v, dictionary.__getitem__) for v in values.to_list()], kind)
    if not (storage.is_temporal or pa.types.is_boolean(storage.kind)):
        return pa.array(values.to_list(), kind)

    def plain(code: int) -> Any:
        return storage.to_python(Stored(np.array([code])))[0]

    return pa.array([_mapped(v, plain) for v in values.to_list()], kind)


def _mapped(value: Any, decode: Callable[[Any], Any]) -> Any:
    if value is None:
        return None
    if isinstance(value, list):
        return [_mapped(v, decode) for v in value]
    if isinstance(value, dict):
        return {name: _mapped(v, decode) for name, v in value.items()}
    return decode(value)


def scalar_partials(
    function: Aggregate[Any, Any, Any],
    columns: TupleColumns,
    windows: FiredWindows,
    positions: Sequence[Any],
) -> list[Known]:
    """The partial of each window. Tuples outside of all windows are not lifted."""
    length = int(windows.hi.max(initial=0))
    inputs = [columns.python(c, 0, length) for c in function.columns]
    values: Sequence[Any] = [()] * length
    if inputs:
        values = inputs[0] if len(inputs) == 1 else list(zip(*inputs, strict=True))

    def lift(i: int) -> Known:
        value = values[i]
        if function.skips_nulls and (
            value is None or (isinstance(value, tuple) and any(v is None for v in value))
        ):
            return None
        return (function.lift(function.at(positions[i], value)),)

    opened = np.zeros(length + 1, np.int64)
    np.add.at(opened, windows.lo, 1)
    np.add.at(opened, windows.hi, -1)
    are_inside = (np.cumsum(opened[:-1]) > 0).tolist()
    with localcontext(prec=DECIMAL_DIGITS):
        lifted = [lift(i) if is_inside else None for i, is_inside in enumerate(are_inside)]
        return combine_partials(function, lifted, windows.lo, windows.hi)


def lower_partials(
    function: Aggregate[Any, Any, Any], partials: Sequence[Known], field: pa.Field
) -> pa.Array:
    """The results of the windows that have these partials."""
    with localcontext(prec=DECIMAL_DIGITS):
        results = [function.empty if p is None else function.lower(p[0]) for p in partials]
    return column_of(results, field)
