"""The attributes that a join compares, converted to one type on both sides."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.core.errors import WindrowError, near_names
from windrow.core.types import refused
from windrow.engine.columns.arrays import to_microseconds
from windrow.engine.columns.ddl import type_name
from windrow.kernels.columns import Column

Mask = NDArray[np.bool_]
SIDES = ("left", "right")
COLLATION = b"windrow.collation"
"""Metadata of a field of strings that are not compared byte by byte: the name of the collation."""


def column_type(schema: pa.Schema, side: int, name: str, what: str) -> pa.DataType:
    """The type of a side's column; if there is none, the error message starts with ``what``."""
    if name not in schema.names:
        rule = f"{what}: column not found on the {SIDES[side]}: {name!r}"
        raise WindrowError(rule, hint=near_names(name, schema.names))
    return schema.field(name).type


def pair_of_types(
    schemas: tuple[pa.Schema, pa.Schema], names: tuple[str, str], what: str
) -> tuple[pa.DataType, pa.DataType]:
    """The types of a left and a right column."""
    left, right = (column_type(schemas[s], s, name, what) for s, name in enumerate(names))
    return left, right


def check_uncollated(schema: pa.Schema, name: str, what: str) -> None:
    """Raise if the column's strings have a collation; the error message starts with ``what``."""
    if found := (schema.field(name).metadata or {}).get(COLLATION):
        kind = f"string collate {found.decode()}"
        raise refused(f"{what} compares strings byte by byte", kind, name)


def incomparable(
    rule: str, names: tuple[str, str], types: tuple[pa.DataType, pa.DataType]
) -> WindrowError:
    """The error that two columns cannot be compared."""
    left, right = (f"{n!r} of {type_name(t)}" for n, t in zip(names, types, strict=True))
    return WindrowError(rule, f"{left} with {right}", "cast one of them first.")


def number_kind(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The type, int64 or float64, in which two columns are subtracted; None if they cannot be.

    Timestamps and dates become int64 microseconds.
    """
    left, right = plain_type(left), plain_type(right)
    if is_temporal(left) and is_temporal(right):
        zones = {pa.types.is_timestamp(t) and t.tz is not None for t in (left, right)}
        return pa.int64() if len(zones) == 1 else None
    if not (_is_number(left) and _is_number(right)):
        return None
    is_whole = pa.types.is_integer(left) and pa.types.is_integer(right)
    return pa.int64() if is_whole else pa.float64()


def as_kind(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The column converted to the type in which it is compared."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_temporal(column.type):
        valid = pc.is_valid(column) if column.null_count else None
        if valid is not None:
            column = column.fill_null(pa.scalar(0, column.type))
        micros = to_microseconds(column)
        mask = None if valid is None else ~np.asarray(valid)
        return pa.chunked_array([pa.array(micros, mask=mask)])
    return column if column.type == kind else column.cast(kind, safe=False)


def numbers(column: pa.ChunkedArray, kind: pa.DataType) -> tuple[Column, Mask | None]:
    """A column as int64 or float64, and a mask of the values that are neither null nor NaN."""
    column = as_kind(column, kind)
    valid = np.asarray(pc.is_valid(column)) if column.null_count else None
    values = np.asarray((column if valid is None else column.fill_null(0)).to_numpy())
    if kind == pa.float64() and (unknown := np.isnan(values)).any():
        valid = ~unknown if valid is None else valid & ~unknown
    return values, valid


def is_temporal(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_number(kind: pa.DataType) -> bool:
    is_integer = pa.types.is_integer(kind) and kind != pa.uint64()
    return bool(is_integer or pa.types.is_floating(kind))
