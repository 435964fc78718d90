"""Files as they appear, as rows on Spark: a stream of their names, which tasks open and read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.engine.datasets.folder import Folder
from windrow.engine.datasets.scan import Scan
from windrow.engine.datasets.shares import ToldFile, share_of
from windrow.engine.datasets.splits import Split
from windrow.spark.certain_files import CertainFiles
from windrow.spark.cores import cores_of
from windrow.spark.marks import with_sparks_watermark
from windrow.spark.slots import slots_in_order
from windrow.spark.splits import Handing, MapBatches, ScannedRows, handed

NAMES = {
    "path": "string",
    "modificationTime": "timestamp",
    "length": "bigint",
    "content": "binary",
}
"""What Spark tells about files of any format. The content is read only if it is asked for."""


@dataclass(frozen=True)
class FileRows(ScannedRows):
    """The rows of the files that appear in a folder.

    Spark's file source finds the files and keeps the names of those that it has given in the
    checkpoint, so every file is read once. Each task is told all files of a batch and reads its own
    share of them. There is one task per core: with small batches, a task costs more than its rows.
    """

    folder: Folder
    address: str
    """The folder as Spark knows it."""
    options: Mapping[str, str]
    """Options of Spark's file source, which say which files a batch has."""
    admits: CertainFiles | None = None
    """What looks at the files first, if they must be read as Spark's reader would."""
    delay: int | None = None
    """The delay of a watermark that the rows have; None if a query sets its own."""

    isStreaming = True

    def describe(self) -> str:
        """What is read, in words."""
        told = {name.lower(): value for name, value in self.options.items()}
        most = told.get("maxfilespertrigger")
        most = "" if most is None else f", at most {most} per batch"
        columns = self.scan.describe_columns()
        return f"files in {self.address}{most}: {columns}; tasks read with PyArrow"

    def mapInArrow(self, function: MapBatches, schema: str) -> DataFrame:
        """What the function makes of each task's rows; partitions are in order of arrival."""
        tasks = cores_of(self.sparkSession)
        slots = F.explode(F.array(*map(F.lit, slots_in_order(tasks)))).alias("slot")
        told = self._names().coalesce(1).select(slots, "path", "length", "changed")
        read = ReadShare(self.folder, self.scan, tasks, function, self.handing, self.admits)
        return told.repartition(tasks, "slot").mapInArrow(read, schema)

    def watermarked(self, packed: DataFrame, delay: int, side: int = 0) -> DataFrame:
        """What an intake has packed of the rows, with their watermark.

        It is that of the rows, or one with this delay, and set on the greatest time of the side.
        """
        greatest = F.col("greatest_right" if side else "greatest")
        own = delay if self.delay is None else self.delay
        # Without its column, Spark drops none of the rows.
        return with_sparks_watermark(packed, greatest, own).select(*packed.columns)

    def _names(self) -> DataFrame:
        """The files of a batch, with their sizes and the times of their last change."""
        reader = self.sparkSession.readStream.format("binaryFile")
        reader = reader.schema(", ".join(f"{name} {kind}" for name, kind in NAMES.items()))
        files = reader.options(**self.options).load(self.address)
        return files.select("path", "length", F.unix_millis("modificationTime").alias("changed"))


@dataclass(frozen=True)
class ReadShare:
    """Reads the share of a batch's files that is a task's own, and hands the rows to a function.

    Every task is told all files. It takes the oldest first.
    """

    folder: Folder
    scan: Scan
    tasks: int
    function: MapBatches
    handing: Handing | None = None
    admits: CertainFiles | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [row for batch in batches for row in batch.to_pylist()]
        rows.sort(key=lambda row: (row["changed"], row["path"]))
        return self.function(handed(self._splits(rows), self.handing))

    def _splits(self, rows: list[dict[str, Any]]) -> Iterator[Split]:
        if not rows:
            return
        number = slots_in_order(self.tasks).index(rows[0]["slot"])
        files = [
            ToldFile(self.folder.name_of(row["path"]), row["length"], row["changed"])
            for row in rows
        ]
        pieces = share_of(self.scan, self.folder, files, number, self.tasks)
        scan = self.scan
        if self.admits is not None:
            scan = self.admits.scan(scan, pieces, [file.name for file in files])
        yield Split(scan, tuple(pieces))
