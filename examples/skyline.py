"""Skyline: the packets that no other packet of the last second dominates.

Each packet is a point of six frequencies; a packet dominates another that it is no worse than in
any of them and better in one. Windows of 1 s slide by 10 ms, there is no key, and so the panes of
10 ms that windows share are spread over workers: most points fall out there already. This is the
spatial query of section VI.B of Mencagli et al., "Raising the parallel abstraction level for
streaming analytics applications" (IEEE Access 2019).

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
FREQUENCIES = ["f0", "f1", "f2", "f3", "f4", "f5"]


def packets() -> pa.Table:
    """Frequencies at random, a packet every 100 us."""
    random = np.random.default_rng(7)
    times = pa.array(np.arange(PACKETS) * 100, pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, **{name: random.random(PACKETS) for name in FREQUENCIES}})


def skylines(packets: DataFrame) -> wr.Query:
    """The skyline of each window, and of how many packets it is."""
    return (
        wr.stream(packets)
        .event_time("ts")
        .window(wr.TimeWindow("1 s", slide="10 ms"), open_windows="drop")
        .agg(n=wf.count(), front=wf.skyline(*FREQUENCIES))
        .using(wr.PaneFarm(2, 1, level=2))
        .ordered()
    )


def main() -> list[dict[str, object]]:
    """Print how many points the first skylines have; all skylines are returned."""
    spark = wr.local_spark()
    query = skylines(spark.createDataFrame(packets()))
    query.explain()
    results = query.to_df()
    results.select("window_start", "window_end", "n", F.size("front").alias("undominated")).show(5)
    return [row.asDict(recursive=True) for row in results.collect()]


if __name__ == "__main__":
    main()
