"""The cost of windows of unequal cost, and of keys of unequal frequency, on bounded DataFrames.

Run with ``make bench-skew``, or ``python -m benchmarks.bench_skew [part ...]``; the parts are
``unequal``, ``panes``, ``keys`` and ``few``. Each query's results are checked first. A wrong result
fails the benchmark; a missed target does not.

``unequal``: windows cost between 1 and 100 units, few of them much (Pareto). Each window tells when
it was computed, so that the time from the first to the last can be compared with perfect balance,
which is the sum of all divided by the number of cores. One key has the most expensive ones.

``panes``: the same of panes, which windows share, in random order and with every second pane among
the dear ones. Dealt to two workers in turn, one of them then gets all dear panes.

``keys``: one key has a share of all rows, and a window costs 60 us per row. It is compared with a
key farm, whose busiest worker says how much faster perfect balance would be: on two cores 1.5 times
if the share is a half and the hashes deal the other keys evenly. The target of 1.6 times can be
reached only if they do not.

``few``: the same of a key with half of the rows in three windows, so that two workers cannot have
as many each. The function is computed in pieces.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

import windrow as wr
from benchmarks.bench_kernels_ranges import best_of
from windrow.engine.columns.key_table import number_keys
from windrow.patterns import Pattern

CORES = 2
REPEATS = 3
UNIT = 400e-6
"""Seconds of work in the cheapest windows of unequal cost."""
SHARES = (0.01, 0.16, 0.5)
"""The shares of the rows that the frequent key has."""
BUSY = 60e-6
"""Seconds of work per row in the windows of the skewed keys."""


def busy(seconds: float) -> None:
    """Keep a core busy for so long."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def unequal(spark: SparkSession) -> None:
    """Tasks that free cores take, compared with as many tasks as cores."""
    n = 3000
    costs = np.sort(np.minimum(100, np.random.default_rng(3).pareto(1.1, n) + 1))[::-1]
    table = pa.table({"i": np.arange(n), "k": np.arange(n) // 500, "cost": costs})
    df = spark.createDataFrame(table.to_pandas())

    def compute(window: wr.Window) -> dict[str, float]:
        began = time.time()
        busy(UNIT * float(window["cost"].sum()))
        return {"i": int(window["i"][0]), "began": began, "ended": time.time()}

    query = wr.stream(df).key_by("k").event_time("i").window(wr.TimeWindow(1))
    query = query.apply(compute, "i bigint, began double, ended double")
    results = query.using(wr.WinFarm(CORES, workers="agnostic")).to_df

    def balance() -> float:
        rows = results().collect()
        if sorted(row.i for row in rows) != list(range(n)):
            raise AssertionError("windows are missing, or there are too many")
        perfect = sum(row.ended - row.began for row in rows) / CORES
        return float((max(row.ended for row in rows) - min(row.began for row in rows)) / perfect)

    compare("windows of unequal cost, a task per core", balance)


def compare(what: str, balance: Callable[[], float]) -> None:
    """Print how far a run is from perfect balance, with a task per core and on demand."""
    balance()
    on_demand = min(balance() for _ in range(REPEATS))
    with mock.patch("windrow.patterns.setting.TASKS_EACH", 1):
        in_turn = min(balance() for _ in range(REPEATS))
    print(f"  {what:<47} {in_turn:6.2f}x perfect balance")
    print(f"  {'the same on demand':<47} {on_demand:6.2f}x   target 1.15x")


def panes(spark: SparkSession) -> None:
    """Panes that free cores take, compared with panes that are dealt to as many workers in turn."""
    n = 3000
    draw = np.random.default_rng(4)
    costs = np.minimum(100, draw.pareto(1.1, n) + 1)
    cheap, dear = np.split(np.sort(costs), 2)
    alternating = np.column_stack([draw.permutation(dear), draw.permutation(cheap)]).ravel()

    def compute(pane: wr.Window) -> dict[str, float]:
        began = time.time()
        busy(UNIT * float(pane["cost"].sum()))
        return {"i": int(pane["i"][0]), "began": began, "ended": time.time()}

    def both(parts: list[Any]) -> dict[str, list[Any]]:
        return {name: [part[name] for part in parts] for name in ("i", "began", "ended")}

    orders = {"in random order": costs, "every second one dear": alternating}
    for order, cost in orders.items():
        table = pa.table({"i": np.arange(n), "cost": cost})
        df = spark.createDataFrame(table.to_pandas())
        query = (
            wr.stream(df)
            .event_time("i")
            .window(wr.TimeWindow(2, 1))
            .decompose(
                partial=compute,
                combine=both,
                partial_returns="i bigint, began double, ended double",
                returns="i array<bigint>, began array<double>, ended array<double>",
            )
        )
        results = query.using(wr.PaneFarm(CORES, 1, workers="agnostic")).to_df

        def balance(results: Callable[[], DataFrame] = results) -> float:
            found = {
                i: (began, ended)
                for row in results().collect()
                for i, began, ended in zip(row.i, row.began, row.ended, strict=True)
            }
            if sorted(found) != list(range(n)):
                raise AssertionError("panes are missing, or there are too many")
            began, ended = zip(*found.values(), strict=True)
            perfect = (sum(ended) - sum(began)) / CORES
            return float((max(ended) - min(began)) / perfect)

        compare(f"panes of unequal cost, {order}", balance)


def keys(spark: SparkSession) -> None:
    """A frequent key whose windows are shared, compared with a key farm."""
    n = 100_000
    draw = np.random.default_rng(5)
    for share in SHARES:
        is_hot = draw.random(n) < share
        key = np.where(is_hot, 0, draw.integers(1, 100, n))
        table = pa.table({"k": key, "t": np.arange(n) * 100, "x": draw.integers(0, 9, n)})
        df = spark.createDataFrame(table.to_pandas()).repartition(CORES).cache()
        df.count()
        wanted = Counter(zip(key.tolist(), (np.arange(n) // 10_000).tolist(), strict=True))

        def result(pattern: Pattern, df: DataFrame = df) -> DataFrame:
            def compute(window: wr.Window) -> dict[str, int]:
                busy(len(window) * BUSY)
                return {"n": len(window)}

            query = wr.stream(df).key_by("k").event_time("t").window(wr.TimeWindow("1 s"))
            return query.apply(compute, "n bigint").using(pattern).to_df()

        patterns = {
            "KeyFarm": wr.KeyFarm(CORES),
            "the key split": wr.KeyFarm(CORES, hot_keys=[0], hot=wr.WinFarm(CORES)),
            "the key split, on demand": wr.KeyFarm(CORES, hot_keys=[0]),
            "all keys on demand": wr.WinFarm(CORES, workers="agnostic"),
        }
        compare_with_key_farm(f"a key with {share:4.0%} of the rows", patterns, result, wanted, key)


def compare_with_key_farm(
    what: str,
    patterns: dict[str, Pattern],
    result: Callable[[Pattern], DataFrame],
    wanted: Counter[tuple[int, int]],
    key: NDArray[np.int64],
) -> None:
    """Check the results of all patterns, and print their speeds; the first is the key farm."""
    for pattern in patterns.values():
        found = {(r.k, r.window_id): r.n for r in result(pattern).collect()}
        if found != wanted:
            raise AssertionError(f"{pattern}: {len(found)} windows, {len(wanted)} expected")
    runs: list[Callable[[], object]] = [
        lambda p=p: result(p).write.format("noop").mode("overwrite").save()  # type: ignore[misc]
        for p in patterns.values()
    ]
    alone, *others = best_of(REPEATS, *runs)
    rows = np.bincount(number_keys([pa.chunked_array([key])], len(key), CORES), minlength=CORES)
    print(f"  {what}: perfect balance is", end=" ")
    print(f"{rows.max() / len(key) * CORES:.2f}x the speed of KeyFarm")
    for name, seconds in zip(patterns, [alone, *others], strict=True):
        print(f"    {name:<42} {seconds:6.2f} s {alone / seconds:6.2f}x")


def few(spark: SparkSession) -> None:
    """A frequent key with few windows, which are split into parts or panes."""
    n, windows = 120_000, 3
    draw = np.random.default_rng(6)
    key = np.where(draw.random(n) < 0.5, 0, draw.integers(1, 100, n))
    table = pa.table({"k": key, "t": np.arange(n) * 100})
    df = spark.createDataFrame(table.to_pandas()).repartition(CORES).cache()
    df.count()
    length = n // windows
    wanted = Counter(zip(key.tolist(), (np.arange(n) // length).tolist(), strict=True))

    def compute(piece: wr.Window) -> dict[str, int]:
        busy(len(piece) * BUSY)
        return {"n": len(piece)}

    def result(pattern: Pattern) -> DataFrame:
        query = wr.stream(df).key_by("k").event_time("t").window(wr.TimeWindow(length * 100))
        query = query.decompose(
            partial=compute,
            combine=lambda parts: {"n": sum(part["n"] for part in parts)},
            partial_returns="n bigint",
            returns="n bigint",
        )
        return query.using(pattern).to_df()

    splits = {
        "windows": wr.WinFarm(CORES),
        "windows, on demand": wr.WinFarm(CORES, workers="agnostic"),
        "parts": wr.WinMapReduce(CORES, 1),
        "panes": wr.PaneFarm(CORES, 1),
    }
    patterns: dict[str, Pattern] = {"KeyFarm": wr.KeyFarm(CORES)}
    for name, hot in splits.items():
        patterns[f"the key split into {name}"] = wr.KeyFarm(CORES, hot_keys=[0], hot=hot)
    patterns["all keys in parts"] = wr.WinMapReduce(CORES, 1)
    compare_with_key_farm(f"a key with {windows} windows", patterns, result, wanted, key)


PARTS = {"unequal": unequal, "panes": panes, "keys": keys, "few": few}


def main() -> None:
    chosen = sys.argv[1:] or list(PARTS)
    spark = wr.local_spark(cores=CORES)
    for name in chosen:
        print(name, flush=True)
        PARTS[name](spark)


if __name__ == "__main__":
    main()
