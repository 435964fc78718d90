"""A stream that is stopped in the middle of its windows continues as if it had never been.

The windows are the last 100 rows of each sensor, every 50 rows. The first run ends after half of
the files, with windows half full; the second begins at its checkpoint. Together they give every
window once.

    python examples/continue_after_a_stop.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import windrow as wr
from windrow import functions as wf

SENSORS, ROWS, FILES = 3, 300, 4
START = np.datetime64("2026-01-05T09:30", "us").astype(np.int64)


def measurements() -> pa.Table:
    """One row per sensor and second."""
    second = np.arange(ROWS).repeat(SENSORS)
    return pa.table(
        {
            "sensor": np.tile(np.arange(SENSORS), ROWS),
            "ts": pa.array(START + second * 1_000_000, pa.timestamp("us", "UTC")),
            "value": np.sin(second / 20),
        }
    )


def run(folder: Path) -> None:
    """Process the files that are there and stop; the folder has the checkpoint and the results."""
    files = wr.scan_stream(wr.local_spark(), folder / "in")
    means = (
        files.key_by("sensor")
        .event_time("ts")
        .window(wr.CountWindow(100, slide=50))
        .agg(mean=wf.mean("value"))
        .to_df()
    )
    writer = means.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start(str(folder / "out")).awaitTermination()


def main() -> list[dict[str, object]]:
    """Run twice, print what each run has added, and return all windows."""
    folder, table = Path(tempfile.mkdtemp()), measurements()
    (folder / "in").mkdir()
    results = None
    for i in range(FILES):
        part = table.slice(i * len(table) // FILES, len(table) // FILES)
        pq.write_table(part, folder / "in" / f"{i}.parquet")
        if i % 2:
            run(folder)
            results = wr.local_spark().read.parquet(str(folder / "out"))
            print(f"after {i + 1} of {FILES} files there are {results.count()} windows")
    assert results is not None
    results.orderBy("sensor", "window_id").show(5)
    return [row.asDict() for row in results.collect()]


if __name__ == "__main__":
    main()
