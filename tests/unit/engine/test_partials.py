"""Partials of pieces, put together in any cut, give the results of the whole windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.trail import Trail
from windrow import functions as wf
from windrow.core import Aggregate
from windrow.engine.evaluate.partials import PartialColumns, order_positions
from windrow.engine.windows.fired import FiredWindows, TupleColumns

SCHEMA = pa.schema([("x", pa.int64()), ("y", pa.float64()), ("s", pa.string()), ("b", pa.bool_())])
Function = Aggregate[Any, Any, Any]


FUNCTIONS: Mapping[str, Function] = {
    "n": wf.count(),
    "known": wf.count("s"),
    "total": wf.sum("x"),
    "mean": wf.mean("y"),
    "least": wf.min("x"),
    "least_s": wf.min("s"),
    "most_b": wf.max("b"),
    "first": wf.first("x"),
    "last": wf.last("s", ignore_nulls=True),
    "collected": wf.collect("x"),
    "median": wf.median("x"),
    "joined": Trail("s"),
}


def partials_of(**functions: Function) -> PartialColumns:
    query = wr.stream(SCHEMA.empty_table()).window(wr.CountWindow(1)).agg(**functions)
    return PartialColumns(query.window_query())


def ranges(edges: list[int]) -> FiredWindows:
    lo, hi = np.array(edges[:-1], np.int64), np.array(edges[1:], np.int64)
    return FiredWindows(lo * 0, lo, lo, hi, lo, hi)


def combined(partials: PartialColumns, rows: list[dict[str, Any]], cuts: list[int]) -> list[Any]:
    """The results over all rows, from partials of the runs between the cuts."""
    columns = TupleColumns.of(pa.Table.from_pylist(rows, SCHEMA))
    positions = order_positions(columns, [], len(rows))
    functions = partials.functions.values()
    lifted = [partials.lift(f, positions, columns, ranges(cuts)) for f in functions]
    pieces = [array for arrays in lifted for array in arrays]
    assert [p.type for p in pieces] == partials.schema.types
    table = pa.table(pieces, names=partials.schema.names)
    whole = TupleColumns.of(table), ranges([0, len(cuts) - 1])
    return [partials.combine(name, *whole).to_pylist()[0] for name in partials.functions]


values = st.fixed_dictionaries(
    {
        "x": st.none() | st.integers(-5, 5),
        "y": st.none() | st.integers(-5, 5).map(float),
        "s": st.none() | st.sampled_from("pqr"),
        "b": st.none() | st.booleans(),
    }
)


@given(st.lists(values, min_size=1, max_size=12), st.data())
def test_any_cut_gives_the_result_of_the_whole(
    rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    inner = data.draw(st.sets(st.integers(1, len(rows) - 1))) if len(rows) > 1 else set()
    found = combined(partials_of(**FUNCTIONS), rows, [0, *sorted(inner), len(rows)])
    for (name, function), result in zip(FUNCTIONS.items(), found, strict=True):
        values = [tuple(row[c] for c in function.columns) for row in rows]
        plain = [v[0] if len(v) == 1 else v for v in values]
        expected = function.over(plain)
        if isinstance(expected, float):
            expected = pytest.approx(expected, rel=1e-9)
        assert result == expected, name


def test_numbers_have_columns_of_their_own_and_all_else_is_pickled() -> None:
    functions = {"total": wf.sum("x"), "mean": wf.mean("y"), "least": wf.min("s")}
    schema = partials_of(**functions, known=wf.count("s")).schema
    assert schema == pa.schema(
        [
            ("total#0", pa.int64()),
            ("total#1", pa.int64()),
            ("mean#0", pa.int64()),
            ("mean#1", pa.float64()),
            ("mean#1.lost", pa.float64()),
            ("least#", pa.binary()),
            ("known#0", pa.int64()),
        ]
    )


def test_a_piece_of_nulls_only_counts_for_nothing() -> None:
    rows: list[dict[str, Any]] = [{"x": None, "y": None, "s": None, "b": None}] * 2
    rows += [{"x": 3, "y": 1.0, "s": "p", "b": True}]
    found = combined(partials_of(least=wf.min("x"), s=wf.min("s")), rows, [0, 1, 2, 3])
    assert found == [3, "p"]
    assert combined(partials_of(least=wf.min("x"), s=wf.min("s")), rows, [0, 1, 2]) == [None, None]


def test_positions_are_comparable_between_workers() -> None:
    columns = TupleColumns.of(pa.table({"t": [1, 1, 2], "q": pa.array([float("nan"), None, 0.0])}))
    first, second, third = order_positions(columns, ["t", "q"], 3)
    assert second < first < third
    assert order_positions(columns, [], 3) == [0, 1, 2]
