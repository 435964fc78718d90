"""The types in which columns are held, and columns in other types.

Timestamps with a time zone are held in UTC. In any other zone, Python takes the two instants that a
clock shows alike, in the hour that is repeated when summer time ends, for equal. Views of strings
and binaries are held as strings and binaries, because Arrow computes little with views.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa


def as_held(table: pa.Table) -> pa.Table:
    """The same values in the types in which they are held; instants are not copied."""
    fields = [field.with_type(_held(field.type)) for field in table.schema]
    return as_schema(table, pa.schema(fields, table.schema.metadata))


def as_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with columns of other types, one per field of the schema."""
    if schema.equals(table.schema, check_metadata=True):
        return table
    columns = [_as_type(c, f.type) for c, f in zip(table.columns, schema, strict=True)]
    return pa.table(columns, schema=schema)


def _as_type(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if column.type == kind:
        return column
    if _in_utc(column.type) == _in_utc(kind):
        # A cast refuses fields that are never null in structs that are.
        return pa.chunked_array([pa.array(_InZones(c, kind)) for c in column.chunks], kind)
    return cast(column, kind)


def cast(column: Any, kind: pa.DataType, *, safe: bool = True) -> Any:
    """An array or chunked array as another type, where Arrow's own cast may fail.

    It makes invalid arrays of nulls that are nested in parts whose type stays, and it looks up the
    codes of a dictionary below nulls, too, where they may be anything.
    """
    if column.type == kind:
        return column
    try:
        made = column.cast(kind, safe=safe)
        made.validate()
        return made
    except pa.ArrowIndexError:
        pass
    except pa.ArrowInvalid:
        if not _nests_nulls(kind):
            raise
    values = pa.array(column.to_pylist(), kind)
    return values if isinstance(column, pa.Array) else pa.chunked_array([values])


def _nests_nulls(kind: pa.DataType) -> bool:
    fields = [kind.field(i) for i in range(kind.num_fields)]
    return any(pa.types.is_null(f.type) or _nests_nulls(f.type) for f in fields)


class _InZones:
    """An array's memory under a type that differs only in time zones."""

    def __init__(self, array: pa.Array, kind: pa.DataType) -> None:
        self.array, self.kind = array, kind

    def __arrow_c_array__(self, *_: object) -> tuple[Any, Any]:
        return self.kind.__arrow_c_schema__(), self.array.__arrow_c_array__()[1]


def _held(kind: pa.DataType) -> pa.DataType:
    return rewritten(kind, _plain_in_utc)


def _in_utc(kind: pa.DataType) -> pa.DataType:
    return rewritten(kind, _instant_in_utc)


def _instant_in_utc(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    return kind


def _plain_in_utc(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string_view(kind):
        return pa.string()
    return pa.binary() if pa.types.is_binary_view(kind) else _instant_in_utc(kind)


def rewritten(kind: pa.DataType, rewrite: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """The type with every type in it that holds values, not others, rewritten."""

    def field(inner: pa.Field) -> pa.Field:
        return inner.with_type(rewritten(inner.type, rewrite))

    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, rewrite(kind.value_type), kind.ordered)
    if pa.types.is_struct(kind):
        return pa.struct([field(kind.field(i)) for i in range(kind.num_fields)])
    if pa.types.is_list(kind):
        return pa.list_(field(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(field(kind.value_field))
    if pa.types.is_map(kind):
        return pa.map_(field(kind.key_field), field(kind.item_field), kind.keys_sorted)
    return rewrite(kind)
