"""Files as they appear, as rows on Spark: a stream of their names, which tasks open and read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.engine.datasets.folder import Folder
from windrow.engine.datasets.scan import Scan
from windrow.engine.datasets.splits import Split, most_splits, splits_of
from windrow.spark.cores import cores_of
from windrow.spark.slots import slots_in_order
from windrow.spark.splits import MapBatches, ScannedRows

_NAMES = "path string, modificationTime timestamp, length bigint, content binary"
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
    most_files: int | None
    """Files per batch."""

    isStreaming = True

    def describe(self) -> str:
        """What is read, in words."""
        most = "" if self.most_files is None else f", at most {self.most_files} per batch"
        columns = self.scan.describe_columns()
        return f"files in {self.address}{most}: {columns}; tasks read with PyArrow"

    def mapInArrow(self, function: MapBatches, schema: str) -> DataFrame:
        """What the function makes of each split's rows; partitions are in order of arrival."""
        cores = cores_of(self.sparkSession)
        names = self._names().coalesce(1)
        splits = names.mapInArrow(PlanSplits(self.folder, self.scan, cores), _PLANNED)
        placed = splits.repartition(most_splits(cores), "slot")
        return placed.mapInArrow(ReadPlanned(function), schema)

    def _names(self) -> DataFrame:
        """The files of a batch, with the times of their last change."""
        reader = self.sparkSession.readStream.format("binaryFile").schema(_NAMES)
        reader = reader.option("recursiveFileLookup", True)
        if self.most_files is not None:
            reader = reader.option("maxFilesPerTrigger", self.most_files)
        files = reader.load(self.address)
        return files.select(F.unix_micros("modificationTime").alias("changed"), "path")


@dataclass(frozen=True)
class PlanSplits:
    """Divides the files of a batch into splits, one for each partition behind it."""

    folder: Folder
    scan: Scan
    cores: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [row for batch in batches for row in batch.to_pylist()]
        rows.sort(key=lambda row: (row["changed"], row["path"]))
        pieces = self.folder.pieces(self.folder.name_of(row["path"]) for row in rows)
        slots = slots_in_order(most_splits(self.cores))
        splits = splits_of(self.scan, pieces, self.cores) if pieces else []
        # Behind the exchange, partitions are in the order of splits. A last one may be too many.
        slots += slots[-1:] * (len(splits) - len(slots))
        yield pa.record_batch(
            [
                pa.array(slots[: len(splits)], pa.int32()),
                pa.array([split.pack() for split in splits], pa.binary()),
            ],
            schema=_PLANNED_SCHEMA,
        )


@dataclass(frozen=True)
class ReadPlanned:
    """Reads the splits that a task is given, and hands their rows to a function."""

    function: MapBatches

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        packed = (split for batch in batches for split in batch.column(1).to_pylist())
        splits = map(Split.unpack, packed)
        return self.function(batch for split in splits for batch in split.batches())
