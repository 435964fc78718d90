"""The cost of the engine in process: from ordered Arrow batches to results, on one core.

Run with ``make bench-kernels``, or ``python -m benchmarks.bench_engine``. Before timing, queries
are checked against the oracle on a small input, and every timed query must account for every tuple.
A wrong result fails the benchmark; a missed target does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import windrow as wr
from benchmarks.bench_kernels_ranges import best_of, broadcast_skyline
from windrow import functions as wf
from windrow.core import oracle
from windrow.core.models import WindowModel
from windrow.engine.in_process import WindowRunner
from windrow.patterns.windows import window_stages

TUPLES = 20_000_000
BATCH = 1_000_000
KEYS = 100
REPEATS = 4

Batches = list[pa.Table]
Make = Callable[[wr.Query], wr.Query]


@dataclass(frozen=True)
class Run:
    """A query over batches that are pushed one by one; the watermark follows each of them."""

    make: Make
    batches: Batches
    has_end: bool = True
    """Whether the stream ends, so that open windows are emitted."""

    def __call__(self) -> pa.Table:
        """The results."""
        query = self.make(wr.stream(self.batches[0]).event_time("t")).window_query()
        runner = WindowRunner(query, window_stages(query, wr.WinSeq()))
        results = []
        for batch in self.batches:
            results += runner.push(batch)
            results += runner.advance(batch["t"][-1].value)
        if self.has_end:
            results += runner.finish()
        return pa.concat_tables(results)


def count_sum_max(model: WindowModel, query: wr.Query) -> wr.Query:
    """The query whose throughput is measured."""
    functions = {"n": wf.count(), "s": wf.sum("x"), "m": wf.max("x")}
    return query.key_by("k").window(model).agg(**functions)


def ordered_batches(keys: NDArray[Any], values: NDArray[Any], names: Any = None) -> Batches:
    """One tuple per microsecond; keys are numbers, or the names at these positions."""
    times = np.arange(len(keys), dtype=np.int64)
    batches = []
    for at in range(0, len(keys), BATCH):
        part = slice(at, at + BATCH)
        key = pa.array(keys[part]) if names is None else names.take(pa.array(keys[part]))
        time = pa.array(times[part], pa.timestamp("us"))
        batches.append(pa.table({"k": key, "t": time, "x": values[part]}))
    return batches


def check_oracle(model: WindowModel, batches: Batches) -> None:
    """Compare count, sum and max of a few thousand tuples with the oracle's."""
    run = Run(partial(count_sum_max, model), batches)
    found = {
        (row["k"], row["window_id"]): (row["n"], row["s"], row["m"]) for row in run().to_pylist()
    }
    rows = [row for batch in batches for row in batch.to_pylist()]
    expected = {
        (w.key[0], w.id): (len(x), sum(x), max(x))
        for w in oracle.windows(model, rows, key=["k"], time="t")
        for x in [[row["x"] for row in w.rows]]
    }
    if found != expected:
        raise AssertionError(f"{model!r}: the engine and the oracle disagree")


