"""Which keys of a sample are named as frequent."""

from __future__ import annotations

import pyarrow as pa

import windrow as wr
from windrow import functions as wf
from windrow.engine.datasets.frequent_keys import frequent_keys


def test_keys_of_several_columns_and_without_keys() -> None:
    table = pa.table(
        {"k": [0] * 50 + [*range(1, 51)], "z": pa.nulls(100, pa.string()), "t": range(100)}
    )
    query = wr.stream(table).event_time("t").window(wr.TimeWindow("1 s")).agg(n=wf.count())
    by_two = query.key_by("k", "z").window_query()
    found = frequent_keys(by_two, table.select(["k", "z"]))
    assert [key for key, _ in found] == [(0, None)]
    assert frequent_keys(query.window_query(), table.select([])) == ()


def test_keys_that_cannot_be_named_are_left_out() -> None:
    key = pa.array([{"x": float("nan")}] * 100, pa.struct([("x", pa.float64())]))
    table = pa.table({"k": pa.concat_arrays([key, pa.array([{"x": 1.0}], key.type)])})
    query = wr.stream(table).key_by("k").window(wr.CountWindow(2)).agg(n=wf.count())
    assert frequent_keys(query.window_query(), table) == ()
