"""Tuples that arrive on a stream: each batch a file, read one after the other."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors.exceptions.base import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery


class Arrivals:
    """A folder that batches arrive in; a batch may be of several files, so of several tasks."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self.folder, self.schema = folder, schema
        self.files = 0
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, rows: list[dict[str, Any]], files: int = 1) -> None:
        """A batch of tuples."""
        for i in range(files):
            part = pa.Table.from_pylist(rows[i::files], self.schema)
            # Spark sees what is not hidden, whole; files are taken by the times they bear.
            hidden = self.folder / f".{self.files}"
            pq.write_table(part, hidden)
            os.utime(hidden, (1000 + self.files, 1000 + self.files))
            hidden.rename(self.folder / f"{self.files:06}.parquet")
            self.files += 1

    def table(self) -> pa.Table:
        """All that has arrived."""
        files = sorted(self.folder.glob("*.parquet"))
        return pa.concat_tables(pq.read_table(file) for file in files)

    def read(self, spark: SparkSession, schema: str, files: int = 1) -> DataFrame:
        """The stream."""
        reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", files)
        return reader.parquet(str(self.folder))


def start(
    df: DataFrame, checkpoint: Path | str | None = None, at_once: bool = False
) -> StreamingQuery:
    """A streaming query into memory, whose name is the table's.

    It goes on with what will arrive, or, ``at_once``, ends with what has arrived.
    """
    writer = df.writeStream.format("memory").queryName(f"streamed_{uuid.uuid4().hex}")
    if checkpoint is not None:
        writer = writer.option("checkpointLocation", str(checkpoint))
    return writer.trigger(availableNow=True).start() if at_once else writer.start()


def results_of(query: StreamingQuery, spark: SparkSession) -> DataFrame:
    """What a streaming query has given so far."""
    return spark.table(query.name)


def streamed(df: DataFrame) -> tuple[DataFrame, int]:
    """All that a stream gives of what has arrived, and how many tuples were dropped."""
    query = finished(lambda: start(df, at_once=True))
    return results_of(query, df.sparkSession), dropped(query)


def finished(begin: Callable[[], StreamingQuery]) -> StreamingQuery:
    """A streaming query that has come to its end.

    Spark gives a Python process it plans with ten seconds to start, which on a busy machine may
    take longer: then it is started again, twice at most.
    """
    for attempt in range(3):
        query = begin()
        try:
            query.awaitTermination()
        except StreamingQueryException as e:
            if attempt == 2 or "Python worker failed to connect back" not in str(e):
                raise
        else:
            break
    return query


def dropped(query: StreamingQuery, metrics: str = "windrow") -> int:
    """The tuples dropped in all batches."""
    found = [p.observedMetrics[metrics] for p in query.recentProgress if p.observedMetrics]
    # Spark Connect tells the values and their schema in place of the row.
    return sum(row["dropped"] if "dropped" in row else row["values"][0] for row in found)
