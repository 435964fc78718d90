"""`make demo`: the main job, in process and on Spark."""

from __future__ import annotations

import os
import sys
import time

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow import functions as wf

TUPLES = 20_000


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
    """The last 1000 quotes of each symbol, every 500: how many, their mean, their range."""
    keyed = wr.stream(data).key_by("symbol").event_time("ts", delay="1 second")
    windows = keyed.window(wr.CountWindow(1000, 500), partial="drop")
    functions = {"mean": wf.mean("price"), "low": wf.min("price"), "high": wf.max("price")}
    return windows.agg(n=wf.count(), **functions).ordered()


def main() -> None:
    """Run the query in process, then on Spark, and compare."""
    table = quotes()
    query = trend(table)
    query.explain()
    began = time.perf_counter()
    in_process = query.collect()
    print(f"\nIn process: {len(in_process)} windows in {time.perf_counter() - began:.2f} s")

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[*]").appName("windrow-demo")
    settings: dict[str, bool | float | int | str | None] = {
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
    }
    spark = builder.config(map=settings).getOrCreate()
    try:
        began = time.perf_counter()
        df = trend(spark.createDataFrame(table)).to_df()
        on_spark = df.toArrow()
        print(f"On Spark:   {len(on_spark)} windows in {time.perf_counter() - began:.2f} s")
        df.show(9)
        is_same = on_spark.to_pylist() == in_process.to_pylist()
        print("The same windows, the same results." if is_same else "The results differ!")
        sys.exit(0 if is_same else 1)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
