"""Symbol statistics: what the last 500 trades of each symbol look like, every 50 trades.

The program computes the mean, the standard deviation, the exact 95th percentile, and the first,
highest, lowest and last price. Overlapping windows share the work.

    python examples/symbol_statistics.py
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

import windrow as wr
from windrow import functions as wf

TRADES = 20_000


def trades() -> pa.Table:
    """Numbered trades of four symbols; the price of each symbol is a random walk."""
    random = np.random.default_rng(7)
    symbol = random.integers(0, 4, TRADES)
    price = np.empty(TRADES)
    for s in range(4):
        own = symbol == s
        price[own] = 100 + np.cumsum(random.normal(0, 0.1, own.sum()))
    return pa.table(
        {
            "symbol": pa.array(["ACME", "CAME", "EMCA", "MACE"]).take(pa.array(symbol)),
            "number": np.arange(TRADES),
            "price": price.round(2),
        }
    )


def statistics(trades: DataFrame) -> wr.Query:
    """Statistics of each window; a symbol's trades are in the order of their numbers."""
    return (
        wr.stream(trades)
        .key_by("symbol")
        .order_by("number")
        .window(wr.CountWindow(500, slide=50))
        .agg(
            n=wf.count(),
            mean=wf.mean("price"),
            stddev=wf.stddev("price"),
            p95=wf.quantile("price", 0.95),
            bar=wf.ohlc("price"),
        )
        .ordered()
    )


def main() -> list[dict[str, object]]:
    """Print the first windows and return all of them."""
    spark = wr.local_spark()
    results = statistics(spark.createDataFrame(trades())).to_df()
    print("Each line describes the last 500 trades of a symbol; the next begins 50 trades later:")
    results.select("symbol", "window_id", "n", "mean", "stddev", "p95", "bar.*").show(5)
    return [row.asDict(recursive=True) for row in results.collect()]


if __name__ == "__main__":
    main()
