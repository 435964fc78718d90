"""Windows over windows on one stream: where the mean of a second has risen for ten seconds.

The first query gives the mean of every second. The second takes its results as rows: windows of ten
of them, and the slope of a line through them. Both run in one streaming query, and the watermark is
passed on.

    python examples/trend_of_trends.py
"""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

import windrow as wr
from windrow import functions as wf

ROWS = 20_000
START = np.datetime64("2026-01-05T09:30", "us").astype(np.int64)


def prices() -> pa.Table:
    """A hundred prices per second, on a wave of a minute."""
    random = np.random.default_rng(7)
    seconds = np.arange(ROWS) / 100
    return pa.table(
        {
            "ts": pa.array(START + (seconds * 1e6).astype(np.int64), pa.timestamp("us", "UTC")),
            "price": 100 + 5 * np.sin(seconds * 2 * np.pi / 60) + random.normal(0, 0.5, ROWS),
        }
    )


def slope(w: wr.Window) -> dict[str, object]:
    """The slope of a line through the means of a window."""
    return {"at": w["window_end"][-1], "slope": np.polyfit(np.arange(len(w)), w["mean"], 1)[0]}


def trends(prices: DataFrame) -> DataFrame:
    """The slope of ten means of a second, every second."""
    means = (
        wr.stream(prices)
        .event_time("ts", delay="1 s")
        .window(wr.TimeWindow("1 s"))
        .agg(mean=wf.mean("price"))
        .to_df(observation="means")
    )
    return (
        wr.stream(means)
        .event_time("window_end")
        .window(wr.CountWindow(10, slide=1))
        .apply(slope, returns="at timestamp, slope double")
        .to_df()
    )


def main() -> list[dict[str, object]]:
    """Print when the trend turns, and return the trends."""
    spark = wr.local_spark()
    folder = Path(tempfile.mkdtemp())
    pq.write_table(prices(), folder / "prices.parquet")
    arriving = spark.readStream.schema("ts timestamp, price double").parquet(str(folder))
    writer = trends(arriving).writeStream.format("memory").queryName("trend_of_trends")
    writer.trigger(availableNow=True).start().awaitTermination()
    rows = [r.asDict() for r in spark.table("trend_of_trends").orderBy("window_id").collect()]
    for before, after in pairwise(rows):
        if (before["slope"] > 0) != (after["slope"] > 0):
            print(f"{after['at']:%H:%M:%S}: prices {'rise' if after['slope'] > 0 else 'fall'}")
    return rows


if __name__ == "__main__":
    main()
