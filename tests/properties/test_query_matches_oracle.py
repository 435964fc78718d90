"""A query over a table gives the oracle's results, in process."""

from __future__ import annotations

from typing import Any, Literal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.streams import models_in_milliseconds, rows
from windrow import functions as wf
from windrow.core import WindowModel, oracle

SCHEMA = pa.schema(
    [
        ("k", pa.string()),
        ("t", pa.int64()),
        ("seq", pa.int64()),
        ("x", pa.int64()),
        ("y", pa.float64()),
        ("d", pa.int64()),
    ]
)
FUNCTIONS = {"n": wf.count(), "known": wf.count("x"), "total": wf.sum("x"), "last": wf.last("x")}


def _as_int(bound: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_timestamp(bound.type):
        bound = bound.cast(pa.int64())
    values: list[Any] = bound.to_pylist()
    return values


@given(
    models_in_milliseconds,
    rows(scale=1000),
    st.sampled_from(["emit", "drop"]),
    st.integers(0, 20),
    st.booleans(),
)
def test_aggregates_equal_the_oracles(
    model: WindowModel,
    stream: list[dict[str, Any]],
    partial: Literal["emit", "drop"],
    delay: int,
    is_keyed: bool,
) -> None:
    key = ("k",) if is_keyed else ()
    query = wr.stream(pa.Table.from_pylist(stream, SCHEMA)).event_time("t", delay * 1000)
    query = query.key_by("k") if is_keyed else query
    result = query.order_by("seq").window(model, open_windows=partial).agg(**FUNCTIONS).collect()

    how: Any = {"time": "t", "order_by": ["seq"], "delay": delay * 1000, "open_windows": partial}
    expected = {
        (w.key, w.id, w.start, w.end): tuple(
            oracle.aggregate(f, w.rows) for f in FUNCTIONS.values()
        )
        for w in oracle.windows(model, stream, key=key, **how)
    }
    columns = [result[name].to_pylist() for name in (*key, "window_id")]
    columns += [_as_int(result[name]) for name in ("window_start", "window_end")]
    columns += [result[name].to_pylist() for name in FUNCTIONS]
    width = len(key)
    got = {
        (row[:width], *row[width : width + 3]): row[width + 3 :]
        for row in zip(*columns, strict=True)
    }
    assert got == expected
    assert len(result) == len(expected)
