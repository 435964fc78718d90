"""Conversion of what users' functions return to Arrow columns of the declared types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.core.numpy_times import DAY, in_microseconds


class Unfit(Exception):
    """A returned value that does not fit its field; ``row`` is its position among the values."""

    def __init__(self, row: int, value: object, field: pa.Field, reason: object) -> None:
        super().__init__(str(reason))
        self.row, self.value, self.field = row, value, field


def column_of(values: Sequence[Any], field: pa.Field) -> pa.Array:
    """The values of one field as an Arrow array.

    Values are converted only if they mean the same in the field's type. NaN and NaT are null where
    the type has neither, because a window shows nulls as them.

    >>> column_of([np.datetime64("2024-01-01"), None], pa.field("day", pa.date32())).to_pylist()
    [datetime.date(2024, 1, 1), None]
    """
    array = None
    if _is_exact(values, field.type):
        try:
            array = pa.array(values, field.type)
        except Exception:
            array = None  # The values may fit once they are plain.
    if array is None:
        array = _one_by_one(values, field)
    if array.null_count and not field.nullable:
        row = array.is_null().index(True).as_py()
        raise Unfit(row, values[row], field, "it must not be null")
    return array


def _is_exact(values: Sequence[Any], kind: pa.DataType) -> bool:
    """Whether Arrow refuses what it cannot convert exactly among these values.

    It cuts off the fractions of integers, takes a text for a list of letters, and leaves out fields
    of structs.
    """
    if pa.types.is_list(kind):
        return bool(pa.types.is_floating(kind.value_type))
    if pa.types.is_integer(kind):
        return all(issubclass(t, int | np.integer | NoneType) for t in set(map(type, values)))
    return not pa.types.is_nested(kind)


def _one_by_one(values: Sequence[Any], field: pa.Field) -> pa.Array:
    fitted = [_attempt(_fit, value, row, value, field) for row, value in enumerate(values)]
    try:
        return pa.array(fitted, field.type)
    except Exception:
        for row, value in enumerate(fitted):
            _attempt(lambda v, kind: pa.array([v], kind), value, row, values[row], field)
        raise


def _attempt(
    convert: Callable[[Any, pa.DataType], Any], given: Any, row: int, value: Any, field: pa.Field
) -> Any:
    try:
        return convert(given, field.type)
    except Exception as e:
        raise Unfit(row, value, field, e) from None


def _fit(value: Any, kind: pa.DataType) -> Any:
    """The value in a form that Arrow converts exactly; raises if there is none."""
    if isinstance(value, pa.Scalar):
        value = value.as_py()
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if value is None:
        return None
    if pa.types.is_list(kind):
        return _fit_list(value, kind.value_type)
    if pa.types.is_struct(kind):
        return _fit_struct(value, kind)
    if pa.types.is_map(kind):
        pairs = value.items() if isinstance(value, Mapping) else value
        return [(_fit(k, kind.key_type), _fit(v, kind.item_type)) for k, v in pairs]
    if pa.types.is_temporal(kind):
        return _fit_time(value, kind)
    if isinstance(value, np.generic):
        value = value.item()
    if pa.types.is_integer(kind):
        return _fit_integer(value)
    if pa.types.is_floating(kind) and isinstance(value, int | Decimal):
        return float(value)
    return value


def _fit_list(values: Any, kind: pa.DataType) -> Any:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise ValueError("it must be a list or an array")
    if isinstance(values, np.ndarray) and values.ndim == 1:
        fits = "iu" if pa.types.is_integer(kind) else "f" if pa.types.is_floating(kind) else ""
        if values.dtype.kind in fits:
            return values
    return [_fit(v, kind) for v in values]


def _fit_struct(value: Any, kind: pa.StructType) -> dict[str, Any]:
    fields = [kind.field(i) for i in range(kind.num_fields)]
    if isinstance(value, tuple):
        value = {f.name: v for f, v in zip(fields, value, strict=True)}
    if not isinstance(value, Mapping):
        raise ValueError("it must be a dict")
    names = [f.name for f in fields]
    if unknown := [name for name in value if name not in names]:
        raise ValueError(f"it has {unknown}, but the fields are {names}")
    fitted = {f.name: _fit(value.get(f.name), f.type) for f in fields}
    if null := [f.name for f in fields if not f.nullable and fitted[f.name] is None]:
        raise ValueError(f"{null} must not be null")
    return fitted


def _fit_time(value: Any, kind: pa.DataType) -> Any:
    if isinstance(value, float | datetime) and value != value:
        return None
    if isinstance(value, np.datetime64 | np.timedelta64):
        if np.isnat(value):
            return None
        is_dated = pa.types.is_timestamp(kind) or pa.types.is_date(kind)
        if isinstance(value, np.datetime64) != is_dated:
            raise ValueError("a time is not a duration")
        micros, _ = in_microseconds(value)
        return micros // DAY if pa.types.is_date(kind) else micros
    is_day = isinstance(value, date) and not isinstance(value, datetime)
    if is_day and pa.types.is_timestamp(kind):
        return datetime(value.year, value.month, value.day)
    return value


def _fit_integer(value: Any) -> Any:
    if isinstance(value, float | Decimal):
        if value != value:
            return None
        if value != int(value):
            raise ValueError("it is not a whole number")
        return int(value)
    return value
