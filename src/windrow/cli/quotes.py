"""The demo's stream: quotes of four symbols, out of order, and the windows over them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from windrow import functions as wf

SYMBOLS = {"ACME": 4, "CAME": 3, "EMCA": 2, "MACE": 1}
"""How many of ten quotes belong to each symbol, on average."""
LENGTH, SLIDE = 1000, 100
LOW, HIGH = 0.05, 0.95
DISORDER, DELAY = 400_000, 500_000
"""Most quotes come at most DISORDER microseconds late, which DELAY allows for ..."""
STRAY, STRAY_DISORDER = 2000, 60_000_000
"""... but one in STRAY quotes comes so late that it is dropped."""


def live_quotes(spark: SparkSession, rows_per_second: int, began: int) -> DataFrame:
    """An endless stream of quotes, numbered from 0, from Spark's rate source."""
    rate = spark.readStream.format("rate").option("rowsPerSecond", rows_per_second).load()
    return _quotes(rate.select(F.col("value").alias("number")), rows_per_second, began)


def first_quotes(spark: SparkSession, rows: int, rows_per_second: int, began: int) -> DataFrame:
    """The first quotes of a live stream again, in order of arrival."""
    return _quotes(spark.range(rows).toDF("number"), rows_per_second, began)


def windows(quotes: object) -> wr.Query:
    """Price statistics of the last 1000 quotes of each symbol, every 100 quotes."""
    return (
        wr.stream(quotes)
        .key_by("symbol")
        .event_time("ts", delay=DELAY)
        .order_by("number")
        .window(wr.CountWindow(LENGTH, SLIDE))
        .agg(
            n=wf.count(),
            mean=wf.mean("price"),
            low=wf.quantile("price", LOW),
            high=wf.quantile("price", HIGH),
            bar=wf.ohlc("price"),
            at=wf.max("ts"),
        )
    )


def compile_kernels() -> None:
    """Run the query in process, so that its compiled kernels are cached on disk."""
    numbers = np.arange(2 * LENGTH)
    columns = {
        "symbol": np.full(len(numbers), "ACME"),
        "number": numbers,
        "ts": pa.array(numbers, pa.timestamp("us", "UTC")),
        "price": numbers / 7,
    }
    windows(pa.table(columns)).collect()


def _quotes(numbers: DataFrame, rows_per_second: int, began: int) -> DataFrame:
    """The quotes with these numbers; each depends on its number alone."""
    number = F.col("number")
    draw = F.pmod(F.hash(number), F.lit(10)).cast("int")
    names = F.array(*(F.lit(name) for name, share in SYMBOLS.items() for _ in range(share)))
    late = F.when(number % STRAY == STRAY - 1, STRAY_DISORDER).otherwise(
        F.pmod(F.xxhash64(number), F.lit(DISORDER))
    )
    second = number / rows_per_second
    symbol = F.element_at(names, draw + 1)
    return numbers.select(
        symbol.alias("symbol"),
        "number",
        F.timestamp_micros(began + F.floor(second * 1_000_000) - late).alias("ts"),
        _price(second, F.hash(symbol) % 100, number).alias("price"),
    )


def _price(second: Column, seed: Column, number: Column) -> Column:
    """A sum of waves, which looks like a random walk, plus noise, in cents."""
    waves = [0.6**k * F.sin(0.25 * 1.9**k * second + seed * (k + 1)) for k in range(6)]
    noise = F.pmod(F.xxhash64(number, F.lit("noise")), F.lit(1000)) / 1600
    return F.floor(100 * (100 + sum(waves, F.lit(0.0)) + noise)) / 100
