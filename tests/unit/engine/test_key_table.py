from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from windrow.engine.columns.key_table import KeyTable, distinct_keys, hash_keys, number_keys

NAN = math.nan
STRUCT = pa.struct([("a", pa.int64()), ("b", pa.string())])
TYPED_KEYS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int64": (pa.int64(), [5, -5, 0, 2**62]),
    "int8": (pa.int8(), [5, -5, 0, 127]),
    "string": (pa.string(), ["x", "", "yy", "é"]),
    "large string": (pa.large_string(), ["x", "", "yy", "é"]),
    "binary": (pa.binary(), [b"x", b"", b"\x00", b"\xff"]),
    "bool": (pa.bool_(), [True, False]),
    "float": (pa.float32(), [1.5, 0.0, NAN, math.inf]),
    "double": (pa.float64(), [1.5, 0.0, NAN, -math.inf]),
    "decimal": (pa.decimal128(9, 2), [Decimal("1.50"), Decimal("-1.50"), Decimal("0.00")]),
    "date": (pa.date32(), [date(1969, 12, 31), date(1970, 1, 1), date(2020, 2, 29)]),
    "timestamp": (pa.timestamp("us"), [datetime(1970, 1, 1), datetime(2020, 1, 1, 0, 0, 0, 1)]),
    "zoned": (pa.timestamp("ms", "UTC"), [datetime(1970, 1, 1), datetime(2020, 1, 1)]),
    "time": (pa.time64("us"), [time(0), time(1, 2, 3, 4)]),
    "duration": (pa.duration("us"), [timedelta(0), timedelta(days=-1)]),
    "struct": (STRUCT, [{"a": 1, "b": "x"}, {"a": 1, "b": None}, {"a": None, "b": "x"}]),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["x", "", "yy"]),
}
by_type = pytest.mark.parametrize("kind", TYPED_KEYS)


def table(kind: pa.DataType, keys: list[Any]) -> pa.Table:
    return pa.table({"k": pa.array(keys, kind)})


def codes(keys: KeyTable, *columns: Any, names: str = "k") -> list[int]:
    found: list[int] = keys.codes(pa.table(dict(zip(names, columns, strict=True)))).tolist()
    return found


def identities(values: list[Any]) -> list[str]:
    return [repr(v) for v in values]


@by_type
def test_codes_are_stable_over_batches_and_null_is_a_key(kind: str) -> None:
    arrow, values = TYPED_KEYS[kind]
    keys, n = KeyTable(["k"]), len(values)
    assert keys.codes(table(arrow, values)).tolist() == list(range(n))
    assert keys.codes(table(arrow, values[::-1])).tolist() == list(range(n))[::-1]
    assert keys.codes(table(arrow, [None, values[0], None])).tolist() == [n, 0, n]
    assert keys.codes(table(arrow, [values[-1], values[0]])).tolist() == [n - 1, 0]
    assert len(keys) == n + 1
    stored = keys.table()["k"].to_pylist()
    assert identities(stored) == identities([*pa.array(values, arrow).to_pylist(), None])


@by_type
def test_keys_come_back_by_their_codes(kind: str) -> None:
    arrow, values = TYPED_KEYS[kind]
    keys = KeyTable(["k"])
    keys.codes(table(arrow, values[:1]))
    keys.codes(table(arrow, values))
    (taken,) = keys.take(np.array([1, 0, 1]))
    plain = pa.array(values, arrow).to_pylist()
    assert identities(taken.to_pylist()) == identities([plain[1], plain[0], plain[1]])
    assert repr(keys.value(1)) == repr(plain[1])


@by_type
def test_empty_batches(kind: str) -> None:
    arrow, values = TYPED_KEYS[kind]
    keys = KeyTable(["k"])
    assert len(keys.codes(table(arrow, []))) == 0
    assert len(keys.codes(pa.table({"k": pa.chunked_array([], arrow)}))) == 0
    assert keys.codes(table(arrow, values[:1])).tolist() == [0]
    assert len(keys.codes(table(arrow, []))) == 0
    assert len(keys) == 1


def test_integers_then_a_null_then_integers() -> None:
    keys = KeyTable(["k"])
    assert codes(keys, [7, 8, 7]) == [0, 1, 0]
    assert codes(keys, [8, None, 9]) == [1, 2, 3]
    assert codes(keys, [9, 7, 10]) == [3, 0, 4]
    assert keys.table()["k"].to_pylist() == [7, 8, None, 9, 10]


def test_a_null_first() -> None:
    keys = KeyTable(["k"])
    assert codes(keys, pa.array([None, 3], pa.int64())) == [0, 1]
    assert codes(keys, [3, 4]) == [1, 2]


def test_zeros_are_one_key_and_nans_are_one_key() -> None:
    keys = KeyTable(["k"])
    assert codes(keys, [0.0, -0.0, NAN, -NAN]) == [0, 0, 1, 1]
    assert codes(keys, [-0.0, NAN, 0.0]) == [0, 1, 0]


def test_zeros_and_nans_in_structs_and_beside_other_columns() -> None:
    keys = KeyTable(["k"])
    assert codes(keys, [{"f": 0.0}, {"f": -0.0}, {"f": NAN}]) == [0, 0, 1]
    assert codes(keys, [{"f": NAN}, {"f": -0.0}, None, {"f": None}]) == [1, 0, 2, 3]
    keys = KeyTable(["a", "b"])
    assert codes(keys, [1, 1, 2], [NAN, NAN, NAN], names="ab") == [0, 0, 1]
    assert codes(keys, [2, 1], [NAN, -NAN], names="ab") == [1, 0]


