"""Partials of pieces, put together in any cut, give the results of the whole windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import windrow as wr
from tests.close import assert_close
from tests.trail import Trail
from windrow import functions as wf
from windrow.core import Aggregate
from windrow.engine.evaluate.partials import PartialColumns, order_positions
from windrow.engine.windows.fired import FiredWindows, TupleColumns

SCHEMA = pa.schema(
    [
        ("x", pa.int64()),
        ("y", pa.float64()),
        ("s", pa.string()),
        ("b", pa.bool_()),
        ("m", pa.decimal128(20, 2)),
    ]
)
Function = Aggregate[Any, Any, Any]


FUNCTIONS: Mapping[str, Function] = {
    "n": wf.count(),
    "known": wf.count("s"),
    "total": wf.sum("x"),
    "total_m": wf.sum("m"),
    "mean": wf.mean("y"),
    "least": wf.min("x"),
    "least_s": wf.min("s"),
    "most_b": wf.max("b"),
    "most_m": wf.max("m"),
    "var": wf.var("y"),
    "stddev": wf.stddev("x"),
    "line": wf.linear_regression("y", "x"),
    "first": wf.first("x"),
    "first_known": wf.first("x", ignore_nulls=True),
    "last": wf.last("s"),
    "last_known": wf.last("s", ignore_nulls=True),
    "arg_min": wf.arg_min("s", "x"),
    "arg_max": wf.arg_max("m", "y"),
    "top": wf.top_k("x", 2),
    "top_by": wf.top_k("s", 2, by="m"),
    "ohlc": wf.ohlc("x"),
    "ohlc_s": wf.ohlc("s"),
    "skyline": wf.skyline("x", "y"),
    "collected": wf.collect("x"),
    "median": wf.median("x"),
    "quantile": wf.quantile("m", 0.9),
    "mode": wf.mode("s"),
    "distinct": wf.count_distinct("y"),
    "distinct_pairs": wf.count_distinct("s", "m"),
    "fit": wf.polynomial_fit("y", "x", 1),
    "joined": Trail("s"),
}
"""Every function of the library, and one of a user."""


def partials_of(**functions: Function) -> PartialColumns:
    query = wr.stream(SCHEMA.empty_table()).window(wr.CountWindow(1)).agg(**functions)
    return PartialColumns(query.window_query())


def ranges(edges: list[int]) -> FiredWindows:
    lo, hi = np.array(edges[:-1], np.int64), np.array(edges[1:], np.int64)
    return FiredWindows(lo * 0, lo, lo, hi, lo, hi)


def combined(partials: PartialColumns, rows: list[dict[str, Any]], cuts: list[int]) -> list[Any]:
    """The results over all rows, from partials of the runs between the cuts."""
    columns = TupleColumns.of(pa.Table.from_pylist(rows, SCHEMA))
    positions = order_positions(columns, [], np.arange(len(rows)))
    functions = partials.of_pieces.values()
    lifted = [partials.lift(f, positions, columns, ranges(cuts)) for f in functions]
    arrays = [array for arrays in lifted for array in arrays]
    pieces, of_rows = partials.with_rows(arrays, columns, ranges(cuts))
    assert [p.type for p in pieces] == partials.schema.types
    if of_rows is not None:
        assert sorted(set(of_rows.tolist())) == list(range(len(cuts) - 1))
    table = pa.table(pieces, names=partials.schema.names)
    whole = TupleColumns.of(table), ranges([0, len(table)])
    return [partials.combine(name, *whole).to_pylist()[0] for name in partials.functions]


values = st.fixed_dictionaries(
    {
        "x": st.none() | st.integers(-5, 5),
        "y": st.none() | st.integers(-5, 5).map(float),
        "s": st.none() | st.sampled_from("pqr"),
        "b": st.none() | st.booleans(),
        "m": st.none() | st.decimals(-9, 9, places=2),
    }
)


@given(st.lists(values, min_size=1, max_size=12), st.data())
def test_any_cut_gives_the_result_of_the_whole(
    rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    inner = data.draw(st.sets(st.integers(1, len(rows) - 1))) if len(rows) > 1 else set()
    names = data.draw(st.lists(st.sampled_from([*FUNCTIONS]), min_size=1, max_size=3, unique=True))
    functions = {name: FUNCTIONS[name] for name in names}
    found = combined(partials_of(**functions), rows, [0, *sorted(inner), len(rows)])
    for (name, function), result in zip(functions.items(), found, strict=True):
        values = [tuple(row[c] for c in function.columns) for row in rows]
        plain = [v[0] if len(v) == 1 else v for v in values]
        event(name)
        assert_close(result, function.over(plain))


def test_every_function_of_the_library_is_among_them() -> None:
    built = {name for name in wf.__all__ if name.islower()}
    named = {type(f).__name__.lower() for f in FUNCTIONS.values()}
    assert {name.replace("_", "") for name in built} <= named


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "joined"])
def test_partials_of_the_library_are_not_pickled(name: str) -> None:
    assert pa.binary() not in partials_of(r=FUNCTIONS[name]).schema.types


KEPT: list[tuple[Function, list[int]]] = [
    (wf.median("x"), [0, 1, 2, 3, 4]),
    (wf.first("x"), [0]),
    (wf.first("x", ignore_nulls=True), [0, 1]),
    (wf.last("x", ignore_nulls=True), [0, 3]),
    (wf.arg_max("s", "x"), [0, 1]),
    (wf.min("s"), [0, 4]),
    (wf.top_k("x", 2), [0, 1, 3]),
    (wf.ohlc("x"), [0, 1, 2, 3]),
    (wf.count_distinct("s"), [0, 1, 4]),
    (wf.skyline("x", maximise=True), [0, 1, 3]),
]


@pytest.mark.parametrize(("function", "expected"), KEPT, ids=repr)
def test_a_piece_keeps_its_first_row_and_those_that_matter(
    function: Function, expected: list[int]
) -> None:
    """One piece: x is null, 9, 2, 9, null; s is q, r, q, r, p."""
    table = pa.table({"x": pa.array([None, 9, 2, 9, None], pa.int64()), "s": [*"qrqrp"]})
    rows = partials_of(r=function).rows
    assert rows is not None
    positions, pieces = rows.choose(TupleColumns.of(table), ranges([0, 5]))
    assert positions.tolist() == expected
    assert pieces.tolist() == [0] * len(expected)


def test_functions_share_rows_and_have_numbers_in_the_first_of_a_piece() -> None:
    functions = {"total": wf.sum("x"), "mean": wf.mean("y"), "least": wf.min("s")}
    schema = partials_of(**functions, last=wf.last("s"), known=wf.count("s"), own=Trail("s")).schema
    assert schema == pa.schema(
        [
            ("total#0", pa.int64()),
            ("total#1", pa.int64()),
            ("mean#0", pa.int64()),
            ("mean#1", pa.float64()),
            ("mean#1.lost", pa.float64()),
            ("known#0", pa.int64()),
            ("own#", pa.binary()),
            ("windrow.opens", pa.bool_()),
            ("windrow.row.s", pa.string()),
        ]
    )


def test_a_piece_of_nulls_only_counts_for_nothing() -> None:
    rows: list[dict[str, Any]] = [{"x": None, "y": None, "s": None, "b": None, "m": None}] * 2
    rows += [{"x": 3, "y": 1.0, "s": "p", "b": True, "m": None}]
    found = combined(partials_of(least=wf.min("x"), s=wf.min("s")), rows, [0, 1, 2, 3])
    assert found == [3, "p"]
    assert combined(partials_of(least=wf.min("x"), s=wf.min("s")), rows, [0, 1, 2]) == [None, None]


def test_positions_are_comparable_between_workers() -> None:
    columns = TupleColumns.of(pa.table({"t": [1, 1, 2], "q": pa.array([float("nan"), None, 0.0])}))
    first, second, third = order_positions(columns, ["t", "q"], np.arange(3))
    assert second < first < third
    assert order_positions(columns, [], np.arange(3)) == [0, 1, 2]
