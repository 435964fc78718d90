"""The work of all patterns against Win_Seq, per function, and what a node costs.

Run with ``make bench-patterns``, or ``python -m benchmarks.bench_patterns [names]``; ``--help``
lists the options. Windows of 500 ms that slide by 5 ms, then of 5000 tuples that slide by 50. With
keys, windows and slides have a tenth of the tuples. Times are the CPU times of this process, in
which all workers run: the total work, which should stay below twice that of Win_Seq. With
``--tasks`` they are those of all Python tasks that Spark would run. Results must agree.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

import windrow as wr
from benchmarks.cpu_seconds import work_of
from benchmarks.stage_costs import print_stage_costs
from benchmarks.tasks_here import run_tasks
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.engine.window_query import ID
from windrow.patterns import Pattern

TUPLES = 200_000
APART = 100
"""Microseconds between two tuples."""
REPEATS = 3
LENGTH, SLIDE = 5000, 50
"""Tuples per window, and from one window to the next."""
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


SLOW = {"collect": 10, "polynomial_fit": 5}
"""Functions that are given so many times fewer tuples."""


def tuples(n: int, keys: int) -> pa.Table:
    """Tuples of some keys in turn, in order of time."""
    random = np.random.default_rng(1)
    names = pa.array([f"name {i}" for i in range(100)])
    return pa.table(
        {
            "k": pa.array(np.arange(n) % keys),
            "t": pa.array(np.arange(n) * APART, pa.timestamp("us")),
            "x": random.normal(size=n),
            "y": random.normal(size=n),
            "n": random.integers(0, 1000, n),
            "s": names.take(pa.array(random.integers(0, 100, n))),
        }
    )


def models(keys: int) -> dict[str, WindowModel]:
    """Windows in time and of tuples, of as many tuples of a key."""
    each = 1 if keys == 1 else 10
    length, slide = LENGTH // each, SLIDE // each
    apart = APART * keys
    in_time = wr.TimeWindow(length * apart, slide * apart)
    return {"time": in_time, "count": wr.CountWindow(length, slide)}


def agree(a: Any, b: Any) -> bool:
    """Whether two results are equal, floats to 1e-9."""
    if isinstance(a, dict):
        return all(agree(a[name], b[name]) for name in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(agree, a, b))
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) if isinstance(a, float) else bool(a == b)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="functions; all if none is named")
    parser.add_argument("--tuples", type=int, default=TUPLES)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--keys", type=int, default=1)
    parser.add_argument("--windows", choices=("time", "count"), help="both if not said")
    parser.add_argument("--tasks", action="store_true", help="as the tasks that Spark would run")
    given = parser.parse_args()
    table = tuples(given.tuples, given.keys)
    for i, pattern in enumerate(PATTERNS):
        print(f"  {i}: {pattern!r}")
    place = "as tasks" if given.tasks else "in process"
    for kind, model in models(given.keys).items():
        if given.windows not in (None, kind):
            continue
        print(
            f"{given.tuples:,} tuples of {given.keys} keys, {model!r}, {place}: "
            "ns per tuple with 0, and times as many with"
        )
        print(f"  {'':18} {0:7}" + "".join(f"{i:6}" for i in range(1, len(PATTERNS))))
        for name, function in FUNCTIONS.items():
            if not given.names or name in given.names:
                rows = table.slice(0, len(table) // SLOW.get(name, 1))
                compare(name, rows, model, function, given)
    print_stage_costs(table)


def compare(
    name: str, table: pa.Table, model: WindowModel, function: Function, given: argparse.Namespace
) -> None:
    """Compare the work of all patterns, and their results."""
    query = wr.stream(table).key_by("k").event_time("t").window(model).agg(r=function)
    runs: list[Callable[[], pa.Table]] = []
    first = None
    for pattern in PATTERNS:
        run: Callable[[], pa.Table] = query.using(pattern).ordered().collect
        if given.tasks:
            run = partial(run_tasks, query.using(pattern).window_query(), pattern, table)
        runs.append(run)
        found = run().sort_by([("k", "ascending"), (ID, "ascending")])["r"].to_pylist()
        first = found if first is None else first
        if not agree(first, found):
            raise AssertionError(f"{name}: the patterns disagree")
    seconds = work_of(runs, given.repeats)
    ratios = "".join(f"{s / seconds[0]:6.2f}" for s in seconds[1:])
    print(f"  {name:18} {seconds[0] / len(table) * 1e9:7.1f}{ratios}", flush=True)


if __name__ == "__main__":
    main()
