"""Algotrader: where the price of each stock symbol is heading.

Every 100 quotes of a symbol, the program fits a parabola to the last 1000 mid prices with the
method of Levenberg and Marquardt, and follows it one second into the future.

It is modelled on the algotrader of Mencagli, Torquati, Lucattini, Cuomo and Aldinucci (Mencagli
2018 in docs/papers.md, section 5.1). The paper uses time-based and slide-by-tuple windows; this
program uses count windows of generated quotes.

    python examples/algotrader.py
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import windrow as wr
from windrow import functions as wf

QUOTES = 20_000
AHEAD = 1.0
"""Seconds from the window's last quote to the forecast."""


def quotes() -> pa.Table:
    """Bids and asks around prices that follow a slow wave, one quote per millisecond."""
    random = np.random.default_rng(7)
    seconds = np.arange(QUOTES) / 1000
    symbol = random.integers(0, 3, QUOTES)
    price = 100 * (symbol + 1) + 5 * np.sin(seconds / 5 + symbol)
    half_spread = random.uniform(0.01, 0.05, QUOTES)
    opening = np.datetime64("2026-01-05T09:30", "us").astype(np.int64)
    return pa.table(
        {
            "symbol": pa.array(["ACME", "EMCA", "MACE"]).take(pa.array(symbol)),
            "ts": pa.array(opening + np.arange(QUOTES) * 1000, pa.timestamp("us", "UTC")),
            "second": seconds,  # since the start: a fit needs small numbers
            "bid": price - half_spread,
            "ask": price + half_spread,
        }
    )


def forecasts(quotes: DataFrame) -> DataFrame:
    """The last price of each window, and the price expected one second later."""
    mid = ((F.col("bid") + F.col("ask")) / 2).alias("mid")
    windows = (
        wr.stream(quotes.withColumn("mid", mid))
        .key_by("symbol")
        .event_time("ts")
        .window(wr.CountWindow(1000, slide=100), open_windows="drop")
        .agg(
            last=wf.last("mid"),
            at=wf.last("second"),
            curve=wf.polynomial_fit("mid", "second", degree=2),
        )
    )
    then = F.col("at") + AHEAD
    curve = F.col("curve")
    expected = curve[0] + curve[1] * then + curve[2] * then * then
    return windows.ordered().to_df().withColumn("forecast", expected)


def main() -> list[dict[str, object]]:
    """Print the first forecasts and return all of them."""
    spark = wr.local_spark()
    results = forecasts(spark.createDataFrame(quotes()))
    print("`last` is the price at second `at`; `forecast` is the price expected one second later:")
    results.select("symbol", "window_id", "at", "last", "forecast").show(5)
    return [row.asDict() for row in results.collect()]


if __name__ == "__main__":
    main()
