"""What one more stage costs in Python: its emitter, its hand-over, its workers and its collector.

``python -m benchmarks.bench_patterns`` prints it last. What Spark takes for a stage is not in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pyarrow as pa

import windrow as wr
from benchmarks.cpu_seconds import work_of
from windrow import functions as wf
from windrow.engine.in_process import WindowRunner
from windrow.engine.intake import window_tuples
from windrow.engine.stages.messages import pack, unpack
from windrow.engine.stages.nodes import Collector, Emitter
from windrow.engine.stages.routes import ByKey
from windrow.engine.stages.traffic import collect_traffic, emit_traffic
from windrow.engine.window_query import WindowQuery
from windrow.patterns.windows import window_stages

STEPS = 200
"""How many messages, of one row each, tell what a message costs."""
WINDOW = wr.TimeWindow("1 s", "10 ms")


def print_stage_costs(rows: pa.Table) -> None:
    """Print what the parts of a stage cost per row and per message, then whole nodes."""
    query = wr.stream(rows).key_by("k").event_time("t").window(WINDOW)
    complete = query.agg(r=wf.sum("x"), m=wf.median("y")).window_query()
    tuples, _ = window_tuples(complete, rows, 0)
    summed = query.agg(r=wf.sum("x"))
    emitter = Emitter(ByKey(complete.keys, 2))
    print("One more stage: ns per row, and us per message of one row")
    _print_part("emitter by key", tuples, lambda part: emit_traffic(emitter, {0: [part]}))
    _print_part("tasks pack and unpack", tuples, lambda part: unpack(pack(part)))
    _print_part("collector of two", summed.collect(), partial(_collected, complete))
    complete = summed.window_query()
    for pattern in (wr.WinSeq(), wr.KeyFarm(1, level=0), wr.PaneFarm(1, 1, level=0)):
        runner = WindowRunner(complete, window_stages(complete, pattern, "process"))
        one = rows.slice(0, 1)
        nodes = " ".join(type(node).__name__[0] for node in runner.nodes)
        print(f"  {pattern!r}: {_each(partial(runner.push, one)):.0f} us per batch: {nodes}")


def _collected(query: WindowQuery, results: pa.Table) -> object:
    half = len(results) // 2
    return collect_traffic(
        query, Collector(2), {0: [results.slice(half)], 1: [results.slice(0, half)]}
    )


def _print_part(name: str, rows: pa.Table, run: Callable[[pa.Table], object]) -> None:
    (seconds,) = work_of([partial(run, rows)], 5)
    one = _each(partial(run, rows.slice(0, 1)))
    print(f"  {name:22} {seconds / len(rows) * 1e9:6.1f} {one:6.0f}")


def _each(run: Callable[[], object]) -> float:
    """Microseconds of one of many runs."""

    def many() -> None:
        for _ in range(STEPS):
            run()

    (seconds,) = work_of([many], 3)
    return seconds / STEPS * 1e6
