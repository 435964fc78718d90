"""What a window shows can be returned; what does not fit its field is named."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import windrow as wr
from windrow.patterns import Pattern

DAY = datetime(2024, 1, 1)
AWARE = DAY.replace(tzinfo=UTC)
TABLE = pa.table(
    {
        "k": ["a", "a"],
        "ts": pa.array([DAY, DAY + timedelta(hours=1)], pa.timestamp("us")),
        "zoned": pa.array([DAY, None], pa.timestamp("ns", "UTC")),
        "day": pa.array([DAY.date(), None]),
        "i": [1, None],
        "small": pa.array([1, 2], pa.int8()),
        "x": [1.5, 2.5],
        "flag": [True, None],
        "word": ["x", None],
        "raw": [b"x", None],
        "cost": pa.array([Decimal("1.25"), None], pa.decimal128(10, 2)),
        "took": pa.array([timedelta(seconds=1), None], pa.duration("us")),
        "list": [[1, 2], []],
        "days": [[DAY.date()], None],
        "struct": [{"at": DAY, "n": 1}, None],
        "map": pa.array([[("p", 1)], None], pa.map_(pa.string(), pa.int64())),
    }
)
SHOWN: dict[str, tuple[str, list[Any]]] = {
    "ts": ("timestamp_ntz", [DAY, DAY + timedelta(hours=1)]),
    "zoned": ("timestamp", [AWARE, None]),
    "day": ("date", [DAY.date(), None]),
    "i": ("bigint", [1, None]),
    "small": ("tinyint", [1, 2]),
    "x": ("double", [1.5, 2.5]),
    "flag": ("boolean", [True, None]),
    "word": ("string", ["x", None]),
    "raw": ("binary", [b"x", None]),
    "cost": ("decimal(10,2)", [Decimal("1.25"), None]),
    "took": ("interval day to second", [timedelta(seconds=1), None]),
    "list": ("array<bigint>", [[1, 2], []]),
    "days": ("array<date>", [[DAY.date()], None]),
    "struct": ("struct<at:timestamp_ntz,n:bigint>", [{"at": DAY, "n": 1}, None]),
    "map": ("map<string,bigint>", [[("p", 1)], None]),
}


def windows() -> wr.Query:
    return wr.stream(TABLE).key_by("k").event_time("ts").window(wr.TimeWindow("1 day"))


def returned(value: Any, kind: str) -> Any:
    """The result of a function that returns the value, or what it makes of a window."""
    make = value if callable(value) else lambda w: value
    (result,) = windows().apply(lambda w: {"v": make(w)}, f"v {kind}").collect()["v"].to_pylist()
    return result


@pytest.mark.parametrize("name", SHOWN)
def test_every_value_that_a_window_shows_can_be_returned(name: str) -> None:
    kind, values = SHOWN[name]
    assert returned(lambda w: w[name][0], kind) == values[0]
    assert returned(lambda w: w[name][-1], kind) == values[-1]
    assert returned(lambda w: w[name], f"array<{kind}>") == values
    assert returned(lambda w: list(w[name]), f"array<{kind}>") == values
    nested = returned(lambda w: {"a": {"b": [*w[name]]}}, f"struct<a:struct<b:array<{kind}>>>")
    assert nested == {"a": {"b": values}}
    assert returned(lambda w: {"p": w[name][0]}, f"map<string,{kind}>") == [("p", values[0])]


def test_keys_and_bounds_can_be_returned() -> None:
    for name, (kind, values) in SHOWN.items():
        if name in ("list", "days", "map"):
            continue
        query = windows().key_by(name).apply(lambda w: {"v": w.key}, f"v {kind}")
        assert sorted(query.collect()["v"].to_pylist(), key=str) == sorted(values, key=str)
    assert returned(lambda w: w.start, "timestamp_ntz") == DAY
    assert returned(lambda w: w.start, "timestamp") == AWARE
    assert returned(lambda w: [w.start, w.end], "array<timestamp>")[1] == AWARE + timedelta(days=1)


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps"])
def test_times_of_every_unit_can_be_returned(unit: Any) -> None:
    # 64 bits hold 106 days of picoseconds.
    day = np.datetime64("1970-01-01" if unit == "ps" else "2024-01-01", "us")
    time = day.astype(f"M8[{unit}]")
    start = time.astype("M8[us]").item()
    assert returned(time, "timestamp_ntz") == start
    assert returned(time, "date") == start.date()
    assert returned([time, np.datetime64("NaT", unit)], "array<timestamp_ntz>") == [start, None]
    if unit not in ("Y", "M"):
        assert returned(np.timedelta64(0, unit), "interval day to second") == timedelta(0)


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (np.datetime64(-1, "ns"), "timestamp_ntz", datetime(1969, 12, 31, 23, 59, 59, 999_999)),
        (np.timedelta64(36, "h"), "interval day to second", timedelta(days=1.5)),
        (timedelta(minutes=1), "interval day to second", timedelta(minutes=1)),
        (DAY.date(), "timestamp_ntz", DAY),
        (DAY, "date", DAY.date()),
        (pd.Timestamp(DAY), "timestamp", AWARE),
        (pd.NaT, "timestamp", None),
        (np.int64(3), "decimal(5,2)", Decimal(3)),
        (np.float32(3), "int", 3),
        (Decimal(3), "int", 3),
        (Decimal("2.5"), "double", 2.5),
        (2**60, "double", 2.0**60),
        (np.bool_(True), "boolean", True),
        (np.str_("x"), "string", "x"),
        (np.array(5), "int", 5),
        (np.ones((1, 2)), "array<array<double>>", [[1.0, 1.0]]),
        ([1.0, None, float("nan")], "array<int>", [1, None, None]),
        (pa.array([1, None]), "array<int>", [1, None]),
        (pa.scalar(2), "int", 2),
        (pd.Series([1, 2]), "array<int>", [1, 2]),
        ((1, "x"), "struct<a:int,b:string>", {"a": 1, "b": "x"}),
        ({"a": 1}, "struct<a:int,b:string>", {"a": 1, "b": None}),
    ],
)  # fmt: skip
def test_values_that_mean_the_same_are_converted(value: Any, kind: str, expected: Any) -> None:
    assert returned(value, kind) == expected


UNFIT: list[tuple[Any, str]] = [
    ("many", "int"),
    (1.5, "int"),
    ([1, 1.5], "array<int>"),
    (np.array([1.5]), "array<int>"),
    (Decimal("1.5"), "bigint"),
    (True, "int"),
    (300, "tinyint"),
    (2**70, "bigint"),
    (1, "string"),
    (1, "boolean"),
    (1.5, "decimal(5,2)"),
    (Decimal("1.234"), "decimal(5,2)"),
    (timedelta(1), "bigint"),
    (np.timedelta64(1, "M"), "interval day to second"),
    (np.datetime64("300000-01-01"), "timestamp"),
    ("soon", "timestamp"),
    ("x", "array<string>"),
    (3, "array<int>"),
    ({"a": 1, "c": 2}, "struct<a:int>"),
    ({"a": None}, "struct<a:int not null>"),
    ([1, 2, 3], "struct<a:int>"),
    (3, "map<string,int>"),
    ({"a": "x"}, "map<string,int>"),
    (object(), "double"),
]


@pytest.mark.parametrize(("value", "kind"), UNFIT)
def test_a_value_that_does_not_fit_names_function_window_field_and_value(
    value: Any, kind: str
) -> None:
    def wrong(w: wr.Window) -> dict[str, Any]:
        return {"v": value}

    with pytest.raises(wr.WindrowError) as refused:
        windows().apply(wrong, f"v {kind}").collect()
    said = str(refused.value)
    assert "wrong must return" in said
    assert "'v'" in said
    assert repr(value)[:20] in said
    assert "window 19723 of key 'a' [2024-01-01" in said
    assert "Hint: " in said


class OfAnotherType(wr.Commutative[Any, Any, Any]):
    """An aggregate whose results are not those that it declares."""

    returns = "int"

    def lift(self, value: Any) -> Any:
        return value

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)

    def lower(self, partial: Any) -> Any:
        return "many" if partial == 2 else 1


class NeverNull(OfAnotherType):
    """An aggregate that gives nothing, but declares that it always gives something."""

    empty = 0

    def lower(self, partial: Any) -> Any:
        return None


PATTERNS: list[Pattern] = [
    wr.WinSeq(),
    wr.WinFarm(2, workers="agnostic"),
    wr.PaneFarm(2, 2),
    wr.WinMapReduce(2, 2),
]
STEPS: dict[str, tuple[str, Callable[[wr.Query], wr.Query]]] = {
    "agg": (r"OfAnotherType\('x'\) must return int for", lambda q: q.agg(v=OfAnotherType("x"))),
    "null": (r"NeverNull\('x'\) must return int not null for", lambda q: q.agg(v=NeverNull("x"))),
    "partial": (
        "piece must return int for",
        lambda q: q.decompose(
            partial=piece, combine=together, partial_returns="p int", returns="v int"
        ),
    ),
    "combine": (
        "together must return int for",
        lambda q: q.decompose(
            partial=piece, combine=together, partial_returns="p string", returns="v int"
        ),
    ),
}  # fmt: skip


def piece(w: wr.Window) -> dict[str, Any]:
    return {"p": "many"}


def together(parts: list[Any]) -> dict[str, Any]:
    return {"v": parts[0]["p"]}


@pytest.mark.parametrize("pattern", PATTERNS, ids=str)
@pytest.mark.parametrize("step", STEPS)
def test_every_kind_of_function_is_named_in_every_pattern(step: str, pattern: Pattern) -> None:
    message, compute = STEPS[step]
    data = {"k": ["a", "b", "b"], "t": [1, 1, 2], "x": [2, 2, 2]}
    query = wr.stream(data).key_by("k").event_time("t").window(wr.TimeWindow(4, 2))
    with pytest.raises(
        wr.WindrowError, match=rf"(?s){message} '[vp]'; got .*window -?\d of key '[ab]' \["
    ):
        compute(query).using(pattern).collect()


def test_a_fold_that_ends_with_the_wrong_type_is_named() -> None:
    with pytest.raises(wr.WindrowError, match=r"late must return int for 'value'; got .*key 'a'"):
        windows().fold(late, None, "int").collect()


def late(latest: Any, row: Any) -> Any:
    return row["ts"]


@pytest.mark.parametrize("pattern", PATTERNS, ids=str)
def test_combine_gets_the_declared_types_in_every_pattern(pattern: Pattern) -> None:
    seen: list[type] = []

    def combine(parts: list[Any]) -> Any:
        seen.extend(type(p["at"]) for p in parts)
        return {"v": min(p["at"] for p in parts)}

    query = windows().decompose(
        partial=lambda w: {"at": w["ts"][0]},
        combine=combine,
        partial_returns="at timestamp_ntz",
        returns="v timestamp_ntz",
    )
    assert query.using(pattern).collect()["v"].to_pylist() == [DAY]
    assert set(seen) == {datetime}


@pytest.mark.parametrize("pattern", PATTERNS, ids=str)
def test_a_partial_may_give_several_rows_or_none(pattern: Pattern) -> None:
    data = {"k": ["a", "b"], "t": [1, 1]}
    query = wr.stream(data).key_by("k").event_time("t").window(wr.TimeWindow(4))
    partial: Any = lambda w: [{"n": 1}, {"n": 2}] if w.key == "a" else []  # noqa: E731
    query = query.decompose(
        partial=partial,
        combine=lambda parts: {"total": sum(p["n"] for p in parts)},
        partial_returns="n int",
        returns="total int",
    )
    assert query.using(pattern).collect().select(["k", "total"]).to_pylist() == [
        {"k": "a", "total": 3}
    ]


def test_dates_and_times_go_round_in_every_model() -> None:
    for model in (wr.CountWindow(2), wr.SlideByTupleWindow("1 day", 2), wr.SessionWindow("1 day")):
        query = windows().window(model).apply(lambda w: {"v": w["day"][0]}, "v date")
        assert query.collect()["v"].to_pylist() == [date(2024, 1, 1)]
