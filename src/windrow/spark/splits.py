"""The splits of a dataset as rows on Spark: tasks are sent splits and read the rows themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from windrow.engine.datasets.scan import Scan
from windrow.engine.datasets.splits import Split

MapBatches = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class ScannedRows(ABC):
    """The rows that a scan reads in tasks, as far as they are used like a DataFrame."""

    sparkSession: SparkSession
    scan: Scan

    isStreaming: ClassVar[bool]

    @property
    def columns(self) -> list[str]:
        return list(self.scan.columns)

    @property
    def schema(self) -> StructType:
        return from_arrow_schema(self.scan.schema, prefer_timestamp_ntz=True)

    @abstractmethod
    def describe(self) -> str:
        """What is read, in words."""

    @abstractmethod
    def mapInArrow(self, function: MapBatches, schema: str) -> DataFrame:
        """What the function makes of the rows that each task reads."""


@dataclass(frozen=True)
class SplitRows(ScannedRows):
    """The rows of a dataset, whose splits are known."""

    splits: tuple[Split, ...]

    isStreaming = False

    def describe(self) -> str:
        """What is read, in words."""
        n = len(self.splits)
        read = self.scan.describe([piece for split in self.splits for piece in split.pieces])
        return f"{read}; {n} task{'s' * (n != 1)} read{'s' * (n == 1)} with PyArrow"

    def mapInArrow(self, function: MapBatches, schema: str) -> DataFrame:
        """What the function makes of each split's rows, one task per split, in their order."""
        n = len(self.splits)
        numbers = self.sparkSession.range(0, n, 1, max(1, n))
        packed = tuple(split.pack() for split in self.splits)
        return numbers.mapInArrow(ReadSplits(packed, function), schema)


@dataclass(frozen=True)
class ReadSplits:
    """Reads the splits whose numbers a task is given, and hands their rows to a function."""

    splits: tuple[bytes, ...]
    function: MapBatches

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
        splits = (Split.unpack(self.splits[number]) for number in numbers)
        return self.function(batch for split in splits for batch in split.batches())
