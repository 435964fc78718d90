"""Types of Spark in Arrow, as Spark hands columns to Python. PySpark 4.0 knew only UTC."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas import types
from pyspark.sql.types import DataType, StructType

_to_arrow: Callable[..., Any] = types.to_arrow_type
_TAKES_ZONES = "timezone" in signature(_to_arrow).parameters


def arrow_type(kind: DataType, zone: str) -> pa.DataType:
    """The Arrow type of a type, with timestamps in this zone."""
    if _TAKES_ZONES:
        return _to_arrow(kind, timezone=zone)
    return in_zone(_to_arrow(kind, timestamp_utc=True), zone)


def arrow_schema(schema: StructType, zone: str) -> pa.Schema:
    """The Arrow schema of columns, with timestamps in this zone."""
    made: Callable[..., pa.Schema] = types.to_arrow_schema
    if _TAKES_ZONES:
        return made(schema, timezone=zone)
    in_utc = made(schema, timestamp_utc=True)
    return pa.schema([f.with_type(in_zone(f.type, zone)) for f in in_utc])


def in_zone(kind: pa.DataType, zone: str) -> pa.DataType:
    """The type with all its instants in a zone.

    >>> in_zone(pa.list_(pa.timestamp("us", "UTC")), "Europe/Rome")
    ListType(list<item: timestamp[us, tz=Europe/Rome]>)
    """
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, zone)
    if pa.types.is_struct(kind):
        return pa.struct([f.with_type(in_zone(f.type, zone)) for f in kind])
    if pa.types.is_map(kind):
        key, item = (f.with_type(in_zone(f.type, zone)) for f in (kind.key_field, kind.item_field))
        return pa.map_(key, item)
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(in_zone(kind.value_type, zone)))
    return kind
