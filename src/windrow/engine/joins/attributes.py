"""Attributes that a join compares: of one kind on both sides, whatever type each side has."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.engine.columns.arrays import to_microseconds
from windrow.kernels.columns import Column

Mask = NDArray[np.bool_]


def equi_kind(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The type as which two columns are compared for equality; None where they cannot be."""
    left, right = _plain(left), _plain(right)
    if (number := band_kind(left, right)) is not None:
        return number
    if pa.types.is_decimal(left) and pa.types.is_decimal(right):
        scale = max(left.scale, right.scale)
        whole = max(left.precision - left.scale, right.precision - right.scale)
        if whole + scale <= 38:
            return pa.decimal128(whole + scale, scale)
        return pa.decimal256(min(whole + scale, 76), scale)
    if pa.types.is_boolean(left) and pa.types.is_boolean(right):
        return pa.bool_()
    for kind, is_kind in ((pa.large_string(), _is_text), (pa.large_binary(), _is_binary)):
        if is_kind(left) and is_kind(right):
            return kind
    return None


def band_kind(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """int64 or float64, as which two columns are subtracted; None where they cannot be.

    Timestamps and dates are int64 microseconds.
    """
    left, right = _plain(left), _plain(right)
    if is_temporal(left) and is_temporal(right):
        zones = {pa.types.is_timestamp(t) and t.tz is not None for t in (left, right)}
        return pa.int64() if len(zones) == 1 else None
    if not (_is_number(left) and _is_number(right)):
        return None
    is_whole = pa.types.is_integer(left) and pa.types.is_integer(right)
    return pa.int64() if is_whole else pa.float64()


def as_kind(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The column as it is compared."""
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
    """An attribute of a band as int64 or float64, and where it is neither null nor NaN."""
    column = as_kind(column, kind)
    valid = np.asarray(pc.is_valid(column)) if column.null_count else None
    values = np.asarray((column if valid is None else column.fill_null(0)).to_numpy())
    if kind == pa.float64() and (unknown := np.isnan(values)).any():
        valid = ~unknown if valid is None else valid & ~unknown
    return values, valid


def is_temporal(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_number(kind: pa.DataType) -> bool:
    is_integer = pa.types.is_integer(kind) and kind != pa.uint64()
    return bool(is_integer or pa.types.is_floating(kind))


def _is_text(kind: pa.DataType) -> bool:
    is_large = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return bool(pa.types.is_string(kind) or is_large)


def _is_binary(kind: pa.DataType) -> bool:
    is_large = pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)
    return bool(pa.types.is_binary(kind) or is_large)
