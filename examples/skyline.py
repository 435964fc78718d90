"""Skyline: the packets that no other packet of the last second dominates.

Each packet is a point with six frequencies. A packet dominates another if it is no worse in all of
them and better in one. Windows of 1 s slide by 10 ms. There is no key, so the panes of 10 ms that
windows share are spread over the workers, which drop most points before windows are computed.

This is the spatial query of Mencagli 2019, section VI.B (docs/papers.md), with random points
instead of packets from a network.

    python examples/skyline.py
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import windrow as wr
from windrow import functions as wf

PACKETS = 20_000
START = np.datetime64("2026-01-05T09:30", "us").astype(np.int64)
FREQUENCIES = ["f0", "f1", "f2", "f3", "f4", "f5"]


def packets() -> pa.Table:
    """Packets with random frequencies, one every 100 us."""
    random = np.random.default_rng(7)
    times = pa.array(START + np.arange(PACKETS) * 100, pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, **{name: random.random(PACKETS) for name in FREQUENCIES}})


def skylines(packets: DataFrame) -> wr.Query:
    """The skyline of each window, and the number of packets in the window."""
    return (
        wr.stream(packets)
        .event_time("ts")
        .window(wr.TimeWindow("1 s", slide="10 ms"), open_windows="drop")
        .agg(n=wf.count(), front=wf.skyline(*FREQUENCIES))
        .using(wr.PaneFarm(2, 1, level=2))
        .ordered()
    )


def main() -> list[dict[str, object]]:
    """Print the sizes of the first skylines and return all skylines."""
    spark = wr.local_spark()
    query = skylines(spark.createDataFrame(packets()))
    query.explain()
    print("\nCompare `undominated` with `n`, the number of packets: few are in a skyline.")
    results = query.to_df()
    results.select("window_start", "window_end", "n", F.size("front").alias("undominated")).show(5)
    return [row.asDict(recursive=True) for row in results.collect()]


if __name__ == "__main__":
    main()
