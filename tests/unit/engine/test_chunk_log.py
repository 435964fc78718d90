"""The chunk log: snapshots share chunks, and a copy that is behind catches up."""

from __future__ import annotations

import gc
import pickle
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import windrow as wr
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.engine.columns.control import AXIS
from windrow.engine.columns.storage import Stored
from windrow.engine.in_process import WindowRunner
from windrow.engine.state.chunks import ChunkLog
from windrow.engine.state.log import NotAnAncestor
from windrow.engine.windows.buffer import WindowBuffer
from windrow.engine.workers.win_seq import WinSeqWorker
from windrow.patterns.windows import window_stages

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64()), ("x", pa.int64())])
MODELS: list[WindowModel] = [
    wr.TimeWindow(10, 5),
    wr.LandmarkWindow(20, 10),
    wr.SessionWindow(5),
    wr.CountWindow(4, 2),
    wr.SlideByTupleWindow(10, 3),
    wr.SlideByTimeWindow(3, 5),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=str)


def runner_of(model: WindowModel) -> WindowRunner:
    query = wr.stream(SCHEMA.empty_table()).key_by("k").event_time("t").window(model)
    complete = query.agg(xs=wf.collect("x")).window_query()
    return WindowRunner(complete, window_stages(complete, wr.WinSeq()))


def push(runner: WindowRunner, times: str, watermark: int) -> list[Any]:
    """Tuples ``key:time``, whose x is their time; what fires."""
    rows = [{"k": k, "t": int(t), "x": int(t)} for k, t in (w.split(":") for w in times.split())]
    tables = runner.push(pa.Table.from_pylist(rows, SCHEMA)) + runner.advance(watermark)
    return rows_of(tables)


def rows_of(tables: list[pa.Table]) -> list[Any]:
    rows = [row for table in tables for row in table.to_pylist()]
    return sorted((row["k"], row["window_id"], row["xs"]) for row in rows)


def copied(runner: WindowRunner) -> dict[str, Any]:
    snapshot: dict[str, Any] = pickle.loads(pickle.dumps(runner.snapshot()))
    return snapshot


def worker_of(runner: WindowRunner) -> WinSeqWorker:
    (worker,) = runner.workers[0]
    assert isinstance(worker, WinSeqWorker)
    return worker


def log_of(runner: WindowRunner) -> tuple[ChunkLog, WindowBuffer]:
    worker = worker_of(runner)
    assert worker.log is not None
    return worker.log, worker.buffer


@every_model
def test_a_new_copy_goes_on_where_the_other_was(model: WindowModel) -> None:
    first = runner_of(model)
    push(first, "a:0 b:1 a:3", 4)
    push(first, "a:2 a:6 b:8", 7)
    push(first, "b:4 a:9 a:11", 13)
    second = runner_of(model)
    second.restore(copied(first))
    assert push(second, "a:14 b:15", 20) == push(first, "a:14 b:15", 20)
    assert rows_of(second.finish()) == rows_of(first.finish())


@every_model
@pytest.mark.parametrize("has_compacted", [False, True])
def test_a_copy_that_is_behind_catches_up(model: WindowModel, has_compacted: bool) -> None:
    first, second = runner_of(model), runner_of(model)
    push(first, "a:0 b:1 a:3", 4)
    second.restore(copied(first))
    push(first, "a:2 a:6 b:8", 7)  # a:2 is late
    push(first, "c:9", 8)
    if has_compacted:
        log, buffer = log_of(first)
        log.compact(buffer)
    second.restore(copied(first))
    assert push(second, "a:10 b:11", 12) == push(first, "a:10 b:11", 12)
    assert rows_of(second.finish()) == rows_of(first.finish())


def test_a_snapshot_shares_the_chunks_of_the_one_before() -> None:
    runner = runner_of(wr.TimeWindow(100))
    push(runner, "a:0", 1)
    before = runner.snapshot()["workers"][0, 0]
    push(runner, "a:1 b:1", 2)
    after = runner.snapshot()["workers"][0, 0]
    assert [name for name in before if name.startswith("chunk")] == ["chunk 0-0"]
    assert [name for name in after if name.startswith("chunk")] == ["chunk 0-0", "chunk 1-1"]
    assert all(after[name] is blob for name, blob in before.items() if name)


def test_an_older_snapshot_is_refused() -> None:
    runner = runner_of(wr.TimeWindow(10))
    push(runner, "a:0", 1)
    older = copied(runner)
    push(runner, "a:11", 12)
    runner.snapshot()
    with pytest.raises(NotAnAncestor):
        runner.restore(older)


def test_chunks_wholly_evicted_are_removed() -> None:
    runner = runner_of(wr.TimeWindow(10))
    runner.snapshot()
    for i in range(20):
        push(runner, f"a:{i * 10} b:{i * 10 + 1}", i * 10 + 2)
    log, buffer = log_of(runner)
    assert len(log) == buffer.alive == 2


def test_chunks_of_a_long_batch_end_where_panes_do() -> None:
    log = ChunkLog(length=10)
    axis = np.arange(400_000)
    log.append(np.zeros(len(axis), np.int64), {AXIS: Stored(axis)})
    chunks = list(log.chunks.values())
    assert len(chunks) > 1
    assert len(log) == len(axis)
    for chunk in chunks:
        own = chunk.columns[AXIS].values
        assert own[0] % 10 == 0 and own[-1] % 10 == 9
        assert len(chunk) == own[-1] - own[0] + 1


def test_nothing_appended_makes_no_chunk() -> None:
    log = ChunkLog()
    log.append(np.zeros(0, np.int64), {AXIS: Stored(np.zeros(0, np.int64))})
    assert log.chunks == {}


def arrays_of(found: object) -> list[NDArray[Any]]:
    """The arrays that an object holds, each once."""
    seen: dict[int, object] = {}
    waiting = [found]
    while waiting:
        held = waiting.pop()
        if id(held) not in seen and not isinstance(held, type | ModuleType | FunctionType):
            seen[id(held)] = held
            waiting += gc.get_referents(held)
    return [held for held in seen.values() if isinstance(held, np.ndarray)]


@pytest.mark.parametrize(
    "model", [wr.TimeWindow(10**6), wr.SessionWindow(10**6), wr.CountWindow(10**6)], ids=str
)
def test_a_worker_whose_state_is_not_stored_holds_tuples_once(model: WindowModel) -> None:
    runner = runner_of(model)
    push(runner, " ".join(f"a:{t}" for t in range(5000)), 5000)
    worker = worker_of(runner)
    assert worker.log is None and worker.placing.waiting == 0
    long = [array for array in arrays_of(worker) if len(array) >= worker.buffer.alive == 5000]
    assert len(long) == len(worker.buffer.columns) == 2