def check_tuples(model: Any, run: Run) -> None:
    """Check every ``length / slide``-th window: these are tumbling and hold each tuple once."""
    results = run()
    is_tumbling = np.asarray(results["window_id"].to_numpy()) % (model.length // model.slide) == 0
    expected = {"n": sum(map(len, run.batches))}
    if "s" in results.column_names:
        expected["s"] = sum(int(batch["x"].to_numpy().sum()) for batch in run.batches)
    for name, total in expected.items():
        found = int(results[name].to_numpy()[is_tumbling].sum())
        if found != total:
            raise AssertionError(f"{model!r}: {name} is {found} in all, not {total}")


def thinned(batches: Batches, every: int) -> Batches:
    """Every ``every``-th tuple of the first batches, so that windows of a second can be checked."""
    return [b.take(np.arange(0, len(b), every)) for b in batches[:3]]


def report(label: str, figure: str, target: str = "") -> None:
    """Print one line: what was measured, the figure, and the target."""
    print(f"  {label:54} {figure:>16}   {target and 'target ' + target}".rstrip())


def bench_throughput(batches: Batches, model: WindowModel, label: str, target: int) -> None:
    """Count, sum and max over all tuples."""
    run = Run(partial(count_sum_max, model), batches)
    check_tuples(model, run)
    tuples = sum(map(len, batches))
    rate = tuples / best_of(REPEATS, run)[0] / 1e6
    report(label, f"{rate:.1f} M tuples/s", f">= {target}")


def bench_ratio(batches: Batches, few: WindowModel, many: WindowModel, has_end: bool) -> None:
    """The same number of windows, 100 times as long."""
    runs = [Run(partial(count_sum_max, model), batches, has_end) for model in (few, many)]
    rows = [len(run()) for run in runs]
    if rows[0] != rows[1]:
        raise AssertionError(f"the outputs differ: {rows}")
    short, long = best_of(REPEATS, *runs)
    label = f"{type(few).__name__}, {rows[0]:,} windows: length/slide 1000 to 10"
    report(label, f"{long / short:.2f}x", "<= 1.3")


def bench_keys(rng: np.random.Generator, values: NDArray[Any]) -> None:
    """How the cost grows with the number of keys."""
    models = {
        "time 1 s, tumbling": wr.TimeWindow("1 s"),
        "count 1000, 10": wr.CountWindow(1000, 10),
    }
    for what, model in models.items():
        for n in (1, 100, 100_000):
            run = Run(
                partial(count_sum_max, model),
                ordered_batches(rng.integers(0, n, len(values)), values),
            )
            check_tuples(model, run)
            seconds = best_of(REPEATS, run)[0]
            label = f"{what}, {n:,} key{'s' * (n > 1)}, {len(run()):,} windows"
            report(label, f"{seconds / len(values) * 1e9:.0f} ns per tuple")


def bench_skyline(rng: np.random.Generator) -> None:
    """Tumbling windows of 3,000 points with 6 dimensions, compared with NumPy."""
    windows, length, names = 10, 3_000, list("abcdef")
    points = rng.random((windows * length, len(names)))
    times = pa.array(np.arange(len(points)), pa.timestamp("us"))
    batch = pa.table({**{name: points[:, i] for i, name in enumerate(names)}, "t": times})
    model = wr.CountWindow(length)
    run = Run(lambda query: query.window(model).agg(front=wf.skyline(*names)), [batch])
    expected = points[broadcast_skyline(points[:length])]
    np.testing.assert_array_equal(
        [[point[name] for name in names] for point in run()["front"][0].as_py()], expected
    )
    ours, numpy = best_of(REPEATS, run, lambda: broadcast_skyline(points[:length]))
    label = f"skyline of {length:,} points of {len(names)} dimensions, vs NumPy"
    report(label, f"{numpy / ours * windows:.0f}x", ">= 20")


def bench_apply(batches: Batches) -> None:
    """The cost of one more window: finding its tuples, calling the function, making its row."""
    models = [wr.CountWindow(1000, slide) for slide in (10, 1000)]

    def measured(model: WindowModel, query: wr.Query) -> wr.Query:
        windowed = query.key_by("k").window(model)
        return windowed.apply(lambda w: {"n": len(w)}, returns="n bigint")

    runs = [Run(partial(measured, model), batches) for model in models]
    for model, run in zip(models, runs, strict=True):
        check_tuples(model, run)
    many, few = (len(run()) for run in runs)
    often, rarely = best_of(REPEATS, *runs)
    report(
        f"apply, each of {many - few:,} more windows",
        f"{(often - rarely) / (many - few) * 1e6:.2f} us",
        "< 5",
    )


def main() -> None:
    """Check and time the engine."""
    pa.set_cpu_count(1)
    rng = np.random.default_rng(1)
    keys, values = rng.integers(0, KEYS, TUPLES), rng.integers(0, 1000, TUPLES)
    integers = ordered_batches(keys, values)
    names = pa.array([f"symbol{i:04d}" for i in range(KEYS)])
    time, count = wr.TimeWindow("1 s", "10 ms"), wr.CountWindow(1000, 10)
    check_oracle(time, thinned(integers, 1_000))
    check_oracle(
        time, thinned(ordered_batches(keys[: 3 * BATCH], values[: 3 * BATCH], names), 1_000)
    )
    check_oracle(count, thinned(ordered_batches(keys[: 3 * BATCH] % 2, values), 1_000))

    print(
        f"{TUPLES:,} tuples in batches of {BATCH:,}, one core, best of {REPEATS}: count, sum, max"
    )
    bench_throughput(integers, time, f"time 1 s, 10 ms, {KEYS} integer keys", 60)
    bench_throughput(
        ordered_batches(keys, values, names), time, f"time 1 s, 10 ms, {KEYS} string keys", 15
    )
    bench_throughput(integers, count, f"count 1000, 10, {KEYS} integer keys", 30)
    bench_ratio(integers, wr.TimeWindow("100 ms", "10 ms"), wr.TimeWindow("10 s", "10 ms"), False)
    bench_ratio(integers, wr.CountWindow(100, 10), wr.CountWindow(10_000, 10), True)
    print(f"{TUPLES // 4:,} tuples, by number of keys")
    bench_keys(rng, values[: TUPLES // 4])
    print("other functions")
    bench_skyline(rng)
    bench_apply(integers[:2])


if __name__ == "__main__":
    main()
