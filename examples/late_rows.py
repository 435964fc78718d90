"""Late rows: which of them still count, and how to see those that were dropped.

Sensors send measurements up to five seconds late, but two of them take minutes. The stream waits
for two seconds. A late row counts as long as its window is open; otherwise it is dropped, and the
progress report of its batch says so.

    python examples/late_rows.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import windrow as wr
from windrow import functions as wf

BATCHES = [
    [(1, 20.0), (4, 20.5), (11, 21.0)],  # seconds and degrees
    [(8, 20.7), (22, 21.5), (31, 22.0)],  # 8 s is late by 1 s, but [0 s, 10 s) is open
    [(3, 99.0), (5, 99.0), (41, 22.5)],  # minutes late: their window has fired
    [(60, 23.0)],
]


def main() -> tuple[list[tuple[int, int, float]], int]:
    """Print and return the windows (end, rows, mean), and the number of rows that were dropped."""
    spark = wr.local_spark()
    folder = Path(tempfile.mkdtemp())
    measurements = spark.readStream.schema("seconds long, degrees double").parquet(str(folder))
    query = (
        wr.stream(measurements)
        .event_time("seconds", delay="2 s", unit="s")
        .window(wr.TimeWindow("10 s"))
        .agg(n=wf.count(), mean=wf.mean("degrees"))
    )
    stream = query.to_df().writeStream.format("memory").queryName("late_rows").start()
    dropped = 0
    for number, batch in enumerate(BATCHES):
        seconds, degrees = zip(*batch, strict=True)
        rows = pa.table({"seconds": pa.array(seconds, pa.int64()), "degrees": degrees})
        pq.write_table(rows, folder / f"{number}.parquet")
        seen = stream.lastProgress.batchId if stream.lastProgress else -1
        stream.processAllAvailable()
        for progress in stream.recentProgress:
            if progress.batchId > seen and progress.observedMetrics:
                dropped += progress.observedMetrics["windrow"].dropped
    stream.stop()
    windows = [
        (row.window_end.second + 60 * row.window_end.minute, row.n, round(row["mean"], 2))
        for row in spark.table("late_rows").orderBy("window_end").collect()
    ]
    for end, n, mean in windows:
        print(f"until {end:2} s: {n} rows, {mean} degrees")
    print(f"{dropped} rows came too late for their window and were dropped.")
    return windows, dropped


if __name__ == "__main__":
    main()
