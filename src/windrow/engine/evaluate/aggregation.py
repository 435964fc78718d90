"""Aggregates of many windows at once: by kernels where the function has one, else one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.aggregate import Aggregate
from windrow.core.errors import WindrowError
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.storage import ColumnStorage, Stored
from windrow.engine.windows.fired import FiredWindows, TupleColumns
from windrow.functions.columnar import Columnar, Values
from windrow.functions.count import Count
from windrow.functions.count_distinct import CountDistinct


def aggregate(
    function: Aggregate[Any, Any, Any],
    columns: TupleColumns,
    windows: FiredWindows,
    kind: pa.DataType,
) -> pa.Array:
    """The function's result of each window; the columns hold little else than the windows."""
    if isinstance(function, Columnar) and _suits_kernels(function, columns):
        inputs = [columns.storages[c].to_kernel(columns.stored[c]) for c in function.columns]
        values = function.over_ranges([v for v, _ in inputs], windows.lo, windows.hi)
        source = function.returns_values_of
        if source is not None:
            storage = columns.storages[function.columns[source]]
            return decode(values, storage, inputs[source][1], kind)
        return to_arrow(values, kind)
    partials = scalar_partials(function, columns, windows, range(_length(columns, windows)))
    results = [function.empty if p is None else function.lower(p[0]) for p in partials]
    return result_array(repr(function), results, kind)


def _length(columns: TupleColumns, windows: FiredWindows) -> int:
    return int(windows.hi.max(initial=0))


def _suits_kernels(function: Columnar, columns: TupleColumns) -> bool:
    """Codes in place of objects keep order and equality, not sums or distances."""
    assert isinstance(function, Aggregate)
    if all(not columns.storages[c].is_object for c in function.columns):
        return True
    return function.returns_values_of is not None or isinstance(function, Count | CountDistinct)


def to_arrow(values: Values, kind: pa.DataType) -> pa.Array:
    """Results as an Arrow array of the declared type."""
    if values.values.dtype == object:
        return pa.array(values.to_list(), kind)
    mask = None if values.valid is None else ~values.valid
    return pa.array(values.values, mask=mask).cast(kind)


def decode(values: Values, storage: ColumnStorage, dictionary: Any, kind: pa.DataType) -> pa.Array:
    """Results that consist of a column's values, from what the kernels saw of these."""
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
) -> list[tuple[Any] | None]:
    """Each window's partial (in a tuple), None where it has no value to lift.

    Windows one after the other share what they combine (two stacks, amortised two combinations a
    tuple, whatever the windows' length), unless the function does better with many at once.
    """
    length = _length(columns, windows)
    inputs = [columns.python(c, 0, length) for c in function.columns]
    values: Sequence[Any] = [()] * length
    if inputs:
        values = inputs[0] if len(inputs) == 1 else list(zip(*inputs, strict=True))

    def lift(i: int) -> Any:
        value = values[i]
        if function.skips_nulls and (
            value is None or (isinstance(value, tuple) and any(v is None for v in value))
        ):
            return None
        return (function.lift(function.at(positions[i], value)),)

    return combine_ranges(function, lift, windows)


def combine_ranges(
    function: Aggregate[Any, Any, Any], partial_at: Callable[[int], Any], windows: FiredWindows
) -> list[tuple[Any] | None]:
    """The partials of ranges, of those ``partial_at`` each position; None for none."""
    if function.combines_at_once:
        partials = [partial_at(i) for i in range(int(windows.hi.max(initial=0)))]
        found = []
        for lo, hi in zip(windows.lo.tolist(), windows.hi.tolist(), strict=True):
            some = [p[0] for p in partials[lo:hi] if p is not None]
            found.append((function.combine_all(some),) if some else None)
        return found

    def combine(a: Any, b: Any) -> Any:
        if a is None or b is None:
            return b if a is None else a
        return (function.combine(a[0], b[0]),)

    return slide_partials(partial_at, combine, windows.keys, windows.lo, windows.hi)


def slide_partials(
    lift: Callable[[int], Any],
    combine: Callable[[Any, Any], Any],
    keys: Int64s,
    lo: Int64s,
    hi: Int64s,
) -> list[Any]:
    """Combine ranges, in order within a key, by two stacks; left to right, any associative one.

    >>> slide_partials(str, str.__add__, np.zeros(3), np.array([0, 1, 2]), np.array([2, 4, 4]))
    ['01', '123', '23']
    """
    results: list[Any] = []
    front: list[Any] = []
    back: Any = None
    key, start, middle, end = None, 0, 0, 0
    for k, first, last in zip(keys.tolist(), lo.tolist(), hi.tolist(), strict=True):
        if k != key or first < start or first >= middle:
            if k != key or first < start or first >= end:
                key, end = k, first
            front, back, start, middle = [], None, first, end
            if first < end:
                for i in range(end - 1, first - 1, -1):
                    front.append(lift(i) if not front else combine(lift(i), front[-1]))
        while start < first:
            front.pop()
            start += 1
        for i in range(end, last):
            back = lift(i) if i == middle else combine(back, lift(i))
        end = max(end, last)
        if not front:
            results.append(back)
        else:
            results.append(front[-1] if end == middle else combine(front[-1], back))
    return results


def result_array(name: str, values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Python results as an Arrow array of the declared type."""
    try:
        if pa.types.is_integer(kind) and any(isinstance(v, float | np.floating) for v in values):
            return pa.array(_plain(values), pa.float64()).cast(kind)
        try:
            return pa.array(values, kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            return pa.array(_plain(values), kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as e:
        raise WindrowError(
            f"the result for {name!r} must be {kind}", str(e), "correct the returns, or the value."
        ) from None


def _plain(values: Sequence[Any]) -> list[Any]:
    """NumPy's numbers as Python's own."""
    return [v.item() if isinstance(v, np.generic) else v for v in values]
