"""`make demo`: the main job, in process and on Spark."""

from __future__ import annotations

import sys
import time

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow import functions as wf

TUPLES = 1_000_000


def quotes() -> pa.Table:
    """A random walk of prices for three symbols, a quote every 5 ms or so."""
    random = np.random.default_rng(7)
    times = np.cumsum(random.integers(1, 10_000, TUPLES)) + 1_704_187_800_000_000
    return pa.table(
        {
            "symbol": pa.array(random.choice(["ACME", "EMCA", "MACE"], TUPLES)),
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "price": 100 + np.cumsum(random.normal(0, 0.05, TUPLES)),
        }
    )


def trend(data: object) -> wr.Query:
    """The last 1000 quotes of each symbol, every 500: how many, mean and 95th percentile."""
    keyed = wr.stream(data).key_by("symbol").event_time("ts", delay="1 second")
    windows = keyed.window(wr.CountWindow(1000, 500), partial="drop")
    return windows.agg(
        n=wf.count(), mean=wf.mean("price"), p95=wf.quantile("price", 0.95)
    ).ordered()


def timed(what: str, run: object) -> pa.Table:
    """Run, say how long it took, and return the results."""
    began = time.perf_counter()
    results: pa.Table = run()  # type: ignore[operator]
    seconds = time.perf_counter() - began
    print(f"{what:<24} {len(results)} windows in {seconds:.2f} s")
    return results


def main() -> int:
    """Run the query in process, then on Spark with several patterns, and compare."""
    table = quotes()
    print(f"{TUPLES:,} quotes of three symbols. The query:\n")
    trend(table).explain()
    print()
    timed("in process, compiling", trend(table).collect)
    expected = timed("in process", trend(table).collect)

    spark = wr.local_spark()
    df = spark.createDataFrame(table).cache()
    df.count()
    patterns = [wr.KeyFarm(2), wr.WinFarm(2), wr.PaneFarm(2, 1), wr.WinMapReduce(2, 1)]
    is_same = True
    for pattern in patterns:
        query = trend(df).using(pattern)
        found = timed(f"on Spark, {pattern.name}", query.to_df().toArrow)
        is_same &= _are_close(found, expected)
    trend(df).to_df().show(5)
    print("Every pattern gave the same results." if is_same else "The results differ!")
    spark.stop()
    return 0 if is_same else 1


def _are_close(found: pa.Table, expected: pa.Table) -> bool:
    """The same windows and counts, and floats that differ by rounding at most."""
    exact = ["symbol", "window_id", "window_start", "window_end", "n"]
    floats = ["mean", "p95"]
    return found.select(exact).to_pylist() == expected.select(exact).to_pylist() and all(
        np.allclose(found[c].to_numpy(), expected[c].to_numpy(), rtol=1e-9) for c in floats
    )


if __name__ == "__main__":
    sys.exit(main())
