"""State as a log: a worker goes on from any copy of it, and writes no more than has changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import windrow as wr
from tests.patterns import patterns
from tests.streams import models
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.core.watermark import BEGINNING
from windrow.engine.in_process import WindowRunner
from windrow.engine.intake import window_tuples
from windrow.engine.stages.messages import pack, unpack
from windrow.engine.stages.nodes import Collector, Emitter, Stages, Workers
from windrow.engine.stages.traffic import Traffic, collect_traffic, emit_traffic
from windrow.engine.state import chunks as chunk_log
from windrow.engine.state import log as state
from windrow.engine.state.log import MemoryStore, NotAnAncestor, StateLog
from windrow.engine.windows import placing
from windrow.engine.workers import window_worker
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
Step = tuple[list[dict[str, Any]], int]
"""A batch of tuples, and the watermark after it."""
Place = tuple[int, int]
"""The stage of a worker, and its number there."""


@contextmanager
def much_is_little() -> Iterator[None]:
    """Records, chunks and batches held back are put together soon, keys soon forgotten."""
    with (
        patch.multiple(state, _MOST_RECORDS=3, _LEAST_ENTRIES=2),
        patch.multiple(chunk_log, _MOST_CHUNKS=4, _MERGED=3, LEAST_CHUNK=2, _SPARE=1),
        patch.object(placing, "_MANY", 2),
        patch.object(window_worker, "LEAST_FORGOTTEN", 2),
    ):
        yield


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


@dataclass
class Copy:
    """A worker in the memory of some process."""

    worker: Worker
    log: StateLog


@dataclass
class Processes:
    """Runs stages as a stream does: in each batch some process has the worker, or none.

    Processes keep what they have had in memory. An attempt that fails leaves a copy behind that
    is ahead of the store.
    """

    query: Any
    stages: Stages
    data: st.DataObject
    stores: dict[Place, MemoryStore] = field(default_factory=dict)
    copies: dict[tuple[int, Place], Copy] = field(default_factory=dict)
    arrived: int = 0
    dropped: int = 0

    def run(self, batch: pa.Table, watermark: int) -> list[pa.Table]:
        tuples, lost = window_tuples(self.query, batch, self.arrived)
        self.arrived += len(batch)
        self.dropped += lost
        traffic: Traffic = {0: [tuples]} if len(tuples) else {}
        for i, node in enumerate(self.stages.nodes):
            if isinstance(node, Emitter):
                traffic = emit_traffic(node, traffic)
            elif isinstance(node, Collector):
                traffic = collect_traffic(self.query, node, traffic)
            else:
                traffic = {
                    j: self._work(node, (i, j), traffic.get(j, []), watermark)
                    for j in range(node.n)
                }
        return [table for messages in traffic.values() for table in messages if len(table)]

    def _work(self, node: Workers, place: Place, messages: list[Any], watermark: int) -> list[Any]:
        messages = [unpack(pack(message)) for message in messages]
        if not node.make(place[1]).holds_state:
            return _advanced(node.make(place[1]), messages, watermark)
        store = self.stores.setdefault(place, MemoryStore())
        if self.data.draw(st.integers(0, 3)) == 0:
            lost = MemoryStore(store.blobs)
            copy = self._copy(node, place, lost)
            _advanced(copy.worker, messages, watermark)
            copy.log.save(copy.worker, lost)
        copy = self._copy(node, place, store)
        before = copy.worker.dropped
        given = _advanced(copy.worker, messages, watermark)
        self.dropped += copy.worker.dropped - before
        copy.log.save(copy.worker, store)
        return given

    def _copy(self, node: Workers, place: Place, store: MemoryStore) -> Copy:
        """The worker as it is stored, in some process."""
        process = self.data.draw(st.integers(0, 3))
        found = self.copies.get((process, place))
        if found is not None:
            try:
                found.log.load(found.worker, store)
            except NotAnAncestor:
                event("a copy of no use")
                found = None
        if found is None:
            found = Copy(node.make(place[1]), StateLog("the query"))
            found.log.load(found.worker, store)
        self.copies[process, place] = found
        return found


def _advanced(worker: Worker, messages: list[Any], watermark: int) -> list[Any]:
    for message in messages:
        worker.push(message)
    return worker.advance(watermark)


@st.composite
def batches(draw: st.DrawFn, most: int = 12) -> list[Step]:
    """Tuples around a watermark that moves on, some of them late, and the watermark after each."""
    keys: list[list[str | None]] = [["a"], ["a", "b", None], [*"abcdef"]]
    key = st.sampled_from(draw(st.sampled_from(keys)))
    spread = draw(st.sampled_from([6, 20, 60]))
    made, center, watermark, x = [], draw(st.integers(-30, 30)), BEGINNING, 0
    for _ in range(draw(st.integers(1, most))):
        rows = []
        for _ in range(draw(st.integers(0, 6))):
            t = draw(st.integers(center - spread, center + spread // 2))
            seq = draw(st.integers(0, 2))
            rows.append({"k": draw(key), "t": t, "seq": seq, "x": x, "y": x / 2, "d": t // 2})
            x += 1
        center += draw(st.integers(0, spread))
        if draw(st.booleans()):
            watermark = max(watermark, center - draw(st.integers(0, spread)))
        made.append((rows, watermark))
    return made


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


def rows_of(tables: list[pa.Table]) -> Counter[str]:
    return Counter(repr(row) for table in tables for row in table.to_pylist())


def check(data: st.DataObject, query: wr.Query, pattern: Any, steps: list[Step]) -> None:
    """Any copies in any order give what one worker that never stops gives, batch by batch."""
    complete = query.window_query()
    reference = WindowRunner(complete, window_stages(complete, wr.WinSeq()))
    processes = Processes(complete, window_stages(complete, pattern), data)
    for number, (rows, watermark) in enumerate(steps):
        batch = pa.Table.from_pylist(rows, SCHEMA)
        expected = reference.push(batch) + reference.advance(watermark)
        assert rows_of(processes.run(batch, watermark)) == rows_of(expected), number
        assert processes.dropped == reference.dropped, number


@settings(max_examples=600)
@given(st.data(), models, st.sampled_from(["sums", "collect", "apply"]), batches())
def test_any_copy_of_a_worker_goes_on_where_the_last_one_was(
    data: st.DataObject, model: WindowModel, kind: str, steps: list[Step]
) -> None:
    with much_is_little():
        check(data, query_of(model, kind), wr.WinSeq(), steps)


@settings(max_examples=400)
@given(st.data(), models, st.sampled_from(["sums", "collect", "apply"]), batches(8))
def test_so_do_the_workers_of_every_pattern(
    data: st.DataObject, model: WindowModel, kind: str, steps: list[Step]
) -> None:
    query = query_of(model, kind)
    assert query.computation is not None
    pattern = data.draw(patterns(model, query.computation.is_decomposable))
    with much_is_little():
        check(data, query, pattern, steps)


@settings(max_examples=100)
@given(st.data(), st.integers(1, 9), st.integers(1, 9), batches())
def test_so_do_workers_of_tuples_in_order_of_arrival(
    data: st.DataObject, length: int, slide: int, steps: list[Step]
) -> None:
    kind = data.draw(st.sampled_from(["sums", "collect", "apply"]))
    query = query_of(wr.CountWindow(length, slide), kind, is_timed=False)
    pattern = data.draw(patterns(wr.CountWindow(length, slide), kind != "apply"))
    with much_is_little():
        check(data, query, pattern, [(rows, BEGINNING) for rows, _ in steps])


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


def written(
    query: wr.Query, batches: list[tuple[list[Any], Any]], watermarks: list[int]
) -> list[int]:
    """The bytes each batch writes."""
    worker, log, sizes = worker_of(query), StateLog("the query"), []
    store = CountingStore()
    for (keys, times), watermark in zip(batches, watermarks, strict=True):
        worker.push(tuples_of(query, keys, times))
        worker.advance(watermark)
        store.written = 0
        log.save(worker, store)
        sizes.append(store.written)
    return sizes


NEVER_FIRING: list[WindowModel] = [
    wr.CountWindow(10**9),
    wr.TimeWindow(10**12),
    wr.SessionWindow(10**9),
    wr.SlideByTimeWindow(10**9, 10**12),
    wr.DeltaWindow("d", 10**12, 10**11),
]


@pytest.mark.parametrize("model", NEVER_FIRING, ids=str)
@pytest.mark.parametrize("kind", ["sums", "apply"])
def test_a_batch_writes_the_same_however_much_is_retained(model: WindowModel, kind: str) -> None:
    given = [([f"k{i}" for i in range(100)] * 5, range(b * 500, b * 500 + 500)) for b in range(60)]
    sizes = written(query_of(model, kind), given, [b * 500 + 500 for b in range(60)])
    assert max(sizes[20:]) < 1.5 * max(sizes[1:20])


def test_tuples_that_wait_for_the_watermark_are_not_written_again() -> None:
    query = query_of(wr.CountWindow(10), "apply")
    given = [(["a"] * 500, range(b * 500, b * 500 + 500)) for b in range(60)]
    sizes = written(query, given, [BEGINNING] * 60)
    assert max(sizes[20:]) < 1.5 * max(sizes[1:20])


def test_what_is_put_together_now_and_then_is_little_over_many_batches() -> None:
    query = query_of(wr.TimeWindow(10**12), "apply")
    given = [(["a"] * 50, range(b * 50, b * 50 + 50)) for b in range(400)]
    with patch.multiple(chunk_log, _MOST_CHUNKS=32, _MERGED=8):
        sizes = written(query, given, [b * 50 + 50 for b in range(400)])
    assert sum(sizes[300:]) < 4 * sum(sizes[10:30]) / 20 * 100


def test_a_batch_of_few_keys_does_not_write_a_million_known_ones() -> None:
    query = query_of(wr.CountWindow(10**6), "sums")
    many = list(range(1_000_000))
    ints = pa.schema([SCHEMA.field(n).with_type(pa.int64()) for n in ("k", "t", "seq", "x", "d")])
    query = wr.stream(ints.empty_table()).key_by("k").event_time("t")
    query = query.window(wr.CountWindow(10**6)).agg(total=wf.sum("x"))
    given = [(many, many)] + [([5, 10**7 + b, 7], [2 * 10**6 + b] * 3) for b in range(20)]
    sizes = written(query, given, [2 * 10**6 + b for b in range(21)])
    assert sizes[0] > 8_000_000
    assert max(sizes[1:]) < 10_000


def test_a_copy_that_is_behind_reads_only_what_it_lacks() -> None:
    query = query_of(wr.TimeWindow(10**12), "apply")
    store = CountingStore()
    first, log = worker_of(query), StateLog("the query")
    behind, its_log = worker_of(query), StateLog("the query")
    for b in range(10):
        first.push(tuples_of(query, ["a", "b"], [b * 10, b * 10 + 1]))
        first.advance(b * 10 + 5)
        log.save(first, store)
        if b == 7:
            its_log.load(behind, store)
            store.read = []
    its_log.load(behind, store)
    assert sorted(store.read) == ["chunk 8-8", "chunk 9-9", "record 8", "record 9"]


def test_a_copy_that_is_behind_does_not_take_tuples_it_held_back_for_later_ones() -> None:
    query = query_of(wr.CountWindow(2), "apply")
    store = MemoryStore()
    behind, its_log = worker_of(query), StateLog("the query")
    behind.push(tuples_of(query, ["a"], [1]))
    behind.advance(0)
    its_log.save(behind, store)
    for times, watermark in [([], 5), ([6], 5)]:  # each batch in a process of its own
        new, log = worker_of(query), StateLog("the query")
        log.load(new, store)
        new.push(tuples_of(query, ["a"] * len(times), pa.array(times, pa.int64())))
        new.advance(watermark)
        log.save(new, store)
    its_log.load(behind, store)
    (fired,) = behind.advance(7)
    assert fired["window_id"].to_pylist() == [0]


def test_nothing_is_read_by_the_copy_that_wrote_last() -> None:
    query = query_of(wr.TimeWindow(10), "apply")
    store, worker, log = CountingStore(), worker_of(query), StateLog("the query")
    worker.push(tuples_of(query, ["a"], [1]))
    worker.advance(0)
    log.save(worker, store)
    log.load(worker, store)
    assert store.read == []


@pytest.mark.parametrize("has_state", [False, True])
def test_a_copy_from_a_failed_attempt_is_no_ancestor(has_state: bool) -> None:
    query = query_of(wr.TimeWindow(10), "apply")
    store, worker, log = MemoryStore(), worker_of(query), StateLog("the query")
    if has_state:
        worker.advance(0)
        log.save(worker, store)
    lost = MemoryStore(store.blobs)
    worker.push(tuples_of(query, ["a"], [1]))
    worker.advance(1)
    log.save(worker, lost)
    with pytest.raises(NotAnAncestor):
        log.load(worker, store)


def test_a_copy_that_missed_very_many_batches_is_no_ancestor() -> None:
    query = query_of(wr.TimeWindow(10), "apply")
    store, worker, log = MemoryStore(), worker_of(query), StateLog("the query")
    behind, its_log = worker_of(query), StateLog("the query")
    log.save(worker, store)
    its_log.load(behind, store)
    for b in range(state._REMEMBERED):
        worker.advance(b)
        log.save(worker, store)
    with pytest.raises(NotAnAncestor):
        its_log.load(behind, store)


def stored() -> MemoryStore:
    store, worker = MemoryStore(), worker_of(query_of(wr.TimeWindow(10), "apply"))
    StateLog("this query").save(worker, store)
    return store


def test_state_of_a_newer_format_is_refused() -> None:
    with patch.object(state, "FORMAT", state.FORMAT + 1):
        store = stored()
    worker = worker_of(query_of(wr.TimeWindow(10), "apply"))
    with pytest.raises(wr.WindrowError, match="a newer version of Windrow"):
        StateLog("this query").load(worker, store)


def test_state_of_another_query_is_refused() -> None:
    worker = worker_of(query_of(wr.TimeWindow(10), "apply"))
    with pytest.raises(wr.WindrowError, match="another query") as raised:
        StateLog("that query").load(worker, stored())
    assert "this query" in str(raised.value) and "that query" in str(raised.value)
