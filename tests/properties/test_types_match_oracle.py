"""Columns of any Arrow type in any role: the naive result with every pattern, or refused."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import windrow as wr
from windrow import functions as wf
from windrow.core import oracle
from windrow.engine.columns.held import as_held
from windrow.engine.datasets.types import taken_type
from windrow.patterns import Pattern

NEW_YORK = "America/New_York"
FIRST, LAST = dt.datetime(2024, 11, 3, 5), dt.datetime(2024, 11, 3, 8)
"""Around the hour that New York's clocks repeat."""
MOMENTS = st.datetimes(FIRST, LAST).map(lambda t: t.replace(minute=30, second=0, microsecond=0))
INSTANTS = MOMENTS.map(lambda t: t.replace(tzinfo=dt.UTC))
FLOATS = st.sampled_from([0.0, -0.0, 1.5, -2.0, math.inf, math.nan])
TEXTS = st.sampled_from(["", "a", "A", "ab", "é", "\uffff", "\U0001d11e"])
BYTES = st.sampled_from([b"", b"\x00", b"\xff", b"\xff\x00"])
DAYS = st.dates(dt.date(1969, 12, 30), dt.date(1970, 1, 2))
DURATIONS = st.integers(-2, 2).map(lambda s: dt.timedelta(seconds=s))
TIMES = st.integers(0, 3).map(lambda s: dt.time(s, s))
SMALL = st.integers(0, 3)
ATOMS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.bool_(), st.booleans()),
    *((kind, SMALL.map(lambda i: i - 2)) for kind in (pa.int8(), pa.int16(), pa.int32())),
    (pa.int64(), st.sampled_from([-(2**63), 2**63 - 1, 2**53 + 1, 2**53])),
    *((kind, SMALL) for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())),
    (pa.uint64(), st.sampled_from([0, 2**63 - 1, 2**63, 2**64 - 1])),
    *((kind, FLOATS) for kind in (pa.float16(), pa.float32(), pa.float64())),
    *((pa.decimal128(p, s), SMALL.map(lambda i: Decimal(i - 2) / 4)) for p, s in ((4, 2), (38, 9))),
    *(
        (kind, SMALL.map(lambda i: Decimal(i - 2) / 4))
        for kind in (pa.decimal32(4, 2), pa.decimal64(9, 2), pa.decimal256(30, 2))
    ),
    (pa.decimal128(3, -2), SMALL.map(lambda i: Decimal(100 * i - 200))),
    *((kind, TEXTS) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    (pa.dictionary(pa.int8(), pa.string()), TEXTS),
    *((kind, BYTES) for kind in (pa.binary(), pa.large_binary(), pa.binary_view())),
    (pa.binary(1), st.sampled_from([b"a", b"b"])),
    *((kind, DAYS) for kind in (pa.date32(), pa.date64())),
    *((pa.timestamp(unit), MOMENTS) for unit in ("s", "ms", "us")),
    *((pa.timestamp(unit, zone), INSTANTS) for unit in ("s", "us") for zone in ("UTC", NEW_YORK)),
    *((kind, TIMES) for kind in (pa.time32("s"), pa.time64("us"))),
    *((pa.duration(unit), DURATIONS) for unit in ("s", "us")),
    (pa.null(), st.none()),
]
Kind = tuple[pa.DataType, st.SearchStrategy[Any]]
PATTERNS: list[Pattern] = [
    wr.WinSeq(),
    wr.WinFarm(2),
    wr.WinFarm(2, workers="agnostic"),
    wr.PaneFarm(2, 2),
    wr.WinMapReduce(2, 2),
]
FUNCTIONS: dict[str, Any] = {
    "count": wf.count("c"),
    "first": wf.first("c"),
    "last": wf.last("c", ignore_nulls=True),
    "collect": wf.collect("c"),
    "min": wf.min("c"),
    "max": wf.max("c"),
    "mode": wf.mode("c"),
    "count_distinct": wf.count_distinct("c"),
    "top_k": wf.top_k("c", 2),
    "arg_min": wf.arg_min("i", by="c"),
    "ohlc": wf.ohlc("c"),
}


