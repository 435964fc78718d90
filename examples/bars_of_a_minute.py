"""A stream of trades as bars: open, high, low, close and volume of each symbol and minute.

`foreachBatch` is given the bars that each micro-batch has completed: a place for any sink.

    python examples/bars_of_a_minute.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

import windrow as wr
from windrow import functions as wf

SYMBOLS = ("ACME", "EMCA")
TRADES, FILES = 6000, 3
START = np.datetime64("2026-01-05T09:30", "us").astype(np.int64)


def trades() -> pa.Table:
    """Ten trades per second."""
    random = np.random.default_rng(7)
    return pa.table(
        {
            "symbol": pa.array(SYMBOLS).take(pa.array(random.integers(0, 2, TRADES))),
            "ts": pa.array(START + np.arange(TRADES) * 100_000, pa.timestamp("us", "UTC")),
            "price": np.round(100 + random.normal(0, 0.1, TRADES).cumsum(), 2),
            "size": random.integers(1, 100, TRADES),
        }
    )


def bars(trades: DataFrame) -> DataFrame:
    """The bars of a stream, or of bounded trades."""
    return (
        wr.stream(trades)
        .key_by("symbol")
        .event_time("ts", delay="1 s")
        .window(wr.TimeWindow("1 minute"))
        .agg(bar=wf.ohlc("price"), volume=wf.sum("size"))
        .to_df()
        .selectExpr("symbol", "window_start as minute", "bar.*", "volume")
    )


def main() -> list[dict[str, object]]:
    """Print the bars as they come, and return all of them."""
    spark = wr.local_spark()
    folder = Path(tempfile.mkdtemp())
    for i in range(FILES):
        part = trades().slice(i * TRADES // FILES, TRADES // FILES)
        pq.write_table(part, folder / f"{i}.parquet")
    stream = spark.readStream.schema("symbol string, ts timestamp, price double, size long")
    found: list[dict[str, object]] = []

    def show(batch: DataFrame, number: int) -> None:
        rows = [row.asDict() for row in batch.orderBy("minute", "symbol").collect()]
        found.extend(rows)
        for row in rows:
            print(f"batch {number}:", *row.values())

    arriving = stream.option("maxFilesPerTrigger", 1).parquet(str(folder))
    query = bars(arriving).writeStream.foreachBatch(show).trigger(availableNow=True).start()
    query.awaitTermination()
    print("The last minute of each symbol is still open: no row has come to close it.")
    return found


if __name__ == "__main__":
    main()
