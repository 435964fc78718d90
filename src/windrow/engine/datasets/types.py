"""The types of a dataset's columns: those that Spark's reader of the same files gives."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from windrow.engine.columns.ddl import type_name
from windrow.engine.columns.held import cast, rewritten

_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.null(): pa.int32(),
}
_SAME = frozenset(
    [
        pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(),
        pa.string(), pa.binary(), pa.date32(),
    ]
)  # fmt: skip
_MOST_DIGITS = 38


def spark_type(arrow: pa.DataType) -> pa.DataType | None:
    """The type that Spark's reader gives a column of this type; None if Spark cannot read it.

    Nanoseconds are the exception: Spark refuses them, and Windrow rounds them down to microseconds.

    >>> spark_type(pa.uint32()), spark_type(pa.large_string()), spark_type(pa.float16())
    (DataType(int64), DataType(string), None)
    """
    if is_nanoseconds(arrow):
        return pa.timestamp("us", arrow.tz and "UTC")
    return _spark_type(arrow)


def is_nanoseconds(arrow: pa.DataType) -> bool:
    """Whether these are timestamps whose last three digits Windrow does not see."""
    return bool(pa.types.is_timestamp(arrow) and arrow.unit == "ns")


def taken_type(arrow: pa.DataType) -> pa.DataType:
    """The type in which a column of a table is taken in.

    Unsigned integers, binaries of a fixed size, and decimals in other forms than Spark's become
    what they are in a dataset.

    >>> taken_type(pa.list_(pa.uint8())), taken_type(pa.decimal128(3, -2))
    (ListType(list<item: int16>), Decimal128Type(decimal128(5, 0)))
    """
    return rewritten(arrow, _taken)


def _taken(arrow: pa.DataType) -> pa.DataType:
    if pa.types.is_unsigned_integer(arrow):
        return _WIDER[arrow]
    if pa.types.is_decimal(arrow):
        digits, scale = max(arrow.precision - min(arrow.scale, 0), arrow.scale), max(arrow.scale, 0)
        return pa.decimal128(digits, scale) if digits <= _MOST_DIGITS else arrow
    return pa.binary() if pa.types.is_fixed_size_binary(arrow) else arrow


def _spark_type(arrow: pa.DataType) -> pa.DataType | None:
    if isinstance(arrow, pa.BaseExtensionType):
        return None if isinstance(arrow, pa.UuidType) else _spark_type(arrow.storage_type)
    if arrow in _SAME:
        return arrow
    if arrow in _WIDER:
        return _WIDER[arrow]
    types = pa.types
    if types.is_timestamp(arrow):
        return None if arrow.unit == "ns" else pa.timestamp("us", arrow.tz and "UTC")
    if types.is_decimal(arrow):
        fits = 0 <= arrow.scale <= arrow.precision <= _MOST_DIGITS
        return pa.decimal128(arrow.precision, arrow.scale) if fits else None
    if types.is_dictionary(arrow):
        return _spark_type(arrow.value_type)
    if types.is_large_string(arrow) or types.is_string_view(arrow):
        return pa.string()
    if (
        types.is_large_binary(arrow)
        or types.is_binary_view(arrow)
        or types.is_fixed_size_binary(arrow)
    ):
        return pa.binary()
    if types.is_date(arrow):
        return pa.date32()
    if types.is_duration(arrow):
        return pa.int64()
    return _nested(arrow)


def _nested(arrow: pa.DataType) -> pa.DataType | None:
    types = pa.types
    if types.is_list(arrow) or types.is_large_list(arrow) or types.is_fixed_size_list(arrow):
        element = _field(arrow.value_field)
        return element and pa.list_(element.with_name("element"))
    if types.is_map(arrow):
        key, item = _field(arrow.key_field), _field(arrow.item_field)
        return key and item and pa.map_(key, item)
    if types.is_struct(arrow):
        fields = [_field(arrow.field(i)) for i in range(arrow.num_fields)]
        return pa.struct(fields) if fields and all(f is not None for f in fields) else None
    return None


def _field(field: pa.Field) -> pa.Field | None:
    kind = _spark_type(field.type)
    return kind and pa.field(field.name, kind, field.nullable)


def converted(column: Any, kind: pa.DataType) -> Any:
    """An array or chunked array as a type of ``spark_type``."""
    if column.type == kind:
        return column
    if is_nanoseconds(column.type):
        column = pc.floor_temporal(column, unit="microsecond")
    return cast(column, kind)


def fits(found: pa.DataType, declared: pa.DataType) -> bool:
    """Whether a file's column can be read as the dataset's without a loss.

    >>> fits(pa.int32(), pa.int64()), fits(pa.int64(), pa.int32()), fits(pa.string(), pa.int64())
    (True, False, False)
    """
    if pa.types.is_null(found):
        return True
    narrow, wide = spark_type(found), spark_type(declared)
    if narrow == wide:
        return narrow is not None
    if narrow is None or wide is None:
        return False
    types = pa.types
    if types.is_integer(narrow) and types.is_integer(wide):
        return bool(narrow.bit_width <= wide.bit_width)
    if types.is_decimal(narrow) and types.is_decimal(wide):
        digits = narrow.precision - narrow.scale <= wide.precision - wide.scale
        return bool(digits and narrow.scale <= wide.scale)
    # Other differences are in names and nullability of nested fields.
    is_float = narrow == pa.float32() and wide == pa.float64()
    return is_float or type_name(narrow) == type_name(wide)