def test_several_columns() -> None:
    keys = KeyTable(["a", "b"])
    assert codes(keys, [1, 1, None], ["x", "y", "x"], names="ab") == [0, 1, 2]
    assert codes(keys, [None, 1, 1], ["x", None, "x"], names="ab") == [2, 3, 0]
    assert keys.value(3) == (1, None)


def test_the_text_nan_is_not_the_number() -> None:
    keys = KeyTable(["a", "b"])
    assert codes(keys, ["NaN", "NaN"], [1.0, NAN], names="ab") == [0, 1]
    assert codes(keys, ["NaN"], [NAN], names="ab") == [1]


def test_dictionaries_differ_between_batches() -> None:
    keys = KeyTable(["k"])
    for batch, expected in ((["p", "q"], [0, 1]), (["r", "q", "p"], [2, 1, 0]), (["r"], [2])):
        assert codes(keys, pa.array(batch).dictionary_encode()) == expected
    assert [c.to_pylist() for c in keys.take(np.array([2, 0]))] == [["r", "p"]]


def test_without_key_columns_all_tuples_are_of_one_key() -> None:
    keys = KeyTable([])
    assert keys.codes(pa.table({"x": pa.array([], pa.int64())})).tolist() == []
    assert len(keys) == 0
    assert keys.codes(pa.table({"x": [1, 2]})).tolist() == [0, 0]
    assert len(keys) == 1
    assert keys.value(0) is None
    assert keys.take(np.array([0])) == []


def test_more_keys_than_a_batch_holds() -> None:
    keys = KeyTable(["k"])
    for begin in range(0, 3000, 500):
        assert codes(keys, list(range(begin, begin + 500))) == list(range(begin, begin + 500))
    assert keys.value(2999) == 2999


def hashes(column: Any, length: int | None = None) -> list[int]:
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    found: list[int] = hash_keys([chunked], len(chunked) if length is None else length).tolist()
    return found


@by_type
def test_a_hash_depends_on_the_key_alone(kind: str) -> None:
    arrow, values = TYPED_KEYS[kind]
    each = {repr(v): hashes(pa.array([v], arrow))[0] for v in [*values, None]}
    assert len(set(each.values())) == len(each)
    for batch in (values, [*values, None], [None, *values[::-1], None], [None, None], []):
        array = pa.array(batch, arrow)
        expected = [each[repr(v)] for v in batch]
        assert hashes(array) == expected
        assert hashes(pa.chunked_array([array, array])) == expected * 2
        assert hashes(pa.chunked_array([array.slice(0, 1), array.slice(1)])) == expected


@by_type
def test_the_hash_of_a_slice(kind: str) -> None:
    arrow, values = TYPED_KEYS[kind]
    array = pa.array([*values, None, *values], arrow)
    whole = hashes(array)
    for lo in range(len(array)):
        assert hashes(array.slice(lo)) == whole[lo:]
        assert hashes(array.slice(lo, 1)) == whole[lo : lo + 1]


def test_equal_keys_have_equal_hashes() -> None:
    zeros = hashes(pa.array([0.0, -0.0]))
    assert zeros[0] == zeros[1]
    nans = hashes(pa.array([NAN, -NAN], pa.float64()))
    assert nans[0] == nans[1]
    assert hashes(pa.array([1.5], pa.float32())) == hashes(pa.array([1.5], pa.float64()))
    assert hashes(pa.array(["x"]).dictionary_encode()) == hashes(pa.array(["x"]))


def test_the_hash_of_several_columns_minds_which_is_which() -> None:
    a, b = pa.chunked_array([[1, 2]]), pa.chunked_array([[2, 1]])
    first, second = hash_keys([a, b], 2).tolist()
    assert first != second
    assert hash_keys([b, a], 2).tolist() == [second, first]


def test_without_key_columns_all_hashes_are_equal() -> None:
    assert hash_keys([], 3).tolist() == [0, 0, 0]


@by_type
def test_the_hash_of_a_key_in_the_table_is_that_in_the_batch(kind: str) -> None:
    arrow, values = TYPED_KEYS[kind]
    keys = KeyTable(["k"])
    keys.codes(table(arrow, values))
    keys.codes(table(arrow, [None]))
    taken = keys.take(np.arange(len(keys)))
    assert hash_keys(taken, len(keys)).tolist() == hashes(pa.array([*values, None], arrow))


@by_type
def test_keys_of_one_batch_are_numbered_alike(kind: str) -> None:
    arrow, values = TYPED_KEYS[kind]
    batch = table(arrow, [*values, None, *values[::-1]])
    own, distinct = distinct_keys(batch, ["k"])
    assert len(distinct) == len(values) + 1
    found = distinct["k"].take(pa.array(own)).to_pylist()
    assert identities(found) == identities(batch["k"].to_pylist())


def test_a_dictionary_may_hold_a_value_twice_and_values_that_nobody_has() -> None:
    codes = pa.array([2, 0, None, 1, 2], pa.int8())
    keys = pa.DictionaryArray.from_arrays(codes, pa.array(["x", "y", "x", None, "z"]))
    own, distinct = distinct_keys(pa.table({"k": keys}), ["k"])
    assert distinct["k"].take(pa.array(own)).to_pylist() == ["x", "x", None, "y", "x"]
    assert distinct["k"].to_pylist().count("x") == distinct["k"].to_pylist().count(None) == 1


@pytest.mark.parametrize("n", [1, 2, 3, 8, 200])
@by_type
def test_the_number_of_a_key_is_its_hash_modulo_n(kind: str, n: int) -> None:
    arrow, values = TYPED_KEYS[kind]
    for keys in (values, [*values, None]):
        column = table(arrow, keys)["k"]
        hashes = hash_keys([column], len(column))
        assert number_keys([column], len(column), n).tolist() == [int(h) % n for h in hashes]
