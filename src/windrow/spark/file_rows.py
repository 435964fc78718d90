"""Files as they appear, as rows on Spark: a stream of their names, which tasks open and read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.engine.datasets.folder import Folder
from windrow.engine.datasets.scan import Scan
from windrow.engine.datasets.splits import most_splits, splits_of
from windrow.spark.certain_files import CertainFiles
from windrow.spark.cores import cores_of
from windrow.spark.marks import with_sparks_watermark
from windrow.spark.slots import slots_in_order
from windrow.spark.splits import MapBatches, ReadPlanned, ScannedRows

NAMES = {
    "path": "string",
    "modificationTime": "timestamp",
    "length": "bigint",
    "content": "binary",
}
"""What Spark tells about files of any format. The content is read only if it is asked for."""
_PLANNED = "slot int, split binary"
_PLANNED_SCHEMA = pa.schema([("slot", pa.int32()), ("split", pa.binary())])


@dataclass(frozen=True)
class FileRows(ScannedRows):
    """The rows of the files that appear in a folder.

    Spark's file source finds the files and keeps the names of those that it has given in the
    checkpoint, so every file is read once. One task divides the files of a batch, the oldest first,
    into splits of equal size. Each split goes to a task that reads its rows.
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
        """What the function makes of each split's rows; partitions are in order of arrival."""
        cores = cores_of(self.sparkSession)
        names = self._names().coalesce(1)
        plan = PlanSplits(self.folder, self.scan, cores, self.admits)
        placed = names.mapInArrow(plan, _PLANNED).repartition(most_splits(cores), "slot")
        return placed.mapInArrow(ReadPlanned(function, self.handing), schema)

    def watermarked(self, packed: DataFrame, delay: int, side: int = 0) -> DataFrame:
        """What an intake has packed of the rows, with their watermark.

        It is that of the rows, or one with this delay, and set on the greatest time of the side.
        """
        greatest = F.col("greatest_right" if side else "greatest")
        own = delay if self.delay is None else self.delay
        # Without its column, Spark drops none of the rows.
        return with_sparks_watermark(packed, greatest, own).select(*packed.columns)

    def _names(self) -> DataFrame:
        """The files of a batch, with the times of their last change."""
        reader = self.sparkSession.readStream.format("binaryFile")
        reader = reader.schema(", ".join(f"{name} {kind}" for name, kind in NAMES.items()))
        files = reader.options(**self.options).load(self.address)
        return files.select(F.unix_micros("modificationTime").alias("changed"), "path")


@dataclass(frozen=True)
class PlanSplits:
    """Divides the files of a batch into splits, one for each partition behind it."""

    folder: Folder
    scan: Scan
    cores: int
    admits: CertainFiles | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [row for batch in batches for row in batch.to_pylist()]
        rows.sort(key=lambda row: (row["changed"], row["path"]))
        names = [self.folder.name_of(row["path"]) for row in rows]
        pieces = self.folder.pieces(names)
        scan = self.scan if self.admits is None else self.admits.scan(self.scan, pieces, names)
        slots = slots_in_order(most_splits(self.cores))
        splits = splits_of(scan, pieces, self.cores) if pieces else []
        # Behind the exchange, partitions are in the order of splits. A last one may be too many.
        slots += slots[-1:] * (len(splits) - len(slots))
        yield pa.record_batch(
            [
                pa.array(slots[: len(splits)], pa.int32()),
                pa.array([split.pack() for split in splits], pa.binary()),
            ],
            schema=_PLANNED_SCHEMA,
        )
