"""Conversion of Arrow columns to the NumPy arrays that the engine works on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.core.durations import INT64_MAX, MICROSECONDS_PER, NANOSECONDS, TimeUnit
from windrow.core.errors import WindrowError
from windrow.kernels.ascending import ascends_in_ties
from windrow.kernels.columns import read_only

Int64s = NDArray[np.int64]


def to_microseconds(column: pa.ChunkedArray, unit: TimeUnit = "us") -> Int64s:
    """Times as int64 microseconds, rounded down. They must not contain nulls.

    ``unit`` is the unit of an integer column.

    >>> to_microseconds(pa.chunked_array([[-1, 1_700]]), "ns").tolist()
    [-1, 1]
    """
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("ms"))
    hint = None
    if pa.types.is_timestamp(column.type):
        unit = column.type.unit
    else:
        hint = 'pass the unit the column has, for example event_time(..., unit="ns").'
    times = np.asarray(column.cast(pa.int64()).to_numpy())
    if unit == "us":
        return times
    if unit == "ns":
        return times // NANOSECONDS
    factor = MICROSECONDS_PER[unit]
    limit = INT64_MAX // factor
    if len(beyond := times[(times < -limit) | (times > limit)]):
        rule = f"event times in {unit} must fit 64-bit microseconds"
        raise WindrowError(rule, str(beyond[0]), hint)
    return times * factor


def around(starts: Int64s, ends: Int64s, unit: TimeUnit) -> tuple[list[int], list[int]]:
    """Bounds in microseconds converted to whole numbers of a unit, rounded outwards.

    >>> around(np.array([500_000]), np.array([1_500_000]), "s")
    ([0], [2])
    """
    if unit == "ns":
        # Python integers, because the bounds of long windows may need more than 64 bits.
        lists = starts.tolist(), ends.tolist()
        return [t * NANOSECONDS for t in lists[0]], [t * NANOSECONDS for t in lists[1]]
    factor = MICROSECONDS_PER[unit]
    return (starts // factor).tolist(), (-(-ends // factor)).tolist()


def key_codes(columns: Sequence[pa.ChunkedArray], length: int) -> tuple[Int64s, Int64s]:
    """A dense code per tuple for its key, and the position of the first tuple of each key.

    Keys are numbered in order of appearance. As in Spark, null is a key, NaN equals NaN and -0.0
    equals 0.0.
    """
    codes = np.zeros(length, np.int64)
    for column in columns:
        own = _codes(column)
        codes = codes * (own.max(initial=-1) + 1) + own
        codes = _by_appearance(codes)
    _, representatives = np.unique(codes, return_index=True)
    return codes, representatives


def _codes(column: pa.ChunkedArray) -> Int64s:
    if pa.types.is_struct(column.type):
        valid = pc.is_valid(column)
        fields = [pc.struct_field(column, [i]) for i in range(column.type.num_fields)]
        return key_codes([valid, *fields], len(column))[0]
    if pa.types.is_null(column.type):
        return np.zeros(len(column), np.int64)
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0.0, column.type))
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), np.int64)


def _by_appearance(codes: Int64s) -> Int64s:
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[inverse]


def sort_keys(column: pa.ChunkedArray) -> list[NDArray[Any]]:
    """Arrays whose lexicographic order is Spark's ascending order: nulls first, NaN last."""
    if pa.types.is_struct(column.type):
        fields = (pc.struct_field(column, [i]) for i in range(column.type.num_fields))
        return [np.asarray(pc.is_valid(column)), *(key for f in fields for key in sort_keys(f))]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        return []
    if pa.types.is_floating(column.type):
        return [np.asarray(pc.is_valid(column)), column.to_numpy()]
    if (numbers := _as_numbers(column)) is not None:
        return [numbers]
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    dense = pc.rank(column, sort_keys="ascending", tiebreaker="dense")
    return [np.asarray(pc.is_valid(column)), np.asarray(dense)]


def _as_numbers(column: pa.ChunkedArray) -> NDArray[Any] | None:
    """Integers, dates and times without nulls as numbers; None for other columns."""
    kind = column.type
    is_number = pa.types.is_integer(kind) or pa.types.is_date(kind) or pa.types.is_time(kind)
    if column.null_count or not (is_number or pa.types.is_timestamp(kind)):
        return None
    if not pa.types.is_integer(kind):
        column = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    return np.asarray(column.to_numpy())


def is_ordered_by(columns: Iterable[pa.ChunkedArray], n: int) -> bool:
    """Whether ``n`` rows are in ascending order of these columns; ties may come in any order.

    The order is that of ``sort_keys``. A column is looked at only if those before it have ties.

    >>> columns = [pa.chunked_array([[1, 1, 2]]), pa.chunked_array([["a", "b", "a"]])]
    >>> is_ordered_by(columns, 3), is_ordered_by(columns[::-1], 3)
    (True, False)
    """
    is_tied = np.ones(max(n - 1, 0), np.bool_)
    for column in columns:
        if not is_tied.any():
            break
        for key in _neighbours(column):
            if not ascends_in_ties(read_only(key), is_tied):
                return False
    return True


def _neighbours(column: pa.ChunkedArray) -> list[NDArray[Any]]:
    """Arrays that ascend from one row to the next where the column does.

    Texts and decimals are compared, as sorting them would cost more.
    """
    kind = column.type
    is_text = pa.types.is_large_string(kind) or pa.types.is_string(kind)
    if column.null_count or len(column) < 2 or not (is_text or pa.types.is_decimal(kind)):
        return sort_keys(column)
    older, newer = column.slice(0, len(column) - 1), column.slice(1)
    ups, downs = (np.asarray(compare(older, newer)) for compare in (pc.less, pc.greater))
    return [np.cumsum(np.concatenate([[0], ups.astype(np.int64) - downs]))]


def sorting_order(keys: Sequence[NDArray[Any]]) -> Int64s:
    """The stable permutation that sorts by these keys, the most significant first.

    >>> sorting_order([np.array([1, 0, 1]), np.array([5, 7, 3])])
    array([1, 2, 0])
    """
    return np.arange(len(keys[0])) if ascend(keys) else np.lexsort(list(keys)[::-1])


def ascend(keys: Sequence[NDArray[Any]]) -> bool:
    """Whether rows with these keys are in order, the most significant key first.

    >>> ascend([np.array([0, 1, 1]), np.array([7, 3, 3])])
    True
    """
    is_after: Any = True
    for key in reversed(keys):
        is_after = (key[:-1] < key[1:]) | ((key[:-1] == key[1:]) & is_after)
    return bool(np.all(is_after))
