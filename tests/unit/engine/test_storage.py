from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from windrow.engine.columns.held import as_held
from windrow.engine.columns.storage import ColumnStorage, Stored

VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "tinyint": (pa.int8(), [1, -128]),
    "int": (pa.int32(), [1, -(2**31)]),
    "bigint": (pa.int64(), [1, -(2**63), 2**63 - 1]),
    "float": (pa.float32(), [0.5, -math.inf]),
    "double": (pa.float64(), [0.5, math.inf]),
    "boolean": (pa.bool_(), [True, False]),
    "date": (pa.date32(), [date(1969, 12, 31), date(2020, 2, 29)]),
    "timestamp": (
        pa.timestamp("us", "UTC"),
        [datetime(1969, 1, 1, 0, 0, 0, 1, UTC), datetime(2020, 1, 1, tzinfo=UTC)],
    ),
    "timestamp_ntz": (pa.timestamp("us"), [datetime(2020, 1, 1, 1, 2, 3, 4), datetime(1, 1, 1)]),
    "string": (pa.string(), ["", "é"]),
    "binary": (pa.binary(), [b"", b"\x00"]),
    "decimal": (pa.decimal128(9, 2), [Decimal("1.50"), Decimal("-0.01")]),
    "array": (pa.list_(pa.int64()), [[], [1, 2]]),
    "array of strings": (pa.list_(pa.string()), [["x", None], []]),
    "struct": (pa.struct([("a", pa.int64())]), [{"a": 1}, {"a": None}]),
}
by_type = pytest.mark.parametrize("kind", VALUES)


def stored(kind: pa.DataType, values: list[Any]) -> tuple[ColumnStorage, Stored]:
    storage = ColumnStorage(kind)
    return storage, storage.store(pa.chunked_array([pa.array(values, kind)]))


@by_type
@pytest.mark.parametrize("nulls", [[], [None]])
def test_values_and_nulls_come_back(kind: str, nulls: list[None]) -> None:
    arrow, values = VALUES[kind]
    values = [*nulls, *values, *nulls]
    storage, column = stored(arrow, values)
    assert storage.to_arrow(column).equals(pa.array(values, arrow))
    assert storage.to_python(column) == values
    assert storage.to_python(column.slice(1, 2)) == values[1:2]
    assert storage.to_python(column.take(np.array([1, 0]))) == [values[1], values[0]]


@by_type
def test_all_nulls_and_nothing(kind: str) -> None:
    arrow, _ = VALUES[kind]
    for values in ([], [None, None]):
        storage, column = stored(arrow, values)
        assert storage.to_arrow(column).equals(pa.array(values, arrow))
        assert storage.to_python(column) == values
        assert len(storage.show(column)) == len(values)


@by_type
def test_chunks_and_slices(kind: str) -> None:
    arrow, values = VALUES[kind]
    array = pa.array([*values, None, *values], arrow)
    storage = ColumnStorage(arrow)
    parts = storage.store(pa.chunked_array([array.slice(1), array.slice(0, 1)]))
    assert storage.to_python(parts) == [*values[1:], None, *values, values[0]]
    empty = storage.store(pa.chunked_array([], arrow))
    assert storage.to_python(empty) == []


@by_type
def test_what_is_shown_is_read_only(kind: str) -> None:
    arrow, values = VALUES[kind]
    for given in (values, [None, *values]):
        storage, column = stored(arrow, given)
        assert not storage.show(column).flags.writeable


@by_type
def test_no_null_no_mask(kind: str) -> None:
    arrow, values = VALUES[kind]
    assert stored(arrow, values)[1].valid is None


def test_nulls_are_shown_as_nan_nat_or_none() -> None:
    assert np.isnan(_shown(pa.int64(), [1, None])[1])
    assert np.isnan(_shown(pa.float64(), [1.0, None])[1])
    assert np.isnat(_shown(pa.timestamp("us"), [datetime(1970, 1, 1), None])[1])
    assert np.isnat(_shown(pa.date32(), [date(1970, 1, 1), None])[1])
    assert _shown(pa.bool_(), [True, None]).tolist() == [True, None]
    assert _shown(pa.string(), ["x", None]).tolist() == ["x", None]


def _shown(kind: pa.DataType, values: list[Any]) -> Any:
    storage, column = stored(kind, values)
    return storage.show(column)


def test_times_are_shown_as_datetime64() -> None:
    assert _shown(pa.timestamp("us"), [datetime(1970, 1, 2)])[0] == np.datetime64(
        "1970-01-02", "us"
    )
    assert _shown(pa.date32(), [date(1970, 1, 2)]).dtype == np.dtype("M8[D]")


