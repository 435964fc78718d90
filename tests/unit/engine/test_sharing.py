"""Workers of one process share the tuples that several of them need."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow import functions as wf
from windrow.engine.in_process import WindowRunner
from windrow.engine.workers.win_seq import WinSeqWorker
from windrow.patterns import Pattern
from windrow.patterns.setting import Place
from windrow.patterns.windows import window_stages

TABLE = pa.table({"t": np.arange(1000), "x": np.arange(1000.0)})


def held(pattern: Pattern, place: Place) -> int:
    """How many tuples all workers hold together once all have come."""
    windows = wr.stream(TABLE).event_time("t").window(wr.TimeWindow(100, 10))
    query = windows.agg(m=wf.median("x")).window_query()
    runner = WindowRunner(query, window_stages(query, pattern, place))
    runner.push(TABLE)
    runner.advance(900)
    workers = [w for own in runner.workers.values() for w in own]
    return sum(w.buffer.alive for w in workers if isinstance(w, WinSeqWorker))


def test_a_tuple_of_several_workers_is_held_once_in_one_process() -> None:
    alone = held(wr.WinSeq(), "process")
    assert alone > 0
    assert held(wr.WinFarm(4), "process") == alone
    assert held(wr.WinFarm(4), "stream") > 2 * alone


def test_a_worker_holds_what_its_own_next_window_needs() -> None:
    """Windows up to 80 have fired, and the next of the four workers are 81 to 84."""
    windows = wr.stream(TABLE).event_time("t").window(wr.TimeWindow(100, 10))
    query = windows.agg(m=wf.median("x")).window_query()
    runner = WindowRunner(query, window_stages(query, wr.WinFarm(4)))
    runner.push(TABLE)
    runner.advance(900)
    workers = [w for own in runner.workers.values() for w in own]
    first = [w.buffer.axis[w.buffer.head[0]] for w in workers if isinstance(w, WinSeqWorker)]
    assert sorted(first) == [810, 820, 830, 840]
