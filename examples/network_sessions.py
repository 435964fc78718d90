"""Network sessions: how much each host sent before it fell silent for half a minute.

Flow records come in no particular order. A session of a host ends after 30 s without a flow. The
program computes the flows, bytes and packets of each session, and the time from its first flow to
its last.

    python examples/network_sessions.py
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import windrow as wr
from windrow import functions as wf

HOSTS, BURSTS, FLOWS = 20, 5, 40
START = np.datetime64("2026-01-05T09:30", "us").astype(np.int64)


def flows() -> pa.Table:
    """Hosts that send bursts of flows, about one per second, and then nothing for minutes."""
    random = np.random.default_rng(7)
    pause = random.uniform(120, 600, (HOSTS, BURSTS, 1))
    steps = random.exponential(1.0, (HOSTS, BURSTS, FLOWS)).clip(max=25)
    steps[:, :, :1] += pause
    seconds = steps.reshape(HOSTS, -1).cumsum(axis=1).ravel()
    hosts = np.repeat(np.arange(HOSTS), BURSTS * FLOWS)
    packets = random.integers(1, 200, len(seconds))
    table = pa.table(
        {
            "host": pa.array([f"10.0.0.{host}" for host in hosts]),
            "ts": pa.array(START + (seconds * 1e6).astype(np.int64), pa.timestamp("us", "UTC")),
            "packets": packets,
            "bytes": packets * random.integers(64, 1500, len(seconds)),
        }
    )
    return table.take(random.permutation(len(table)))


def sessions(flows: DataFrame) -> DataFrame:
    """The sessions of each host."""
    query = (
        wr.stream(flows)
        .key_by("host")
        .event_time("ts")
        .window(wr.SessionWindow("30 s"))
        .agg(
            flows=wf.count(),
            bytes=wf.sum("bytes"),
            packets=wf.sum("packets"),
            first=wf.min("ts"),
            last=wf.max("ts"),
        )
    )
    duration = F.timestamp_diff("MILLISECOND", "first", "last") / 1000
    return query.ordered().to_df().withColumn("seconds", duration)


def main() -> list[dict[str, object]]:
    """Print the first sessions and return all of them."""
    spark = wr.local_spark()
    results = sessions(spark.createDataFrame(flows()))
    print(
        f"Every host has {BURSTS} sessions of {FLOWS} flows: the pauses between them end a session."
    )
    results.select("host", "window_id", "flows", "bytes", "packets", "seconds").show(5)
    return [row.asDict() for row in results.collect()]


if __name__ == "__main__":
    main()
