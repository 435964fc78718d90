"""Workers do not refer to themselves, so they are freed without a search for garbage."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core.aggregate import Aggregate
from windrow.core.models import WindowModel
from windrow.engine.in_process import WindowRunner
from windrow.engine.joins.in_process import JoinRunner
from windrow.patterns import Pattern
from windrow.patterns.joins import Strategy
from windrow.patterns.windows import window_stages

TIMES = np.arange(2_000)
ROWS = pa.table({"k": TIMES % 3, "t": TIMES, "x": TIMES})


def are_freed(runner: WindowRunner | JoinRunner, *batches: pa.Table) -> bool:
    """Whether nobody refers to the runner's workers but the runner."""
    gc.disable()
    try:
        for watermark in (1_000, 1_500):
            runner.push(*batches)
            runner.advance(watermark)
            runner.snapshot()
        workers = [weakref.ref(w) for workers in runner.workers.values() for w in workers]
        runner.workers.clear()
        return bool(workers) and all(worker() is None for worker in workers)
    finally:
        gc.enable()


@pytest.mark.parametrize("pattern", [wr.KeyFarm(2), wr.PaneFarm(2, 2), wr.WinMapReduce(2, 2)])
@pytest.mark.parametrize("model", [wr.CountWindow(10, 3), wr.TimeWindow("10 us", "3 us")])
@pytest.mark.parametrize("function", [wf.sum("x"), wf.median("x")])
def test_a_worker_that_has_stored_its_state_is_freed_at_once(
    model: WindowModel, function: Aggregate[object, object, object], pattern: Pattern
) -> None:
    rows = wr.stream(ROWS).key_by("k").event_time("t").order_by("x").window(model)
    query = rows.agg(value=function).window_query()
    assert are_freed(WindowRunner(query, window_stages(query, pattern)), ROWS)


@pytest.mark.parametrize("strategy", ["grid", "handshake", "centralised"])
def test_a_worker_of_a_join_that_has_stored_its_state_is_freed_at_once(strategy: Strategy) -> None:
    on = wr.equi("k") & wr.band(x=9)
    join = wr.join(ROWS, ROWS, on=on, within="10 us", time="t", strategy=strategy)
    assert are_freed(JoinRunner(join.query, join.stages()), ROWS, ROWS)
