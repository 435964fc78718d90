"""The work of all patterns against Win_Seq, per function, in process, and what a node costs.

Run with ``make bench-patterns``, or ``python -m benchmarks.bench_patterns [tuples [names]]``. One
key, windows of 500 ms that slide by 5 ms, then of 5000 tuples that slide by 50. Times are the CPU
times of this process, in which all workers run: the total work, which should stay below twice that
of Win_Seq. Results must agree.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from time import process_time
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.engine.in_process import WindowRunner
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages

TUPLES = 200_000
APART = 100
"""Microseconds between two tuples."""
REPEATS = 3
MODELS = wr.TimeWindow("500 ms", "5 ms"), wr.CountWindow(5000, 50)
PATTERNS: tuple[Pattern, ...] = (
    wr.WinSeq(),
    wr.KeyFarm(2),
    wr.WinFarm(2),
    wr.WinFarm(2, workers="agnostic"),
    wr.PaneFarm(2, 1),
    wr.WinMapReduce(2, 1),
    wr.KeyFarm(2, wr.PaneFarm(1, 1)),
    wr.KeyFarm(2, wr.WinMapReduce(2, 1)),
    wr.WinFarm(2, wr.PaneFarm(2, 1)),
    wr.WinFarm(2, wr.WinMapReduce(2, 1)),
)
STEPS = 200
"""How many batches, of one tuple each, tell what the nodes of a pattern cost."""
Function: TypeAlias = wr.Aggregate[Any, Any, Any]
FUNCTIONS: dict[str, Function] = {
    "count": wf.count(),
    "sum": wf.sum("x"),
    "mean": wf.mean("x"),
    "min": wf.min("x"),
    "max": wf.max("x"),
    "max of text": wf.max("s"),
    "var": wf.var("x"),
    "stddev": wf.stddev("x"),
    "first": wf.first("x"),
    "last": wf.last("x", ignore_nulls=True),
    "arg_min": wf.arg_min("x", by="y"),
    "arg_max": wf.arg_max("s", by="x"),
    "median": wf.median("x"),
    "quantile": wf.quantile("x", 0.9),
    "mode": wf.mode("n"),
    "mode of text": wf.mode("s"),
    "count_distinct": wf.count_distinct("n"),
    "top_k": wf.top_k("x", 3),
    "collect": wf.collect("n"),
    "ohlc": wf.ohlc("x"),
    "linear_regression": wf.linear_regression("y", "x"),
    "polynomial_fit": wf.polynomial_fit("y", "x", 2),
    "skyline": wf.skyline("x", "y"),
}


def tuples(n: int) -> pa.Table:
    """Tuples of one key in order of time."""
    random = np.random.default_rng(1)
    names = pa.array([f"name {i}" for i in range(100)])
    return pa.table(
        {
            "k": pa.array(np.zeros(n, np.int64)),
            "t": pa.array(np.arange(n) * APART, pa.timestamp("us")),
            "x": random.normal(size=n),
            "y": random.normal(size=n),
            "n": random.integers(0, 1000, n),
            "s": names.take(pa.array(random.integers(0, 100, n))),
        }
    )


def agree(a: Any, b: Any) -> bool:
    """Whether two results are equal, floats to 1e-9."""
    if isinstance(a, dict):
        return all(agree(a[name], b[name]) for name in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(agree, a, b))
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) if isinstance(a, float) else bool(a == b)


def work_of(run: Callable[[], object]) -> float:
    """The CPU time of the best of several runs, in seconds."""
    found = []
    for _ in range(REPEATS):
        start = process_time()
        run()
        found.append(process_time() - start)
    return min(found)


def main(n: int = TUPLES, *wanted: str) -> None:
    table = tuples(n)
    for i, pattern in enumerate(PATTERNS):
        print(f"  {i}: {pattern!r}")
    for model in MODELS:
        print(f"{n:,} tuples of one key, {model!r}: ns per tuple with 0, and times as many with")
        print(f"  {'':18} {0:7}" + "".join(f"{i:6}" for i in range(1, len(PATTERNS))))
        for name, function in FUNCTIONS.items():
            if not wanted or name in wanted:
                compare(name, table, model, function)
    nodes_cost(table.slice(0, 1))


def compare(name: str, table: pa.Table, model: WindowModel, function: Function) -> None:
    """Compare the work of all patterns, and their results."""
    query = wr.stream(table).key_by("k").event_time("t").window(model).agg(r=function)
    seconds: list[float] = []
    first = None
    for pattern in PATTERNS:
        run = query.using(pattern).ordered().collect
        found = run()["r"].to_pylist()
        first = found if first is None else first
        if not agree(first, found):
            raise AssertionError(f"{name}: the patterns disagree")
        seconds.append(work_of(run))
    ratios = "".join(f"{s / seconds[0]:6.2f}" for s in seconds[1:])
    print(f"  {name:18} {seconds[0] / len(table) * 1e9:7.1f}{ratios}", flush=True)


def nodes_cost(one: pa.Table) -> None:
    """What the nodes of a pattern cost per batch, however few tuples there are, at level 0."""
    query = wr.stream(one).key_by("k").event_time("t").window(MODELS[0]).agg(r=wf.sum("x"))
    for pattern in (wr.WinSeq(), wr.KeyFarm(1, level=0), wr.PaneFarm(1, 1, level=0)):
        complete = query.window_query()
        runner = WindowRunner(complete, window_stages(complete, pattern, "process"))

        def run(runner: WindowRunner = runner) -> None:
            for _ in range(STEPS):
                runner.push(one)

        nodes = " ".join(type(node).__name__[0] for node in runner.nodes)
        print(f"  {pattern!r}: {work_of(run) / STEPS * 1e6:.0f} us per batch of one tuple: {nodes}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
