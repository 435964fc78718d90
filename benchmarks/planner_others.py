"""Other queries of ``bench_planner``: of the kinds that users write, over inputs of their own.

The planner's constants were not fitted to them. They say how it fares with queries that are new.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from benchmarks.bench_batch import steps_in
from windrow import functions as wf

KIND = "other"
_SECOND = 1_000_000
_KEYED: dict[str, Any] = {"keys": 1000, "rate": 1e6}


def made(spark: SparkSession, rows: int, key: str, *, apart: int = 1) -> DataFrame:
    """Rows so many microseconds apart, with keys by an expression over the hash ``h``."""
    return (
        spark.range(rows, numPartitions=4)
        .withColumn("h", F.xxhash64("id"))
        .selectExpr(
            f"{key} k",
            f"timestamp_micros(id * {apart}) t",
            "cast(pmod(shiftright(h, 20), 1000) as double) x",
            "id",
        )
    )


def hot(share: float, keys: int = 1000) -> str:
    """One key has this share of the rows."""
    least = round(share * 10_000)
    return f"if(pmod(shiftright(h, 32), 10000) < {least}, 0, pmod(h, {keys}))"


def busy(microseconds: float) -> Callable[[wr.Window], dict[str, float]]:
    """A function that takes so long for any window."""
    steps = steps_in(microseconds * 1e-6)

    def busy(window: wr.Window) -> dict[str, float]:
        for _ in range(steps):
            pass
        return {"r": float(window["x"].sum())}

    return busy


class Others:
    """Makes these queries, each with its hints and its number of rows."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder

    def five_keys_median(self, rows: int) -> Any:
        df = made(self.spark, rows, "pmod(h, 5)")
        windows = wr.stream(df).key_by("k").event_time("t")
        return windows.window(wr.TimeWindow(4000, 1000)).agg(r=wf.median("x"))

    def string_keys_tumbling_median(self, rows: int) -> Any:
        df = made(self.spark, rows, "concat('customer ', pmod(h, 100000))")
        windows = wr.stream(df).key_by("k").event_time("t")
        return windows.window(wr.TimeWindow(_SECOND)).agg(r=wf.median("x"))

    def sessions_of_a_hot_key(self, rows: int) -> Any:
        df = made(self.spark, rows, hot(0.16))
        windows = wr.stream(df).key_by("k").event_time("t")
        return windows.window(wr.SessionWindow(3900)).apply(busy(100), "r double")

    def delta_without_keys(self, rows: int) -> Any:
        df = made(self.spark, rows, "0").withColumn("km", F.col("id") / 100)
        windows = wr.stream(df).event_time("t").window(wr.DeltaWindow("km", 40, 10))
        return windows.agg(r=wf.max("x"))

    def landmark_of_many_aggregates(self, rows: int) -> Any:
        df = made(self.spark, rows, "pmod(h, 200)")
        windows = wr.stream(df).key_by("k").event_time("t")
        model = wr.LandmarkWindow(_SECOND // 2, _SECOND // 50)
        return windows.window(model).agg(n=wf.count(), r=wf.mean("x"), s=wf.stddev("x"))

    def top_k(self, rows: int) -> Any:
        windows = wr.stream(made(self.spark, rows, "pmod(h, 1000)")).key_by("k").event_time("t")
        return windows.window(wr.TimeWindow("200 ms", "50 ms")).agg(r=wf.top_k("x", 10))

    def count_distinct_of_few_keys(self, rows: int) -> Any:
        windows = wr.stream(made(self.spark, rows, "pmod(h, 3)")).key_by("k").event_time("t")
        return windows.window(wr.CountWindow(5000, 1000)).agg(r=wf.count_distinct("x"))

    def ohlc(self, rows: int) -> Any:
        df = made(self.spark, rows, "concat('symbol ', pmod(h, 4))")
        windows = wr.stream(df).key_by("k").event_time("t")
        return windows.window(wr.TimeWindow("5 ms", "1 ms")).agg(r=wf.ohlc("x"), v=wf.sum("x"))

    def several_with_a_quantile(self, rows: int) -> Any:
        windows = wr.stream(made(self.spark, rows, hot(0.5))).key_by("k").event_time("t")
        windows = windows.window(wr.TimeWindow("500 ms", "100 ms"))
        return windows.agg(n=wf.count(), r=wf.quantile("x", 0.99), m=wf.mean("x"), e=wf.last("x"))

    def collect(self, rows: int) -> Any:
        windows = wr.stream(made(self.spark, rows, "pmod(h, 1000)")).key_by("k").event_time("t")
        return windows.window(wr.CountWindow(100, 50)).agg(r=wf.collect("x"))

    def linear_fits_of_one_key(self, rows: int) -> Any:
        df = made(self.spark, rows, "0")
        windows = wr.stream(df).key_by("k").event_time("t").window(wr.TimeWindow(2000, 500))
        return windows.agg(fit=wf.linear_regression("x", "id"))

    def few_windows_of_1_ms(self, rows: int) -> Any:
        windows = wr.stream(made(self.spark, rows, "pmod(h, 3)")).key_by("k").event_time("t")
        return windows.window(wr.TimeWindow("2 ms", "1 ms")).apply(busy(1000), "r double")

    def fold_of_sessions(self, rows: int) -> Any:
        windows = wr.stream(made(self.spark, rows, hot(0.16))).key_by("k").event_time("t")
        windows = windows.window(wr.SessionWindow(3900))
        return windows.fold(lambda acc, row: max(acc, row["x"]), 0.0, "r double")

    def pandas_rows(self, rows: int) -> Any:
        numbers = np.arange(rows)
        frame = pd.DataFrame(
            {
                "k": numbers * 7919 % 50,
                "t": numbers.astype("datetime64[us]"),
                "x": (numbers % 1000).astype(float),
            }
        )
        windows = wr.stream(self.spark.createDataFrame(frame)).key_by("k").event_time("t")
        return windows.window(wr.CountWindow(400, 100)).agg(r=wf.mean("x"), s=wf.sum("x"))

    def parquet_filtered_with_columns(self, rows: int) -> Any:
        df = self.files("parquet", rows, hot(0.5)).where("x < 800 and id % 2 = 0")
        df = df.withColumn("k", F.concat(F.lit("user "), "k"))
        windows = (
            wr.stream(df).key_by("k").event_time("t").window(wr.TimeWindow("400 ms", "100 ms"))
        )
        return windows.apply(busy(200), "r double")

    def csv_of_a_hot_key(self, rows: int) -> Any:
        df = self.files("csv", rows, hot(0.6))
        windows = wr.stream(df).key_by("k").event_time("t").window(wr.CountWindow(200, 50))
        return windows.apply(busy(100), "r double")

    def csv_sparse_panes(self, rows: int) -> Any:
        df = self.files("csv", rows, "pmod(h, 1000)")
        windows = wr.stream(df).key_by("k").event_time("t").window(wr.TimeWindow("40 ms", "400 us"))
        return windows.agg(r=wf.sum("x"))

    def union_of_files(self, rows: int) -> Any:
        df = self.files("parquet", rows // 2, "0")
        later = df.withColumn("t", F.expr(f"t + interval '{rows} microseconds'"))
        windows = wr.stream(df.unionAll(later)).key_by("k").event_time("t")
        return windows.window(wr.TimeWindow(400, 100)).apply(busy(100), "r double")

    def joined_of_one_key(self, rows: int) -> Any:
        names = self.spark.range(10).selectExpr("id k", "concat('name ', id) name")
        df = made(self.spark, rows, "pmod(shiftright(h, 60), 1)").join(names, "k")
        windows = wr.stream(df).key_by("name").event_time("t").window(wr.TimeWindow(400, 100))
        return windows.apply(busy(100), "r double")

    def grouped(self, rows: int) -> Any:
        df = made(self.spark, rows, "pmod(h, 1000)")
        df = df.groupBy("k", F.window("t", "10 milliseconds").start.alias("t"))
        df = df.agg(F.sum("x").alias("x"))
        return (
            wr.stream(df)
            .key_by("k")
            .event_time("t")
            .window(wr.CountWindow(20, 5))
            .agg(r=wf.median("x"))
        )

    def repartitioned_without_keys(self, rows: int) -> Any:
        df = made(self.spark, rows, "0").repartition(4)
        windows = wr.stream(df).event_time("t").window(wr.TimeWindow(1000, 250))
        return windows.apply(busy(200), "r double")

    def last_rows_by_minute(self, rows: int) -> Any:
        windows = wr.stream(made(self.spark, rows, "pmod(h, 50)")).key_by("k").event_time("t")
        return windows.window(wr.SlideByTimeWindow(500, 5000)).agg(r=wf.median("x"))

    def stream_by_count_of_many_keys(self, rows: int) -> Any:
        df = self.stream(rows, "pmod(h, 20000)")
        windows = wr.stream(df).key_by("k").event_time("t").window(wr.CountWindow(20, 5))
        return windows.agg(r=wf.sum("x"))

    def stream_by_time_of_one_key(self, rows: int) -> Any:
        df = self.stream(rows, "0")
        windows = wr.stream(df).key_by("k").event_time("t").window(wr.TimeWindow(1200, 300))
        return windows.agg(r=wf.median("x"))

    def files(self, kind: str, rows: int, key: str) -> DataFrame:
        """Files of these rows, in order of time."""
        path = self.folder / f"{kind} {rows} {abs(hash(key))}"
        df = made(self.spark, rows, key)
        if not path.exists():
            sorted_ = df.repartitionByRange(4, "t").sortWithinPartitions("t")
            sorted_.write.format(kind).option("header", "true").save(str(path))
        if kind == "parquet":
            return self.spark.read.parquet(str(path))
        reader = self.spark.read.schema(df.schema).option("header", "true")
        return reader.format(kind).load(str(path))

    def stream(self, rows: int, key: str) -> DataFrame:
        """A stream of three files."""
        path = self.folder / f"stream {rows} {abs(hash(key))}"
        df = made(self.spark, rows, key, apart=3)
        if not path.exists():
            df.repartitionByRange(3, "t").sortWithinPartitions("t").write.parquet(str(path))
            for number, file in enumerate(sorted(path.glob("*.parquet"))):
                os.utime(file, (number, number))
        stream = self.spark.readStream.schema(df.schema)
        return stream.option("maxFilesPerTrigger", 1).parquet(str(path))


Made = tuple[Callable[[Others, int], Any], dict[str, Any], int]
_ONE: dict[str, Any] = {"keys": 1, "rate": 1e6}
OTHERS: dict[str, Made] = {
    f"{KIND}, {name}": made
    for name, made in {
        "5 keys, median": (Others.five_keys_median, {"keys": 5, "rate": 1e6}, 3_000_000),
        "100,000 keys of strings, tumbling median": (
            Others.string_keys_tumbling_median,
            {"keys": 100_000, "rate": 1e6},
            2_000_000,
        ),
        "sessions of a hot key, 100 us": (
            Others.sessions_of_a_hot_key,
            {**_KEYED, "skew": 0.16, "cost": "100 us"},
            700_000,
        ),
        "delta without keys": (Others.delta_without_keys, {"rate": 1e6}, 3_000_000),
        "landmark, many aggregates": (
            Others.landmark_of_many_aggregates,
            {"keys": 200, "rate": 1e6},
            3_000_000,
        ),
        "top_k": (Others.top_k, _KEYED, 2_000_000),
        "count_distinct of 3 keys": (
            Others.count_distinct_of_few_keys,
            {"keys": 3, "rate": 1e6},
            2_000_000,
        ),
        "ohlc of 4 symbols": (Others.ohlc, {"keys": 4, "rate": 1e6}, 3_000_000),
        "several and a quantile, 50 %": (
            Others.several_with_a_quantile,
            {**_KEYED, "skew": 0.5},
            3_000_000,
        ),
        "collect": (Others.collect, _KEYED, 2_000_000),
        "linear fits of one key": (Others.linear_fits_of_one_key, _ONE, 3_000_000),
        "few windows of 1 ms": (
            Others.few_windows_of_1_ms,
            {"keys": 3, "rate": 1e6, "cost": "1 ms"},
            800_000,
        ),
        "fold of sessions": (Others.fold_of_sessions, {**_KEYED, "skew": 0.16}, 500_000),
        "rows of pandas": (Others.pandas_rows, {"keys": 50, "rate": 1e6}, 1_000_000),
        "Parquet, filtered, with columns, 200 us": (
            Others.parquet_filtered_with_columns,
            {"keys": 1000, "rate": 4e5, "skew": 0.5, "cost": "200 us"},
            1_500_000,
        ),
        "CSV of a hot key, 100 us": (
            Others.csv_of_a_hot_key,
            {**_KEYED, "skew": 0.6, "cost": "100 us"},
            800_000,
        ),
        "CSV, sparse panes": (Others.csv_sparse_panes, _KEYED, 800_000),
        "union of files, 100 us": (
            Others.union_of_files,
            {**_ONE, "cost": "100 us"},
            1_600_000,
        ),
        "join, one key, 100 us": (
            Others.joined_of_one_key,
            {**_ONE, "cost": "100 us"},
            1_500_000,
        ),
        "groups": (Others.grouped, {"keys": 1000, "rate": 1e5}, 4_000_000),
        "repartitioned, no keys, 200 us": (
            Others.repartitioned_without_keys,
            {"rate": 1e6, "cost": "200 us"},
            2_000_000,
        ),
        "slide by time, median": (
            Others.last_rows_by_minute,
            {"keys": 50, "rate": 1e6},
            2_000_000,
        ),
        "stream by count of 20,000 keys": (
            Others.stream_by_count_of_many_keys,
            {"keys": 20_000, "rate": 1e6 / 3},
            1_500_000,
        ),
        "stream by time of one key": (
            Others.stream_by_time_of_one_key,
            {"keys": 1, "rate": 1e6 / 3},
            1_500_000,
        ),
    }.items()
}
"""How each query is made, what the planner may be told of it, and its rows."""
