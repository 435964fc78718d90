"""Queries over tables: types, nulls, keys, user functions and their errors."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf


def by_two(data: Any) -> wr.Query:
    return wr.stream(data).window(wr.CountWindow(2))


def test_output_columns_are_keys_then_window_then_results() -> None:
    result = by_two({"k": ["a", "b"], "x": [1, 2]}).key_by("k").agg(s=wf.sum("x")).collect()
    assert result.schema.names == ["k", "window_id", "window_start", "window_end", "s"]
    assert [f.type for f in result.schema][1:] == [pa.int64()] * 4


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (pa.array([0, 5], pa.timestamp("us")), pa.timestamp("us")),
        (pa.array([0, 5], pa.timestamp("ns")), pa.timestamp("us")),
        (pa.array([0, 5], pa.timestamp("ms", "UTC")), pa.timestamp("us", "UTC")),
        (pa.array([0, 5], pa.int64()), pa.timestamp("us")),
        (pa.array([0, 5], pa.date32()), pa.timestamp("us")),
    ],
)
def test_time_bounds_are_timestamps(times: pa.Array, expected: pa.DataType) -> None:
    query = wr.stream(pa.table({"t": times})).event_time("t").window(wr.TimeWindow("1 s"))
    result = query.agg(n=wf.count()).collect()
    assert result.schema.field("window_start").type == expected
    assert result["window_start"].cast(pa.int64())[0].as_py() == 0


def test_nanoseconds_before_1970_round_down() -> None:
    times = pa.array([-1], pa.timestamp("ns"))
    query = wr.stream(pa.table({"t": times})).event_time("t").window(wr.TimeWindow("1 s"))
    assert query.agg(n=wf.count()).collect()["window_id"].to_pylist() == [-1]


@pytest.mark.parametrize(
    "keys",
    [
        [1, None, 1],
        ["x", None, "x"],
        [True, False, True],
        [date(2020, 1, 1), None, date(2020, 1, 1)],
        [datetime(2020, 1, 1, tzinfo=UTC), None, datetime(2020, 1, 1, tzinfo=UTC)],
        [b"x", b"", b"x"],
        [{"a": 1, "b": None}, {"a": 1, "b": "z"}, {"a": 1, "b": None}],
        [None, {"a": None}, None],
    ],
)
def test_keys_of_every_type_null_included(keys: list[Any]) -> None:
    query = by_two(pa.table({"k": pa.array(keys), "x": [1, 2, 4]})).key_by("k")
    result = query.agg(s=wf.sum("x")).collect()
    assert result["k"].to_pylist() == keys[:2]
    assert result["s"].to_pylist() == [5, 2]


def test_float_keys_equal_as_in_spark() -> None:
    query = by_two({"k": np.array([0.0, np.nan, -0.0, np.nan])}).key_by("k")
    assert query.agg(n=wf.count()).collect()["n"].to_pylist() == [2, 2]


def test_several_key_columns() -> None:
    query = by_two({"a": [1, 1, 2, 1], "b": ["x", "y", "x", "x"]}).key_by("a", "b")
    result = query.agg(n=wf.count()).ordered().collect()
    assert result.select(["a", "b", "n"]).to_pylist() == [
        {"a": 1, "b": "x", "n": 2},
        {"a": 1, "b": "y", "n": 1},
        {"a": 2, "b": "x", "n": 1},
    ]


def test_ordered_sorts_nulls_first_and_nan_last() -> None:
    table = pa.table({"k": pa.array([np.nan, None, 2.0, -1.0])})
    result = by_two(table).key_by("k").agg(n=wf.count()).ordered().collect()
    assert str(result["k"].to_pylist()) == "[None, -1.0, 2.0, nan]"


def test_rows_without_time_are_dropped_and_counted() -> None:
    table = pa.table({"t": pa.array([1, None, 2], pa.int64())})
    result = wr.stream(table).event_time("t").window(wr.CountWindow(5)).agg(n=wf.count()).collect()
    assert result["n"].to_pylist() == [2]
    assert result.schema.metadata[b"windrow.dropped"] == b"1"


def test_rows_without_delta_attribute_are_dropped_and_counted() -> None:
    table = pa.table({"d": pa.array([0.0, None, 2.0, np.nan, 4.0])})
    query = wr.stream(table).window(wr.DeltaWindow("d", 9, 1.5)).agg(n=wf.count())
    result = query.collect()
    assert result["n"].to_pylist() == [1, 2]
    assert result.schema.metadata[b"windrow.dropped"] == b"2"


def test_decreasing_delta_names_the_key() -> None:
    query = wr.stream({"k": ["a", "a"], "d": [2, 1]}).key_by("k")
    with pytest.raises(wr.WindrowError, match=r"never decreases.*key 'a'; got 1 after 2"):
        query.window(wr.DeltaWindow("d", 1, 1)).agg(n=wf.count()).collect()


def test_empty_table_gives_an_empty_table_of_the_same_schema() -> None:
    table = pa.table({"k": pa.array([], pa.string()), "x": pa.array([], pa.int64())})
    result = by_two(table).key_by("k").agg(s=wf.sum("x")).collect()
    assert len(result) == 0
    assert result.schema.names == ["k", "window_id", "window_start", "window_end", "s"]


def test_apply_sees_read_only_views_in_order() -> None:
    seen = []

    def look(w: wr.Window) -> dict[str, Any]:
        seen.append((w.id, w.key, w.start, w.end, w["x"].tolist(), w["x"].flags.writeable))
        return {"n": len(w)}

    query = wr.stream({"t": np.array([3, 1, 2], "datetime64[us]"), "x": [30, 10, 20]})
    query.event_time("t").window(wr.TimeWindow("10 us")).apply(look, "n int").collect()
    start, end = np.datetime64(0, "us"), np.datetime64(10, "us")
    assert seen == [(0, None, start, end, [10, 20, 30], False)]


def test_apply_may_give_several_rows_or_none() -> None:
    query = by_two({"x": [1, 2, 3]})
    rows = query.apply(lambda w: [{"x": v} for v in w["x"]] if len(w) == 2 else [], "x bigint")
    assert rows.collect().select(["window_id", "x"]).to_pylist() == [
        {"window_id": 0, "x": 1},
        {"window_id": 0, "x": 2},
    ]


def test_single_field_may_be_returned_bare() -> None:
    result = by_two({"x": [1, 2, 3]}).apply(lambda w: w["x"].mean(), "m double").collect()
    assert result["m"].to_pylist() == [1.5, 3.0]


@pytest.mark.parametrize("init", [[], list])
def test_fold_starts_each_window_afresh(init: Any) -> None:
    def append(acc: list[int], row: Any) -> list[int]:
        acc.append(row["x"])
        return acc

    folded = by_two({"x": [1, 2, 3]}).fold(append, init, "xs array<bigint>")
    with pytest.raises(wr.WindrowError, match="must return a dict"):
        folded.collect()
    wrapped = by_two({"x": [1, 2, 3]}).fold(
        lambda acc, row: {"xs": [*acc["xs"], row["x"]]}, {"xs": []}, "xs array<bigint>"
    )
    assert wrapped.collect()["xs"].to_pylist() == [[1, 2], [3]]


def test_fold_sees_nulls_as_none() -> None:
    table = pa.table({"x": pa.array([None, 2])})
    query = by_two(table).fold(lambda acc, row: acc + (row["x"] is None), 0, "nulls int")
    assert query.collect()["nulls"].to_pylist() == [1]


def test_decompose() -> None:
    query = by_two({"x": [1, 2, 3]}).decompose(
        partial=lambda w: {"s": int(w["x"].sum())},
        combine=lambda parts: {"total": sum(p["s"] for p in parts)},
        partial_returns="s bigint",
        returns="total bigint",
    )
    assert query.collect()["total"].to_pylist() == [3, 3]


def test_exception_names_function_key_window_and_bounds() -> None:
    def broken(w: wr.Window) -> dict[str, Any]:
        raise ZeroDivisionError("boom")

    query = by_two({"k": ["a"], "x": [1]}).key_by("k").apply(broken, "n int")
    message = r"broken failed on window 0 of key 'a' \[0, 2\).*ZeroDivisionError: boom"
    with pytest.raises(wr.WindrowError, match=message):
        query.collect()


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ({}, "'n' is missing"),
        ({"n": 1, "m": 2}, "does not declare: 'm'"),
        ({"n": "many"}, "must return int for 'n'"),
        ({"n": 1.5}, "must return int for 'n'"),
        (None, "must return a dict"),
        ([1], "must return a dict"),
    ],
)
def test_wrong_returns_names_the_field(returned: Any, message: str) -> None:
    with pytest.raises(wr.WindrowError, match=message):
        by_two({"x": [1]}).apply(lambda w: returned, "n int").collect()


def test_numpy_scalars_and_arrays_are_results() -> None:
    def fn(w: wr.Window) -> dict[str, Any]:
        return {"a": np.float32(0.5), "b": np.int64(3), "c": w["x"] * 2.0}

    result = by_two({"x": [1, 2]}).apply(fn, "a double, b double, c array<double>").collect()
    assert result.select(["a", "b", "c"]).to_pylist() == [{"a": 0.5, "b": 3.0, "c": [2.0, 4.0]}]


def test_masked_arrays_hold_nulls_and_nan_is_a_value() -> None:
    data = np.ma.MaskedArray([1.0, 2.0, np.nan], mask=[False, True, False])
    result = wr.stream({"x": data}).window(wr.CountWindow(3)).agg(n=wf.count("x")).collect()
    assert result["n"].to_pylist() == [2]