def test_lists_of_numbers_are_shown_as_arrays() -> None:
    numbers, texts = _shown(pa.list_(pa.int64()), [[1, 2]]), _shown(pa.list_(pa.string()), [["x"]])
    assert isinstance(numbers[0], np.ndarray)
    assert texts[0] == ["x"]


@pytest.mark.parametrize("unit", ["s", "ms", "ns"])
def test_other_units_of_time_become_microseconds(unit: str) -> None:
    array = pa.array([-1, None, 3], pa.timestamp(unit))
    storage = ColumnStorage(array.type)
    column = storage.store(pa.chunked_array([array]))
    expected = {"s": [-1_000_000, 3_000_000], "ms": [-1000, 3000], "ns": [-1, 0]}[unit]
    assert column.values[[0, 2]].tolist() == expected
    assert storage.kind == pa.timestamp("us")


def test_dictionaries_are_held_as_their_values() -> None:
    array = pa.array(["p", None, "p"]).dictionary_encode()
    storage = ColumnStorage(array.type)
    column = storage.store(pa.chunked_array([array]))
    assert storage.to_python(column) == ["p", None, "p"]
    assert storage.to_arrow(column).type == pa.string()


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.string(), ["q", None, "p", "q", "é"]),
        (pa.decimal128(38, 0), [Decimal(10**30), None, Decimal("-1"), Decimal(10**30)]),
        (pa.binary(), [b"b", b"a", None, b""]),
    ],
)
def test_codes_for_kernels_keep_order_and_equality(kind: pa.DataType, values: list[Any]) -> None:
    storage, column = stored(kind, values)
    codes, dictionary = storage.to_kernel(column)
    assert [None if c is None else dictionary[c].as_py() for c in codes.to_list()] == values
    known = sorted({v for v in values if v is not None})
    assert dictionary.to_pylist() == known


@pytest.mark.parametrize(
    ("kind", "value", "dtype"),
    [(pa.int8(), 1, np.int64), (pa.bool_(), True, np.int64), (pa.float32(), 0.5, np.float64)],
)
def test_numbers_for_kernels_are_int64_or_float64(
    kind: pa.DataType, value: Any, dtype: type
) -> None:
    storage, column = stored(kind, [value, None])
    values, dictionary = storage.to_kernel(column)
    assert values.values.dtype == dtype
    assert dictionary is None
    assert values.to_list() == [value, None]


def test_decimals_for_kernels_are_their_digits_if_those_fit() -> None:
    values = [Decimal("2.00"), None, Decimal("-1.50"), Decimal("92233720368547758.07")]
    storage, column = stored(pa.decimal128(38, 2), values)
    digits, dictionary = storage.to_kernel(column)
    assert dictionary is None
    assert digits.to_list() == [200, None, -150, 2**63 - 1]
    assert storage.to_arrow(Stored(digits.values, digits.valid)).to_pylist() == values
    floats, _ = storage.to_kernel(column, "floats")
    assert floats.to_list() == [2.0, None, -1.5, 92233720368547758.07]


def test_nulls_nested_in_columns_of_other_types_stay() -> None:
    def kind(text: pa.DataType) -> pa.DataType:
        return pa.map_(pa.string(), pa.struct([("s", text), ("n", pa.null())]))

    values = [[("a", None), ("b", {"s": "x", "n": None})], [], None]
    beside = {"m": [("a", None), ("b", None)]}
    for given, held, rows in [
        (kind(pa.string()), kind(pa.string()), values),
        (kind(pa.string_view()), kind(pa.string()), values),
        *[
            (
                pa.struct([("s", text), ("m", pa.map_(pa.string(), pa.null()))]),
                pa.struct([("s", pa.string()), ("m", pa.map_(pa.string(), pa.null()))]),
                [{"s": "x", **beside}, None],
            )
            for text in (pa.string(), pa.string_view())
        ],
    ]:
        table = as_held(pa.table({"c": pa.array(rows, given)}))
        table.validate(full=True)
        assert table.schema.field("c").type == held
        assert table["c"].to_pylist() == rows
        storage = ColumnStorage(held)
        assert storage.to_python(storage.store(table["c"])) == rows


def test_codes_below_a_null_struct_may_be_anything() -> None:
    text = pa.dictionary(pa.int8(), pa.string())
    codes = pa.DictionaryArray.from_arrays(
        pa.array([0], pa.int8()), pa.array([], pa.string()), safe=False
    )
    struct = pa.StructArray.from_arrays(
        [codes], fields=[pa.field("s", text)], mask=pa.array([True])
    )
    storage = ColumnStorage(pa.struct([("s", pa.string())]))
    assert storage.to_python(storage.store(pa.chunked_array([struct]))) == [None]
