"""Columns of every Arrow type that files may have, and what Spark's reader makes of them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa

D = Decimal
HOUR = dt.datetime(2024, 3, 31, 1, 30, 0, 1000)
INSTANT = HOUR.replace(tzinfo=dt.UTC)
ITEMS: list[Any] = [[1], [], [2, None], None]

READ: dict[str, tuple[pa.DataType, pa.DataType, list[Any]]] = {
    "bool": (pa.bool_(), pa.bool_(), [True, False, None]),
    "int8": (pa.int8(), pa.int8(), [-128, 127, None]),
    "int16": (pa.int16(), pa.int16(), [-(2**15), 5, None]),
    "int32": (pa.int32(), pa.int32(), [-(2**31), 5, None]),
    "int64": (pa.int64(), pa.int64(), [-(2**62), 5, None]),
    "uint8": (pa.uint8(), pa.int16(), [0, 255, None]),
    "uint16": (pa.uint16(), pa.int32(), [0, 2**16 - 1, None]),
    "uint32": (pa.uint32(), pa.int64(), [0, 2**32 - 1, None]),
    "uint64": (pa.uint64(), pa.decimal128(20, 0), [0, 2**64 - 1, None]),
    "float": (pa.float32(), pa.float32(), [1.5, -0.25, None]),
    "double": (pa.float64(), pa.float64(), [1.5, -1e300, None]),
    "string": (pa.string(), pa.string(), ["", "ü€", None]),
    "large_string": (pa.large_string(), pa.string(), ["", "b", None]),
    "string_view": (pa.string_view(), pa.string(), ["", "longer than twelve", None]),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), pa.string(), ["a", "b", None]),
    "binary": (pa.binary(), pa.binary(), [b"\x00\xff", b"", None]),
    "large_binary": (pa.large_binary(), pa.binary(), [b"\x00\xff", b"", None]),
    "binary_view": (pa.binary_view(), pa.binary(), [b"\x00\xff", b"", None]),
    "fixed_binary": (pa.binary(2), pa.binary(), [b"\x00\xff", b"ab", None]),
    "date32": (pa.date32(), pa.date32(), [dt.date(2024, 2, 29), dt.date(1969, 12, 31), None]),
    "date64": (pa.date64(), pa.date32(), [dt.date(2024, 2, 29), dt.date(1969, 12, 31), None]),
    "timestamp_s": (pa.timestamp("s"), pa.timestamp("us"), [dt.datetime(1969, 12, 31), None]),
    "timestamp_ms": (pa.timestamp("ms"), pa.timestamp("us"), [HOUR, None]),
    "timestamp_us": (pa.timestamp("us"), pa.timestamp("us"), [HOUR, None]),
    "instant_ms": (pa.timestamp("ms", "Europe/Rome"), pa.timestamp("us", "UTC"), [INSTANT, None]),
    "instant_us": (pa.timestamp("us", "UTC"), pa.timestamp("us", "UTC"), [INSTANT, None]),
    "duration": (pa.duration("us"), pa.int64(), [dt.timedelta(microseconds=7), None]),
    "decimal32": (pa.decimal32(5, 2), pa.decimal128(5, 2), [D("1.50"), D("-999.99"), None]),
    "decimal64": (pa.decimal64(12, 2), pa.decimal128(12, 2), [D("1.50"), None]),
    "decimal128": (pa.decimal128(38, 3), pa.decimal128(38, 3), [D("1.500"), None]),
    "decimal256": (pa.decimal256(30, 2), pa.decimal128(30, 2), [D("1.50"), None]),
    "null": (pa.null(), pa.int32(), [None]),
    "list": (pa.list_(pa.int64()), pa.list_(pa.int64()), ITEMS),
    "large_list": (pa.large_list(pa.int64()), pa.list_(pa.int64()), ITEMS),
    "fixed_list": (pa.list_(pa.int64(), 2), pa.list_(pa.int64()), [[1, 2], [3, None], None]),
    "struct": (
        pa.struct([("a", pa.uint32()), ("b", pa.large_string())]),
        pa.struct([("a", pa.int64()), ("b", pa.string())]),
        [{"a": 1, "b": "x"}, {"a": None, "b": None}, None],
    ),
    "map": (
        pa.map_(pa.string(), pa.int32()),
        pa.map_(pa.string(), pa.int32()),
        [[("a", 1)], [], None],
    ),
}
"""By name: the type in the file, the type that is read, and some values."""

REFUSED: dict[str, pa.DataType] = {
    "float16": pa.float16(),
    "time32": pa.time32("ms"),
    "time64": pa.time64("us"),
    "decimal256": pa.decimal256(50, 2),
    "uuid": pa.uuid(),
    "list_view": pa.list_view(pa.int64()),
    "nanoseconds in a list": pa.list_(pa.timestamp("ns")),
    "interval": pa.month_day_nano_interval(),
    "struct": pa.struct([("a", pa.float16())]),
}
"""Types that Spark has no reader for."""


def table_of_every_type(n: int) -> pa.Table:
    """``n`` rows of all columns, with a key, a time and a number of each row."""
    columns: dict[str, Any] = {
        "k": pa.array([i * i % 3 for i in range(n)]),
        "t": pa.array([i * 7 % n for i in range(n)], pa.timestamp("us", "UTC")),
        "seq": pa.array(range(n)),
    }
    for name, (kind, _, values) in READ.items():
        chosen = [values[i * i % len(values)] for i in range(n)]
        columns[name] = _array(chosen, kind)
    return pa.table(columns)


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).cast(kind)
    return pa.array(values, kind)
