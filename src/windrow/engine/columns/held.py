"""The types in which columns are held.

Timestamps with a time zone are held in UTC. In any other zone, Python takes the two instants that a
clock shows alike, in the hour that is repeated when summer time ends, for equal. Views of strings
and binaries are held as strings and binaries, because Arrow computes little with views.
"""

from __future__ import annotations

import pyarrow as pa


def as_held(table: pa.Table) -> pa.Table:
    """The same values in the types in which they are held; instants are not copied."""
    fields = [_held_field(f) for f in table.schema]
    schema = pa.schema(fields, table.schema.metadata)
    return table if schema == table.schema else table.cast(schema)


def held_type(kind: pa.DataType) -> pa.DataType:
    """The type in which values of a type are held.

    >>> held_type(pa.list_(pa.timestamp("us", "Europe/Rome")))
    ListType(list<item: timestamp[us, tz=UTC]>)
    """
    if pa.types.is_timestamp(kind):
        return kind if kind.tz is None else pa.timestamp(kind.unit, "UTC")
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_dictionary(kind):
        # Arrow cannot convert the values of a dictionary: they are written out.
        value = held_type(kind.value_type)
        return kind if value == kind.value_type else value
    if pa.types.is_struct(kind):
        return pa.struct([_held_field(kind.field(i)) for i in range(kind.num_fields)])
    if pa.types.is_list(kind):
        return pa.list_(_held_field(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(_held_field(kind.value_field))
    if pa.types.is_map(kind):
        key, item = map(_held_field, (kind.key_field, kind.item_field))
        return pa.map_(key, item, kind.keys_sorted)
    return kind


def result_type(kind: pa.DataType) -> pa.DataType:
    """The type in which values of a type are returned: as they came, but for written-out ones."""
    if pa.types.is_dictionary(kind) and held_type(kind) != kind:
        plain: pa.DataType = kind.value_type
        return plain
    return kind


def _held_field(field: pa.Field) -> pa.Field:
    return field.with_type(held_type(field.type))
