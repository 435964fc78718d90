"""Orders to buy and to sell that nearly meet: a join of two streams without an equality.

A pair is an order to buy and an order to sell within two seconds of each other, whose prices differ
by at most one cent. Spark refuses such a join of streams.

    python examples/near_orders.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

import windrow as wr

ORDERS = 2000
START = np.datetime64("2026-01-05T09:30", "us").astype(np.int64)
SCHEMA = "ts timestamp, price double"


def orders(seed: int) -> pa.Table:
    """Orders of one side, a hundred per second."""
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "ts": pa.array(START + np.arange(ORDERS) * 10_000, pa.timestamp("us", "UTC")),
            "price": np.round(100 + random.normal(0, 1, ORDERS), 3),
        }
    )


def pairs(buys: DataFrame, sells: DataFrame) -> DataFrame:
    """Orders that nearly meet."""
    return wr.join(
        buys,
        sells,
        within="2 s",
        on=wr.band(price=0.01),
        time="ts",
        delay="1 s",
        prefixes=("buy_", "sell_"),
    ).to_df()


def main() -> list[dict[str, object]]:
    """Print the first pairs of two streams and return all of them."""
    spark = wr.local_spark()
    streams = []
    for side, seed in (("buys", 1), ("sells", 2)):
        folder = Path(tempfile.mkdtemp()) / side
        folder.mkdir()
        pq.write_table(orders(seed), folder / "orders.parquet")
        streams.append(spark.readStream.schema(SCHEMA).parquet(str(folder)))
    writer = pairs(*streams).writeStream.format("memory").queryName("near_orders")
    writer.trigger(availableNow=True).start().awaitTermination()
    results = spark.table("near_orders")
    print(f"{results.count()} pairs; the first of them:")
    results.orderBy("buy_ts", "sell_ts").show(5, truncate=False)
    return [row.asDict() for row in results.collect()]


if __name__ == "__main__":
    main()
