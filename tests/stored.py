"""Workers whose state is stored, for the tests of the state log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.engine.intake import window_tuples
from windrow.engine.stages.nodes import Emitter, Workers
from windrow.engine.stages.traffic import Traffic, emit_traffic
from windrow.engine.state.store import MemoryStore
from windrow.engine.workers.worker import Worker
from windrow.patterns.windows import window_stages

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
QUERY = {"window": {"model": "TimeWindow", "length": 10}}
"""The description of a query; nothing here depends on which."""


class CountingStore(MemoryStore):
    """Counts the bytes written to it."""

    def __init__(self, blobs: Mapping[str, bytes] | None = None) -> None:
        super().__init__(blobs)
        self.written = 0
        self.read: list[str] = []

    def put(self, name: str, blob: bytes) -> None:
        self.written += len(blob)
        super().put(name, blob)

    def set_header(self, header: bytes) -> None:
        self.written += len(header)
        super().set_header(header)

    def get(self, name: str) -> bytes:
        self.read.append(name)
        return super().get(name)


def query_of(model: WindowModel, kind: str, is_timed: bool = True) -> wr.Query:
    query = wr.stream(SCHEMA.empty_table()).key_by("k").order_by("seq")
    if is_timed:
        query = query.event_time("t")
    query = query.window(model)
    if kind == "sums":
        return query.agg(n=wf.count(), total=wf.sum("x"), most=wf.max("y"))
    if kind == "collect":
        return query.agg(xs=wf.collect("x"), last=wf.last("y"))
    return query.apply(_seen, "xs array<bigint>")


def _seen(window: wr.Window) -> dict[str, Any]:
    return {"xs": window["x"].tolist()}


def worker_of(query: wr.Query) -> Worker:
    (work,) = [
        n for n in window_stages(query.window_query(), wr.WinSeq()).nodes if isinstance(n, Workers)
    ]
    return work.make(0)


def tuples_of(query: wr.Query, keys: list[Any], times: Any) -> pa.Table:
    """As the query's worker is sent them."""
    n = len(keys)
    numbers = np.arange(n)
    columns = {"k": pa.array(keys), "t": pa.array(times), "seq": numbers, "x": numbers}
    batch = pa.table({**columns, "y": numbers / 2, "d": pa.array(times)})
    traffic: Traffic = {0: [window_tuples(query.window_query(), batch)[0]]}
    for node in window_stages(query.window_query(), wr.WinSeq()).nodes:
        if isinstance(node, Emitter):
            traffic = emit_traffic(node, traffic)
    ((message,),) = traffic.values()
    return message
