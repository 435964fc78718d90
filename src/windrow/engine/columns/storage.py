"""How a column is stored in the window buffer, and the forms it is read in.

Numbers, booleans, dates and timestamps are stored as NumPy numbers, decimals as the bytes that
Arrow has for them, with a mask if there are nulls. Other types are stored as Python objects, with
None for null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.engine.columns.held import cast
from windrow.functions.columnar import TakenAs, Values

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Stored:
    """Values of one column, and a mask of those that are not null. No mask means no nulls."""

    values: NDArray[Any]
    valid: Mask | None = None

    def slice(self, lo: int, hi: int) -> Stored:
        return Stored(self.values[lo:hi], None if self.valid is None else self.valid[lo:hi])

    def take(self, positions: NDArray[np.int64]) -> Stored:
        return Stored(self.values[positions], None if self.valid is None else self.valid[positions])


def concatenate(parts: Sequence[Stored]) -> Stored:
    """Join the values of several parts in order."""
    valid = None
    if any(part.valid is not None for part in parts):
        masks = [np.ones(len(p.values), bool) if p.valid is None else p.valid for p in parts]
        valid = np.concatenate(masks)
    return Stored(np.concatenate([part.values for part in parts]), valid)


class ColumnStorage:
    """The storage of a column of one Arrow type."""

    def __init__(self, kind: pa.DataType) -> None:
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if pa.types.is_timestamp(kind):
            kind = pa.timestamp("us", kind.tz)
        elif pa.types.is_date(kind):
            kind = pa.date32()
        self.kind = kind
        self.is_temporal = pa.types.is_timestamp(kind) or pa.types.is_date(kind)
        self.is_decimal = pa.types.is_decimal(kind)
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or self.is_decimal
        self.is_object = not (is_number or self.is_temporal or pa.types.is_boolean(kind))

    def store(self, column: pa.ChunkedArray) -> Stored:
        """Convert an Arrow column to its stored form, a view of Arrow's memory where possible."""
        if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
            column = pc.floor_temporal(column, unit="microsecond")
        column = cast(column, self.kind, safe=False)
        if self.is_object:
            return Stored(as_objects(column.to_pylist()))
        valid = np.asarray(pc.is_valid(column)) if column.null_count else None
        if self.is_temporal:
            column = column.cast(pa.int32() if self.kind == pa.date32() else pa.int64())
            column = column.cast(pa.int64())
        if self.is_decimal:
            return Stored(self._bytes_of(column), valid)
        if valid is not None:
            column = column.fill_null(False if pa.types.is_boolean(self.kind) else 0)
        return Stored(np.asarray(column.to_numpy()), valid)

    def _bytes_of(self, decimals: pa.ChunkedArray) -> NDArray[Any]:
        """The bytes of each decimal; those of a null mean nothing."""
        array = decimals.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = pa.array([], self.kind) if array.num_chunks == 0 else array.chunk(0)
        kind = np.dtype(f"V{self.kind.byte_width}")
        if len(array) == 0:
            return np.zeros(0, kind)
        return np.frombuffer(array.buffers()[1], kind)[array.offset : array.offset + len(array)]

    def show(self, stored: Stored) -> NDArray[Any]:
        """The values as a user's function sees them: read-only, with NaN, NaT or None for null."""
        values, valid = stored.values, stored.valid
        if self.is_temporal:
            unit = "D" if pa.types.is_date(self.kind) else "us"
            values = values.view(f"M8[{unit}]")
        elif self.is_object:
            values = _with_arrays(values) if pa.types.is_list(self.kind) else values.view()
        elif self.is_decimal:
            values, valid = as_objects(self.to_python(stored)), None
        else:
            values = values.view()
        if valid is not None and not valid.all():
            values = self._with_nulls(values, valid)
        values.flags.writeable = False
        return values

    def _with_nulls(self, values: NDArray[Any], valid: Mask) -> NDArray[Any]:
        if self.is_temporal:
            return np.where(valid, values, np.array("NaT", values.dtype))
        if pa.types.is_boolean(self.kind):
            objects = values.astype(object)
            objects[~valid] = None
            return objects
        return np.where(valid, values.astype(np.float64), np.nan)

    def to_python(self, stored: Stored) -> list[Any]:
        """The values as plain Python objects, with None for null."""
        if self.is_object:
            values: list[Any] = stored.values.tolist()
        elif self.is_temporal or self.is_decimal:
            values = self.to_arrow(stored).to_pylist()
        elif stored.valid is None:
            values = stored.values.tolist()
        else:
            pairs = zip(stored.values.tolist(), stored.valid.tolist(), strict=True)
            values = [v if is_valid else None for v, is_valid in pairs]
        return values

    def to_arrow(self, stored: Stored) -> pa.Array:
        """The values as an Arrow array."""
        if self.is_object:
            return pa.array(stored.values.tolist(), self.kind)
        if self.is_decimal:
            array = decimals_of(as_wide(stored.values), self.kind)
            if stored.valid is None:
                return array
            return pc.if_else(pa.array(stored.valid), array, pa.scalar(None, self.kind))
        mask = None if stored.valid is None else ~stored.valid
        array = pa.array(stored.values, mask=mask)
        if pa.types.is_date(self.kind):
            array = array.cast(pa.int32())
        return array.cast(self.kind)

    def to_kernel(self, stored: Stored, decimals: TakenAs | None = None) -> tuple[Values, Any]:
        """The values for kernels, and a dictionary to decode results, if one is needed.

        They are int64 or float64. Objects become codes that keep their order and equality, into a
        dictionary in Arrow; nested ones are only numbered. Decimals are taken as floats or exactly,
        as wide integers. Otherwise they become int64, or codes if that is too short.
        """
        if self.is_decimal and decimals is not None:
            from windrow.kernels.wide_integers import floats_of_wide

            if decimals == "exactly":
                return Values(stored.values, stored.valid, self.kind.scale), None
            return Values(floats_of_wide(stored.values, self.kind.scale), stored.valid), None
        if not self.is_object and not self.is_decimal:
            is_float = stored.values.dtype.kind == "f"
            values = stored.values.astype(np.float64 if is_float else np.int64, copy=False)
            return Values(values, stored.valid), None
        if self.is_decimal:
            from windrow.kernels.wide_integers import words_of

            low, high = words_of(stored.values).view(np.int64).T[:2]
            if (low >> 63 == high).all():
                return Values(low, stored.valid), None
        return self._coded(self.to_arrow(stored))

    def of_arrow(self, column: pa.ChunkedArray, decimals: TakenAs | None) -> tuple[Values, Any]:
        """The same for a column of Arrow. Objects are not made."""
        if not self.is_object:
            return self.to_kernel(self.store(column), decimals)
        return self._coded(cast(column, self.kind, safe=False).combine_chunks())

    def _coded(self, array: pa.Array | pa.ChunkedArray) -> tuple[Values, Any]:
        valid = np.asarray(pc.is_valid(array)) if array.null_count else None
        if pa.types.is_nested(self.kind):
            return Values(np.arange(len(array)), valid), array
        encoded = array.dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        order = pc.sort_indices(encoded.dictionary)
        rank = np.empty(len(order), np.int64)
        rank[np.asarray(order)] = np.arange(len(order))
        found = np.asarray(encoded.indices.fill_null(0))
        codes = rank[found] if len(rank) else np.zeros(len(array), np.int64)
        return Values(codes, valid), encoded.dictionary.take(order)


def as_wide(values: NDArray[Any]) -> NDArray[Any]:
    """Integers of 128 bits with the value of int64; others as they are."""
    if values.dtype.kind == "V":
        return values
    return np.column_stack([values, values >> 63]).view("V16").reshape(len(values))


def decimals_of(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Decimals of this type that have these bytes, without a copy."""
    held = np.ascontiguousarray(values)
    return pa.Array.from_buffers(kind, len(held), [None, pa.py_buffer(held.view(np.uint64))])


def as_objects(values: list[Any]) -> NDArray[Any]:
    """The values as an array of objects."""
    objects = np.empty(len(values), object)
    objects[:] = values
    return objects


def _with_arrays(values: NDArray[Any]) -> NDArray[Any]:
    """Convert lists of numbers to arrays."""
    shown = np.empty(len(values), object)
    shown[:] = [np.asarray(v) if isinstance(v, list) and _is_flat(v) else v for v in values]
    return shown


def _is_flat(values: list[Any]) -> bool:
    return all(isinstance(v, int | float) for v in values)
