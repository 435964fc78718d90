"""A query over a table gives the oracle's results, in process."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.streams import models_in_milliseconds, rows, window_models
from windrow import functions as wf
from windrow.core import WindowModel, oracle
from windrow.core.durations import TimeUnit

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


def assert_same(
    result: pa.Table, key: tuple[str, ...], windows: Iterable[oracle.OracleWindow]
) -> None:
    expected = {
        (w.key, w.id, w.start, w.end): tuple(
            oracle.aggregate(f, w.rows) for f in FUNCTIONS.values()
        )
        for w in windows
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
    assert_same(result, key, oracle.windows(model, stream, key=key, **how))


UNITS: dict[TimeUnit, tuple[int, int]] = {"s": (1_000_000, 1), "ms": (1_000, 1), "ns": (1, 1_000)}
"""How many microseconds so many of the unit have."""


@given(st.data(), rows(), st.sampled_from(list(UNITS)), st.integers(0, 3))
def test_integer_times_of_any_unit_are_as_good_as_microseconds(
    data: st.DataObject, stream: list[dict[str, Any]], unit: TimeUnit, delay: int
) -> None:
    models = window_models(1_000_000 if unit == "s" else 1_000)
    model = data.draw(st.one_of(*models.values()))
    open_windows: Literal["emit", "drop"] = data.draw(st.sampled_from(["emit", "drop"]))
    if unit == "ns":
        # Within a microsecond nanoseconds do not count, but the tie-breaker does.
        stream = [{**r, "t": r["t"] * 500_000 + (3 - r["seq"]) * 333} for r in stream]
    late = delay * UNITS[unit][0] * UNITS[unit][1]
    query = wr.stream(pa.Table.from_pylist(stream, SCHEMA)).key_by("k").order_by("seq")
    query = query.event_time("t", late, unit=unit).window(model, open_windows=open_windows)
    result = query.agg(**FUNCTIONS).collect()

    micros, units = UNITS[unit]
    converted = [{**row, "t": row["t"] * micros // units} for row in stream]
    how: Any = {"time": "t", "order_by": ["seq"], "delay": late, "open_windows": open_windows}
    assert_same(result, ("k",), oracle.windows(model, converted, key=("k",), **how))
