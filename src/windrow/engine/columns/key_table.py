"""The keys that a worker has seen, numbered by dense codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.engine.columns.arrays import Int64s, key_codes
from windrow.kernels.columns import as_column, read_only
from windrow.kernels.hashing import Hashes, hash_bytes, hash_integers, number_integers
from windrow.kernels.integer_index import IntegerIndex

_NULL = 0x6E756C6C


class KeyTable:
    """Numbers keys in order of appearance, consistently across batches.

    A single integer column without nulls is looked up in a compiled index. For other keys, Arrow
    finds the distinct keys of each batch, which are then looked up one by one.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)
        self._integers = IntegerIndex()
        self._codes: dict[Any, int] = {}
        self._parts: list[pa.Table] = []
        self._n = 0
        self._are_integers = len(columns) == 1

    def __len__(self) -> int:
        return self._n

    def codes(self, batch: pa.Table) -> Int64s:
        """The code of each tuple's key."""
        if not self.columns:
            if len(batch) and not self._n:
                self._add(pa.table({"": [0]}), 1)
            return np.zeros(len(batch), np.int64)
        column = batch[self.columns[0]]
        is_plain = pa.types.is_integer(column.type) and column.null_count == 0
        if self._are_integers and is_plain:
            return self._integer_codes(batch, column)
        if self._are_integers:
            self._leave_integers()
        own, distinct = _distinct(batch.select(self.columns))
        known = np.empty(len(distinct), np.int64)
        new: list[int] = []
        for i, key in enumerate(_identities(distinct)):
            code = self._codes.setdefault(key, self._n + len(new))
            if code == self._n + len(new):
                new.append(i)
            known[i] = code
        if new:
            self._add(distinct.take(new), len(new))
        codes: Int64s = known[own]
        return codes

    def _integer_codes(self, batch: pa.Table, column: pa.ChunkedArray) -> Int64s:
        codes = self._integers.codes(np.asarray(column.cast(pa.int64()).to_numpy(), np.int64))
        if len(self._integers) > self._n:
            new = pa.array(self._integers.keys[self._n :].copy()).cast(column.type)
            self._add(pa.table({self.columns[0]: new}), len(new))
        return codes

    def _leave_integers(self) -> None:
        """Switch to the lookup for other keys, after a null or another type has arrived."""
        self._are_integers = False
        if self._n:
            self._codes = {key: i for i, key in enumerate(_identities(self.table()))}

    def _add(self, keys: pa.Table, n: int) -> None:
        # Each part is at least twice as long as the next, so parts are few and keys rarely move.
        while self._parts and len(self._parts[-1]) < 2 * len(keys):
            keys = pa.concat_tables([self._parts.pop(), keys]).combine_chunks()
        self._parts.append(keys)
        self._n += n

    def table(self) -> pa.Table:
        """The values of all keys, in order of code."""
        return pa.concat_tables(self._parts)

    def after(self, n: int) -> pa.Table | None:
        """The values of the keys from code ``n`` on. Time O(number of these keys)."""
        parts: list[pa.Table] = []
        start = self._n
        for part in reversed(self._parts):
            if start <= n:
                break
            start -= len(part)
            parts.append(part.slice(max(n - start, 0)))
        return pa.concat_tables(parts[::-1]) if parts else None

    def take(self, codes: Int64s) -> list[pa.ChunkedArray]:
        """The key columns of the keys with these codes."""
        return [self.table()[c].take(pa.array(codes)) for c in self.columns]

    def value(self, code: int) -> Any:
        """A key as a user's function sees it."""
        values = tuple(self.table()[c][code].as_py() for c in self.columns)
        return values[0] if len(values) == 1 else values or None


def distinct_keys(batch: pa.Table, columns: Sequence[str]) -> tuple[Int64s, pa.Table]:
    """The number of each tuple's key among the keys of the batch, and these keys.

    It costs less than a key table, which finds the same key in other batches again.
    """
    if len(columns) == 1 and not _are_plain_integers(batch[columns[0]]):
        keys = batch.select(columns)
        is_encoded = pa.types.is_dictionary(keys.column(0).type)
        own, distinct = _decoded(keys) if is_encoded else _distinct(keys)
        return np.asarray(own, np.int64), distinct
    numbers = KeyTable(columns)
    codes = numbers.codes(batch)
    return codes, numbers.table().select(columns)


