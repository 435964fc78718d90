"""Memory stays that of the open windows and the batch at hand, however long the stream.

The streams run in a process of their own, this file as a program, so that its peak of memory is
theirs.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.engine.columns.control import AXIS
from windrow.engine.in_process import WindowRunner
from windrow.engine.workers.win_seq import WinSeqWorker
from windrow.patterns.windows import window_stages

BATCH = 1_000_000
KEYS = 100
LAG = 50_000
"""How far the watermark is behind: a tuple comes each microsecond, so as many tuples."""
SETTLED = 5
"""Batches until all room that is needed has been taken."""
SLIDE = {"panes": 10_000, "median": 100_000, "apply": 100_000}


def panes(query: wr.Query) -> wr.Query:
    """Sliding windows of 1 s, kept as partials of panes."""
    functions = {"n": wf.count(), "total": wf.sum("x"), "most": wf.max("x")}
    return query.window(wr.TimeWindow("1 s", "10 ms")).agg(**functions)


def median(query: wr.Query) -> wr.Query:
    """Tumbling windows of 100,000 tuples in all, kept as tuples."""
    return query.window(wr.TimeWindow("100 ms")).agg(middle=wf.median("x"))


def apply(query: wr.Query) -> wr.Query:
    """The same windows for a function of the user's, which needs every column."""
    windowed = query.window(wr.TimeWindow("100 ms"))
    return windowed.apply(lambda w: {"most": int(w["x"].max())}, returns="most bigint")


def make_batch(number: int, rng: np.random.Generator) -> pa.Table:
    times = np.arange(number * BATCH, (number + 1) * BATCH)
    keys, values = rng.integers(0, KEYS, BATCH), rng.integers(0, 1000, BATCH)
    return pa.table({"k": keys, "t": pa.array(times, pa.timestamp("us")), "x": values})


def run(make: Callable[[wr.Query], wr.Query], tuples: int) -> dict[str, Any]:
    """Push the stream batch by batch; the most that was held after any, and the peak of memory."""
    rng = np.random.default_rng(1)
    source = wr.stream(make_batch(0, rng)).key_by("k").event_time("t")
    query = make(source).window_query()
    runner = WindowRunner(query, window_stages(query, wr.WinSeq()))
    [[worker]] = runner.workers.values()
    assert isinstance(worker, WinSeqWorker)
    worker.state()  # from now on it keeps a log
    assert worker.log is not None
    most = {"waiting": 0, "alive": 0, "logged": 0, "room": 0}
    results, settled = 0, 0
    for number in range(tuples // BATCH):
        given = runner.push(make_batch(number, rng))
        given += runner.advance((number + 1) * BATCH - LAG)
        results += sum(map(len, given))
        held = {
            "waiting": worker.placing.waiting,
            "alive": worker.buffer.alive,
            "logged": len(worker.log),
            "room": len(worker.buffer.columns[AXIS].values),
        }
        most = {name: max(most[name], held[name]) for name in most}
        if number + 1 == SETTLED:
            settled = peak_mb()
    return {**most, "results": results, "settled_mb": settled, "peak_mb": peak_mb()}


def peak_mb() -> int:
    """The most memory this process has had so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (1 << 20 if sys.platform == "darwin" else 1 << 10)


@pytest.mark.parametrize(
    ("case", "tuples", "per_window", "per_batch"),
    [
        # What is held are partials: 100 panes a window and a key, 100 more a batch.
        ("panes", 50_000_000, 100 * KEYS, 100 * KEYS),
        ("apply", 50_000_000, 100_000, BATCH),
        ("median", 20_000_000, 100_000, BATCH),
    ],
)
def test_what_is_held_does_not_grow_with_the_stream(
    case: str,
    tuples: int,
    per_window: int,
    per_batch: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = [sys.executable, __file__, case, str(tuples)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    with capsys.disabled():
        print(f"\n{case}, {tuples:,} tuples: {found}")
    assert found["results"] == KEYS * ((tuples - LAG) // SLIDE[case])
    assert found["waiting"] <= LAG
    # A pane that two batches share has a partial of each.
    assert found["alive"] <= per_window + (10 * KEYS if case == "panes" else 0)
    assert found["logged"] <= 2 * per_window + per_batch
    # A key's segment has room for twice what it holds beside the batch, all of it twice over.
    assert found["room"] <= 6 * (per_window + 10 * KEYS) + 2 * per_batch
    assert found["peak_mb"] - found["settled_mb"] < 200


if __name__ == "__main__":
    print(
        json.dumps(
            run({"panes": panes, "median": median, "apply": apply}[sys.argv[1]], int(sys.argv[2]))
        )
    )
