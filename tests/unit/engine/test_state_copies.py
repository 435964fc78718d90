"""Copies of a worker: any of them goes on where the last one was, reading what it lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import windrow as wr
from tests.effort import examples
from tests.patterns import patterns
from tests.stored import QUERY, SCHEMA, CountingStore, query_of, tuples_of, worker_of
from tests.streams import models
from windrow.core import WindowModel
from windrow.core.watermark import BEGINNING
from windrow.engine.in_process import WindowRunner
from windrow.engine.intake import window_tuples
from windrow.engine.stages.messages import pack, unpack
from windrow.engine.stages.nodes import Collector, Emitter, Stages, Workers
from windrow.engine.stages.traffic import Traffic, collect_traffic, emit_traffic
from windrow.engine.state import chunks as chunk_log
from windrow.engine.state import log as state_log
from windrow.engine.state import records
from windrow.engine.state.log import NotAnAncestor, StateLog
from windrow.engine.state.store import MemoryStore
from windrow.engine.state.stored_worker import StoredWorker
from windrow.engine.windows import placing
from windrow.engine.workers import window_worker
from windrow.engine.workers.worker import Worker
from windrow.patterns.windows import window_stages

Step = tuple[list[dict[str, Any]], int]
"""A batch of tuples, and the watermark after it."""
Place = tuple[int, int]
"""The stage of a worker, and its number there."""


@contextmanager
def much_is_little() -> Iterator[None]:
    """Records, chunks and batches held back are put together soon, keys soon forgotten."""
    with (
        patch.multiple(records, _MOST_RECORDS=3, _LEAST_ENTRIES=2),
        patch.multiple(chunk_log, _MOST_CHUNKS=4, _MERGED=3, LEAST_CHUNK=2, _SPARE=1),
        patch.object(placing, "_MANY", 2),
        patch.object(window_worker, "LEAST_FORGOTTEN", 2),
    ):
        yield


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
    copies: dict[tuple[int, Place], StoredWorker] = field(default_factory=dict)
    arrived: int = 0
    dropped: int = 0
    fired: dict[int, int] = field(default_factory=dict)
    """How many windows the workers of each node have computed."""

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
        if not node.holds_state:
            worker = node.make(place[1])
            given = _advanced(worker, messages, watermark)
            self._count(place, worker.fired)
            return given
        store = self.stores.setdefault(place, MemoryStore())
        if self.data.draw(st.integers(0, 3)) == 0:
            lost = MemoryStore(store.blobs)
            copy = self._copy(node, place, lost)
            _advanced(copy.worker, messages, watermark)
            copy.save(lost)
        copy = self._copy(node, place, store)
        before, fired = copy.worker.dropped, copy.worker.fired
        given = _advanced(copy.worker, messages, watermark)
        self.dropped += copy.worker.dropped - before
        self._count(place, copy.worker.fired - fired)
        copy.save(store)
        is_header = ("", "header")
        blobs = {n: blob for n, blob in store.blobs.items() if n.split(" ")[-1] not in is_header}
        assert copy.n_bytes == sum(map(len, blobs.values()))
        return given

    def _count(self, place: Place, fired: int) -> None:
        self.fired[place[0]] = self.fired.get(place[0], 0) + fired

    @property
    def windows(self) -> int:
        """How many windows have fired."""
        return sum(self.fired.values())

    def _copy(self, node: Workers, place: Place, store: MemoryStore) -> StoredWorker:
        """The worker as it is stored, in some process."""
        process = self.data.draw(st.integers(0, 3))
        found = self.copies.get((process, place))
        if found is not None:
            try:
                found.load(store)
            except NotAnAncestor:
                event("a copy of no use")
                found = None
        if found is None:
            found = StoredWorker(node.make(place[1]), QUERY)
            found.load(store)
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


def rows_of(tables: list[pa.Table]) -> Counter[str]:
    return Counter(repr(row) for table in tables for row in table.to_pylist())


def check(data: st.DataObject, query: wr.Query, pattern: Any, steps: list[Step]) -> None:
    """Any copies in any order give what one worker that never stops gives, batch by batch."""
    complete = query.window_query()
    reference = WindowRunner(complete, window_stages(complete, wr.WinSeq()))
    processes = Processes(complete, window_stages(complete, pattern), data)
    windows = 0
    for number, (rows, watermark) in enumerate(steps):
        batch = pa.Table.from_pylist(rows, SCHEMA)
        expected = reference.push(batch) + reference.advance(watermark)
        assert rows_of(processes.run(batch, watermark)) == rows_of(expected), number
        assert processes.dropped == reference.dropped, number
        windows += sum(map(len, expected))
        assert processes.windows == windows, number


@examples(600)
@given(st.data(), models, st.sampled_from(["sums", "collect", "apply"]), batches())
def test_any_copy_of_a_worker_goes_on_where_the_last_one_was(
    data: st.DataObject, model: WindowModel, kind: str, steps: list[Step]
) -> None:
    with much_is_little():
        check(data, query_of(model, kind), wr.WinSeq(), steps)


@examples(400)
@given(st.data(), models, st.sampled_from(["sums", "collect", "apply"]), batches(8))
def test_so_do_the_workers_of_every_pattern(
    data: st.DataObject, model: WindowModel, kind: str, steps: list[Step]
) -> None:
    query = query_of(model, kind)
    assert query.computation is not None
    pattern = data.draw(patterns(model, query.computation.is_decomposable))
    with much_is_little():
        check(data, query, pattern, steps)


@examples(100)
@given(st.data(), st.integers(1, 9), st.integers(1, 9), batches())
def test_so_do_workers_of_tuples_in_order_of_arrival(
    data: st.DataObject, length: int, slide: int, steps: list[Step]
) -> None:
    kind = data.draw(st.sampled_from(["sums", "collect", "apply"]))
    query = query_of(wr.CountWindow(length, slide), kind, is_timed=False)
    pattern = data.draw(patterns(wr.CountWindow(length, slide), kind != "apply"))
    with much_is_little():
        check(data, query, pattern, [(rows, BEGINNING) for rows, _ in steps])


def test_a_copy_that_is_behind_reads_only_what_it_lacks() -> None:
    query = query_of(wr.TimeWindow(10**12), "apply")
    store = CountingStore()
    first, log = worker_of(query), StateLog(QUERY)
    behind, its_log = worker_of(query), StateLog(QUERY)
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
    behind, its_log = worker_of(query), StateLog(QUERY)
    behind.push(tuples_of(query, ["a"], [1]))
    behind.advance(0)
    its_log.save(behind, store)
    for times, watermark in [([], 5), ([6], 5)]:  # each batch in a process of its own
        new, log = worker_of(query), StateLog(QUERY)
        log.load(new, store)
        new.push(tuples_of(query, ["a"] * len(times), pa.array(times, pa.int64())))
        new.advance(watermark)
        log.save(new, store)
    its_log.load(behind, store)
    (fired,) = behind.advance(7)
    assert fired["window_id"].to_pylist() == [0]


def test_nothing_is_read_by_the_copy_that_wrote_last() -> None:
    query = query_of(wr.TimeWindow(10), "apply")
    store, worker, log = CountingStore(), worker_of(query), StateLog(QUERY)
    worker.push(tuples_of(query, ["a"], [1]))
    worker.advance(0)
    log.save(worker, store)
    log.load(worker, store)
    assert store.read == []


@pytest.mark.parametrize("has_state", [False, True])
def test_a_copy_from_a_failed_attempt_is_no_ancestor(has_state: bool) -> None:
    query = query_of(wr.TimeWindow(10), "apply")
    store, worker, log = MemoryStore(), worker_of(query), StateLog(QUERY)
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
    store, worker, log = MemoryStore(), worker_of(query), StateLog(QUERY)
    behind, its_log = worker_of(query), StateLog(QUERY)
    log.save(worker, store)
    its_log.load(behind, store)
    for b in range(state_log._REMEMBERED):
        worker.advance(b)
        log.save(worker, store)
    with pytest.raises(NotAnAncestor):
        its_log.load(behind, store)


def with_levels(pattern: Any, level: int) -> Any:
    """The pattern, and what it nests, at another level."""
    inner = {} if not hasattr(pattern, "inner") else {"inner": with_levels(pattern.inner, level)}
    own = {"level": level} if hasattr(pattern, "level") else {}
    return replace(pattern, **own, **inner)


@examples(200)
@given(st.data(), models, st.sampled_from(["sums", "collect", "apply"]), batches(8))
def test_so_do_the_workers_of_a_pattern_at_another_level(
    data: st.DataObject, model: WindowModel, kind: str, steps: list[Step]
) -> None:
    query = query_of(model, kind)
    assert query.computation is not None
    pattern = data.draw(patterns(model, query.computation.is_decomposable))
    complete = query.window_query()
    reference = WindowRunner(complete, window_stages(complete, wr.WinSeq()))
    runner = WindowRunner(complete, window_stages(complete, pattern))
    for rows, watermark in steps:
        batch = pa.Table.from_pylist(rows, SCHEMA)
        given = runner.push(batch) + runner.advance(watermark)
        assert rows_of(given) == rows_of(reference.push(batch) + reference.advance(watermark))
        level = data.draw(st.integers(0, 2))
        other = WindowRunner(complete, window_stages(complete, with_levels(pattern, level)))
        other.restore(runner.snapshot())
        runner = other
    assert rows_of(runner.finish()) == rows_of(reference.finish())