def _decoded(keys: pa.Table) -> tuple[Any, pa.Table]:
    """The same for codes of a dictionary: only its values are compared with each other."""
    column = keys.column(0).combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    values, codes = column.dictionary, column.indices
    if codes.null_count:
        codes = codes.fill_null(len(values))
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    own, distinct = _distinct(pa.table([values], names=keys.column_names))
    return own[codes.to_numpy()], distinct


def _distinct(keys: pa.Table) -> tuple[Any, pa.Table]:
    """The number of each row's key among the distinct keys, and the distinct keys."""
    column = keys.column(0)
    if keys.num_columns == 1 and _is_encodable(column.type):
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        distinct = pa.table([encoded.dictionary], names=keys.column_names)
        return encoded.indices.to_numpy(), distinct
    own, representatives = key_codes(keys.columns, len(keys))
    return own, keys.take(representatives)


def _is_encodable(kind: pa.DataType) -> bool:
    """Whether Arrow's dictionary encoding tells values apart as Spark does."""
    return not (
        pa.types.is_floating(kind) or pa.types.is_nested(kind) or pa.types.is_dictionary(kind)
    )


def _identities(keys: pa.Table) -> list[Any]:
    """Hashable values that are equal for equal keys; NaN equals NaN."""
    columns = [
        values if _are_identities(column.type) else map(_identity, values)
        for column in keys.columns
        for values in [_exact(column).to_pylist()]
    ]
    return list(zip(*columns, strict=True))


def _are_identities(kind: pa.DataType) -> bool:
    """Whether values of this type are equal, as Python's, if they are the same key."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_string(kind) or types.is_temporal(kind))


def _exact(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column, or integers in place of times, as Python has no nanoseconds."""
    if pa.types.is_time64(column.type) or pa.types.is_timestamp(column.type):
        return column.cast(pa.int64())
    return column


def _identity(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((k, _identity(v)) for k, v in value.items())
    if isinstance(value, list):
        return tuple(_identity(v) for v in value)
    return "NaN" if value != value else value


def hash_keys(columns: Sequence[pa.ChunkedArray], length: int) -> Hashes:
    """A hash of each tuple's key. It depends on the key only, not on the process or the batch."""
    hashes = np.zeros(length, np.uint64)
    for column in columns:
        values = _hash_column(column, hashes)
        if column.null_count:
            nulls = hash_integers(as_column(np.full(length, _NULL)), hashes)
            values = np.where(np.asarray(pc.is_valid(column)), values, nulls)
        hashes = values
    return hashes


def number_keys(columns: Sequence[pa.ChunkedArray], length: int, n: int) -> Int64s:
    """The hash of each tuple's key modulo ``n``."""
    if len(columns) == 1 and _are_plain_integers(columns[0]):
        return number_integers(as_column(columns[0].to_numpy()), n)
    return (hash_keys(columns, length) % np.uint64(n)).astype(np.int64)


def _are_plain_integers(column: pa.ChunkedArray) -> bool:
    kind = column.type
    return bool(pa.types.is_integer(kind) and kind != pa.uint64() and column.null_count == 0)


def _hash_column(column: pa.ChunkedArray, seed: Hashes) -> Hashes:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _hash_column(column.cast(kind.value_type), seed)
    if pa.types.is_struct(kind):
        fields = [pc.struct_field(column, [i]) for i in range(kind.num_fields)]
        return hash_keys([pa.chunked_array([seed.view(np.int64)]), *fields], len(column))
    if pa.types.is_floating(kind):
        values = np.asarray(column.cast(pa.float64()).fill_null(0).to_numpy(), np.float64) + 0.0
        values[np.isnan(values)] = np.nan
        return hash_integers(as_column(values.view(np.int64)), seed)
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind) or pa.types.is_boolean(kind):
        return hash_integers(as_column(_as_integers(column)), seed)
    text = pc.cast(column, pa.string()) if pa.types.is_decimal(kind) else column
    array = text.cast(pa.large_binary()).combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    _, offsets, data = array.fill_null(b"").buffers()
    bounds = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    text = np.frombuffer(data or b"", np.uint8)
    return hash_bytes(as_column(bounds), read_only(text), seed)


def _as_integers(column: pa.ChunkedArray) -> Int64s:
    if pa.types.is_date32(column.type) or pa.types.is_time32(column.type):
        column = column.cast(pa.int32())
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return np.asarray(column.cast(pa.int64()).fill_null(0).to_numpy(), np.int64)
