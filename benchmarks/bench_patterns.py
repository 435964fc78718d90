"""The work of pane farms and window partitioning against Win_Seq, per function, in process.

Run with ``make bench-patterns``, or ``python -m benchmarks.bench_patterns [tuples [names]]``. One
key, windows of 500 ms that slide by 5 ms. Times are the CPU times of this process, in which all
workers run: the total work, which should stay below twice that of Win_Seq. Results must agree.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow import functions as wf

TUPLES = 200_000
APART = 100
"""Microseconds between two tuples."""
REPEATS = 3
MODEL = wr.TimeWindow("500 ms", "5 ms")
PATTERNS = (wr.WinSeq(), wr.PaneFarm(2, 1), wr.WinMapReduce(2, 1))
FUNCTIONS: dict[str, wr.Aggregate[Any, Any, Any]] = {
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
    print(f"{n:,} tuples of one key, {MODEL!r}: seconds, and times the work of {PATTERNS[0]!r}")
    for name, function in FUNCTIONS.items():
        if wanted and name not in wanted:
            continue
        query = wr.stream(table).key_by("k").event_time("t").window(MODEL).agg(r=function)
        seconds, results = [], []
        for pattern in PATTERNS:
            run = query.using(pattern).ordered().collect
            results.append(run()["r"].to_pylist())
            seconds.append(work_of(run))
        if not all(agree(results[0], r) for r in results[1:]):
            raise AssertionError(f"{name}: the patterns disagree")
        ratios = "".join(
            f"   {pattern!r} {s:7.3f} {s / seconds[0]:6.2f} x"
            for pattern, s in zip(PATTERNS[1:], seconds[1:], strict=True)
        )
        print(f"  {name:18} {seconds[0]:7.3f}{ratios}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
