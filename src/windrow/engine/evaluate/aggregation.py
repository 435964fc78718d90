"""Aggregates of many windows at once: by a kernel where the function has one, else in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.aggregate import Aggregate
from windrow.engine.columns.ddl import type_name
from windrow.engine.columns.held import cast
from windrow.engine.columns.storage import ColumnStorage, Stored
from windrow.engine.evaluate.partial_ranges import Known, combine_partials, lift_inside
from windrow.engine.evaluate.returned import column_of
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.functions.columnar import Columnar, Values
from windrow.functions.sum import OVERFLOW

MOST_DIGITS = 76
"""The digits of integers of 256 bits, for Arrow."""


def aggregate(
    function: Aggregate[Any, Any, Any],
    columns: TupleColumns,
    windows: FiredWindows,
    field: pa.Field,
) -> pa.Array:
    """The function's result for each window. The columns should be compact: all is read."""
    if suits_kernels(function, columns.storages):
        assert isinstance(function, Columnar)
        inputs = kernel_inputs(function, columns)
        values = function.over_ranges([v for v, _ in inputs], windows.lo, windows.hi)
        source = function.returns_values_of
        if source is not None:
            storage = columns.storages[function.columns[source]]
            return decode(values, storage, inputs[source][1], field.type)
        return to_arrow(values, field)
    partials = scalar_partials(function, columns, windows, range(int(windows.hi.max(initial=0))))
    return lower_partials(function, partials, field)


def kernel_inputs(function: Any, columns: TupleColumns) -> list[tuple[Values, Any]]:
    """The function's columns in the form that it takes, with dictionaries to decode results."""
    decimals = None if takes_codes(function) else function.takes_decimals
    stored = ((columns.storages[c], columns.stored[c]) for c in function.columns)
    return [storage.to_kernel(column, decimals) for storage, column in stored]


def takes_codes(function: Columnar) -> bool:
    """Whether the function needs only the order and the equality of values."""
    return function.takes_codes or function.returns_values_of is not None


def suits_kernels(
    function: Aggregate[Any, Any, Any], storages: Mapping[str, ColumnStorage]
) -> bool:
    """Whether kernels can run: codes for objects keep order and equality, but not sums."""
    if not isinstance(function, Columnar) or takes_codes(function):
        return isinstance(function, Columnar)
    taken = [storages[c] for c in function.columns]
    if function.takes_decimals is None and any(s.is_decimal for s in taken):
        return False
    return not any(s.is_object for s in taken)


def to_arrow(values: Values, field: pa.Field) -> pa.Array:
    """Convert kernel results to an Arrow array of the declared type."""
    if values.values.dtype == object:
        results = values.to_list()
        try:
            return pa.array(results, field.type)
        except Exception:
            return column_of(results, field)
    if values.scale is not None:
        return _to_decimals(values, values.scale, field.type)
    mask = None if values.valid is None else ~values.valid
    return pa.array(values.values, mask=mask).cast(field.type)


def _to_decimals(values: Values, scale: int, kind: pa.DataType) -> pa.Array:
    """Convert integers of 256 bits to decimals of the declared type."""
    wide = ColumnStorage(pa.decimal256(MOST_DIGITS, scale))
    try:
        return wide.to_arrow(Stored(values.values, values.valid)).cast(kind)
    except pa.ArrowInvalid:
        raise OverflowError(f"{OVERFLOW}, {type_name(kind)}") from None


def decode(values: Values, storage: ColumnStorage, dictionary: Any, kind: pa.DataType) -> pa.Array:
    """Convert kernel results that consist of a column's values back to these values."""
    if values.values.dtype != object:
        if dictionary is not None:
            mask = None if values.valid is None else ~values.valid
            return cast(dictionary.take(pa.array(values.values, mask=mask)), kind)
        as_stored = values.values
        if pa.types.is_boolean(storage.kind):
            as_stored = as_stored.astype(np.bool_)
        return storage.to_arrow(Stored(as_stored, values.valid)).cast(kind)
    if dictionary is not None:
        known = dictionary.to_pylist()
        return pa.array([_mapped(v, known.__getitem__) for v in values.to_list()], kind)
    if storage.is_decimal:
        unit = Decimal(1).scaleb(-storage.kind.scale)
        return pa.array([_mapped(v, unit.__mul__) for v in values.to_list()], kind)
    if not (storage.is_temporal or pa.types.is_boolean(storage.kind)):
        return pa.array(values.to_list(), kind)

    def plain(code: int) -> Any:
        if pa.types.is_boolean(storage.kind):
            return bool(code)
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
    lift = lifting(function, [columns.python(c, 0, length) for c in function.columns], positions)
    lifted = lift_inside(lift, length, windows.lo, windows.hi)
    return combine_partials(function, lifted, windows.lo, windows.hi)


def lifting(
    function: Aggregate[Any, Any, Any], inputs: list[list[Any]], positions: Sequence[Any]
) -> Callable[[int], Known]:
    """What lifts the i-th tuple, given the columns of tuples and the positions that order them."""
    values: Sequence[Any] = [()] * len(positions)
    if inputs:
        values = inputs[0] if len(inputs) == 1 else list(zip(*inputs, strict=True))

    def lift(i: int) -> Known:
        value = values[i]
        if function.skips_nulls and (
            value is None or (isinstance(value, tuple) and any(v is None for v in value))
        ):
            return None
        return (function.lift(function.at(positions[i], value)),)

    return lift


def lower_partials(
    function: Aggregate[Any, Any, Any], partials: Sequence[Known], field: pa.Field
) -> pa.Array:
    """The results of the windows that have these partials."""
    results = [function.empty if p is None else function.lower(p[0]) for p in partials]
    return column_of(results, field)
