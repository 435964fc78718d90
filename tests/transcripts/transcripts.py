"""Transcripts: input, watermark, expect. The same files hold in process, in batch and streaming.

A transcript is written from the definitions, never from what the code gives:

* ``window``: the model and its arguments;
* ``columns`` of the input, ``[k, t, x]`` unless told: a key, the event time in milliseconds (the
  unit of Spark's watermark), a value, and what the model or ``order_by`` needs beside;
* ``steps``: a batch of ``input`` that comes in at the watermark of the step before, then the
  ``watermark`` moves on (absent: it stays), and the rows ``expect``-ed to fire by the end of the
  step in any order, as ``[k, window_id, window_start, window_end, [x, ...]]``, the tuples of the
  window in their order. Bounds are in milliseconds where they are times. ``finish`` is the end of
  a bounded stream, where the windows still open give what they hold;
* ``dropped``: how many tuples belonged nowhere, or came too late, by the end;
* ``bounded: same`` where a bounded table of all tuples gives the rows of all steps: there no late
  tuple makes a difference.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

import windrow as wr
from windrow import functions as wf
from windrow.core import Axis, WindowModel
from windrow.patterns import Pattern

MILLISECOND = 1000
TRANSCRIPTS = {
    path.stem: yaml.safe_load(path.read_text())
    for path in sorted(Path(__file__).parent.glob("*.yaml"))
}
PATTERNS: list[Pattern] = [
    wr.WinSeq(),
    wr.KeyFarm(3),
    wr.WinFarm(2),
    wr.WinFarm(3, batch=2, level=1),
    wr.WinFarm(2, workers="agnostic"),
    wr.PaneFarm(2, 2),
    wr.PaneFarm(1, 3, level=2),
    wr.WinMapReduce(2, 2),
    wr.KeyFarm(2, wr.PaneFarm(2, 1, level=1)),
    wr.KeyFarm(2, wr.WinMapReduce(2, 2), level=2),
    wr.WinFarm(2, wr.PaneFarm(2, 2)),
    wr.WinFarm(2, wr.WinMapReduce(2, 2, level=2), batch=2),
    wr.WinFarm(2, wr.WinMapReduce(3, 1), "agnostic"),
]


def model_of(transcript: dict[str, Any]) -> WindowModel:
    ((name, arguments),) = transcript["window"].items()
    model: WindowModel = getattr(wr, name)(**arguments)
    return model


def columns_of(transcript: dict[str, Any]) -> list[str]:
    columns: list[str] = transcript.get("columns", ["k", "t", "x"])
    return columns


def schema_of(transcript: dict[str, Any]) -> pa.Schema:
    fields = [(n, pa.string() if n == "k" else pa.int64()) for n in columns_of(transcript)]
    return pa.schema(fields)


def tuples_of(transcript: dict[str, Any], rows: list[list[Any]]) -> list[dict[str, Any]]:
    tuples = [dict(zip(columns_of(transcript), row, strict=True)) for row in rows]
    for row in tuples:
        row["t"] = None if row["t"] is None else row["t"] * MILLISECOND
    return tuples


def table_of(transcript: dict[str, Any], rows: list[list[Any]]) -> pa.Table:
    return pa.Table.from_pylist(tuples_of(transcript, rows), schema_of(transcript))


def input_of(transcript: dict[str, Any]) -> list[list[Any]]:
    """All tuples, in order of arrival."""
    return [row for step in transcript["steps"] for row in step.get("input", [])]


def base_query(transcript: dict[str, Any], data: Any, delay: str = "0 ms") -> wr.Query:
    query = wr.stream(data).key_by("k").event_time("t", delay)
    if "order_by" in transcript:
        query = query.order_by(*transcript["order_by"])
    return query.window(model_of(transcript))


def seen_by(window: wr.Window) -> dict[str, Any]:
    return {"xs": window["x"].tolist()}


def collected(query: wr.Query) -> wr.Query:
    return query.agg(xs=wf.collect("x"))


def sums_of(query: wr.Query) -> wr.Query:
    return query.agg(n=wf.count(), total=wf.sum("x"), most=wf.max("x"))


def function_of(query: wr.Query) -> wr.Query:
    return query.apply(seen_by, "xs array<bigint>")


COMPUTATIONS = {"collect": collected, "sums": sums_of, "apply": function_of}


def results_of(computation: str, xs: list[int]) -> tuple[Any, ...]:
    return (len(xs), sum(xs), max(xs)) if computation == "sums" else (tuple(xs),)


def expected_rows(
    transcript: dict[str, Any], step: dict[str, Any], computation: str
) -> Counter[Any]:
    unit = MILLISECOND if model_of(transcript).axis is Axis.TIME else 1
    return Counter(
        (k, id, start * unit, end * unit, *results_of(computation, xs))
        for k, id, start, end, xs in step["expect"]
    )


def expected_in_all(transcript: dict[str, Any], computation: str) -> Counter[Any]:
    """The rows of all steps."""
    rows: Counter[Any] = Counter()
    for step in transcript["steps"]:
        rows += expected_rows(transcript, step, computation)
    return rows


def got_rows(tables: list[pa.Table]) -> Counter[tuple[Any, ...]]:
    rows: Counter[tuple[Any, ...]] = Counter()
    for table in tables:
        columns = [
            c.cast(pa.int64()).to_pylist() if pa.types.is_timestamp(c.type) else c.to_pylist()
            for c in table.columns
        ]
        for row in zip(*columns, strict=True):
            rows[tuple(tuple(v) if isinstance(v, list) else v for v in row)] += 1
    return rows


def is_legal(query: wr.Query, pattern: Pattern) -> bool:
    try:
        query.using(pattern)
    except wr.WindrowError:
        return False
    return True