def _nested(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    def array(kind: Kind) -> Kind:
        return pa.list_(kind[0]), st.lists(st.none() | kind[1], max_size=2)

    def mapping(kind: Kind) -> Kind:
        values = st.lists(st.tuples(TEXTS, st.none() | kind[1]), max_size=2, unique_by=repr)
        return pa.map_(pa.string(), kind[0]), values

    def struct(kinds: tuple[Kind, Kind]) -> Kind:
        fields = {"a": kinds[0], "b c": kinds[1]}
        made = pa.struct([(name, kind) for name, (kind, _) in fields.items()])
        values = {name: st.none() | values for name, (_, values) in fields.items()}
        return made, st.fixed_dictionaries(values)

    return inner.map(array) | inner.map(mapping) | st.tuples(inner, inner).map(struct)


KINDS = st.recursive(st.sampled_from(ATOMS), _nested, max_leaves=3)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Up to a dozen rows of a column ``c`` of any type, and ``i``, their numbers."""
    kind, values = draw(KINDS)
    column = draw(st.lists(st.none() | values, min_size=1, max_size=12))
    try:
        made = pa.array(column, kind)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        reject()  # Arrow itself makes no arrays of some of the rarer nested types.
    return pa.table({"c": made, "i": range(len(column))})


def plain(value: Any) -> Any:
    """A value as values are compared: NaN equals NaN and -0.0 equals 0.0."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, dict):
        return tuple((name, plain(v)) for name, v in value.items())
    return tuple(map(plain, value)) if isinstance(value, list | tuple) else value


def is_refused(build: Any, *columns: Any, **functions: Any) -> bool:
    try:
        build(*columns, **functions)
    except wr.WindrowError:
        return True
    return False


@given(tables(), st.sampled_from([*PATTERNS, wr.KeyFarm(2)]))
def test_keys_of_any_type_equal_the_naive_groups(table: pa.Table, pattern: Pattern) -> None:
    query = wr.stream(table)
    if is_refused(query.key_by, "c"):
        return
    keyed = query.key_by("c").window(wr.CountWindow(100)).agg(n=wf.count(), s=wf.sum("i"))
    result = keyed.using(pattern).ordered().collect()
    assert result["c"].type == taken_type(table["c"].type)
    keys = [plain(v) for v in as_held(table)["c"].to_pylist()]
    rows = as_held(result).to_pylist()
    assert {plain(r["c"]): r["n"] for r in rows} == Counter(keys)
    sums: Counter[Any] = Counter()
    for i, key in enumerate(keys):
        sums[key] += i
    assert {plain(r["c"]): r["s"] for r in rows} == sums


@given(tables(), st.sampled_from(PATTERNS))
def test_order_by_any_type_equals_the_naive_order(table: pa.Table, pattern: Pattern) -> None:
    query = wr.stream(table)
    if is_refused(query.order_by, "c"):
        return
    everything = query.order_by("c").window(wr.CountWindow(100)).agg(order=wf.collect("i"))
    result = everything.using(pattern).collect()
    values = as_held(table)["c"].to_pylist()

    def place(i: int) -> Any:
        value = values[i]
        is_nan = value != value
        return value is not None, is_nan, 0 if value is None or is_nan else value

    assert result["order"].to_pylist() == [sorted(range(len(values)), key=place)]


@pytest.mark.parametrize("name", FUNCTIONS)
@given(table=tables(), pattern=st.sampled_from(PATTERNS))
def test_values_of_any_type_equal_the_oracles(name: str, table: pa.Table, pattern: Pattern) -> None:
    query = wr.stream(table).window(wr.CountWindow(4, 2))
    function = FUNCTIONS[name]
    if is_refused(query.agg, a=function):
        return
    result = query.agg(a=function).using(pattern).ordered().collect()
    rows = as_held(table).to_pylist()
    windows = oracle.windows(wr.CountWindow(4, 2), rows)
    wanted = {w.id: plain(oracle.aggregate(function, w.rows)) for w in windows}
    found = as_held(result).to_pylist()
    assert {row["window_id"]: plain(row["a"]) for row in found} == wanted
