"""What a vehicle used over the last five kilometres, at every kilometre that it drives.

The windows depend on the odometer, not on time or on the number of rows: Spark has no such windows,
and none on streams. Vehicles stand still, drive slowly and drive fast.

    python examples/every_kilometre.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

import windrow as wr

VEHICLES, SECONDS, FILES = 3, 1800, 2
START = np.datetime64("2026-01-05T09:30", "us").astype(np.int64)


def positions() -> pa.Table:
    """One row per vehicle and second."""
    random = np.random.default_rng(7)
    speed = random.choice([0.0, 0.01, 0.03], (SECONDS // 60, VEHICLES)).repeat(60, axis=0)
    second = np.arange(SECONDS).repeat(VEHICLES)
    return pa.table(
        {
            "vehicle": np.tile(np.arange(VEHICLES), SECONDS),
            "ts": pa.array(START + second * 1_000_000, pa.timestamp("us", "UTC")),
            "km": speed.cumsum(axis=0).round(3).ravel(),
            "litres": (0.0005 + speed * 0.08).ravel(),
        }
    )


def per_100_km(w: wr.Window) -> dict[str, float]:
    """The consumption of a window."""
    return {"consumption": 100 * float(w["litres"].sum()) / 5}


def consumption(positions: DataFrame) -> DataFrame:
    """Litres per 100 km over the last five kilometres, at every kilometre."""
    return (
        wr.stream(positions)
        .key_by("vehicle")
        .event_time("ts", delay="5 s")
        .window(wr.DeltaWindow("km", length=5, slide=1))
        .apply(per_100_km, returns="consumption double")
        .to_df()
    )


def main() -> list[dict[str, object]]:
    """Print the first windows of a stream and return all of them."""
    spark = wr.local_spark()
    folder, table = Path(tempfile.mkdtemp()), positions()
    for i in range(FILES):
        part = table.slice(i * len(table) // FILES, len(table) // FILES)
        pq.write_table(part, folder / f"{i}.parquet")
    schema = "vehicle long, ts timestamp, km double, litres double"
    arriving = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    writer = consumption(arriving).writeStream.format("memory").queryName("every_kilometre")
    writer.trigger(availableNow=True).start().awaitTermination()
    results = spark.table("every_kilometre").orderBy("vehicle", "window_id")
    print("`window_end` is what the odometer showed; the first windows are shorter than 5 km:")
    results.show(6)
    return [row.asDict() for row in results.collect()]


if __name__ == "__main__":
    main()
