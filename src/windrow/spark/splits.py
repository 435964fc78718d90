"""The splits of a dataset as rows on Spark: tasks are sent splits and read the rows themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from windrow.engine.datasets.scan import Scan
from windrow.engine.datasets.splits import Split
from windrow.spark.arrow_types import arrow_schema

MapBatches = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class Handing:
    """Makes the columns that Spark's reader would hand to Python of those that are read."""

    sources: tuple[str, ...]
    """The column that each is made of."""
    schema: pa.Schema

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        fields = [
            f.with_type(batch[source].type) if _is_encoded(batch[source], f.type) else f
            for source, f in zip(self.sources, self.schema, strict=True)
        ]
        columns = [
            batch[source] if batch[source].type == field.type else batch[source].cast(field.type)
            for source, field in zip(self.sources, fields, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


@dataclass(frozen=True)
class Given:
    """The columns of a DataFrame over files, as Spark's reader gives them."""

    sources: tuple[str, ...]
    """The column of the scan that each is."""
    schema: StructType

    def handing(self, spark: SparkSession) -> Handing:
        """What makes them, in tasks."""
        zone = spark.conf.get("spark.sql.session.timeZone")
        return Handing(self.sources, arrow_schema(self.schema, str(zone)))


@dataclass(frozen=True)
class ScannedRows(ABC):
    """The rows that a scan reads in tasks, as far as they are used like a DataFrame."""

    sparkSession: SparkSession
    scan: Scan
    given: Given | None = field(default=None, kw_only=True)
    """The columns if they are those of a DataFrame; None if they are those of the scan."""

    isStreaming: ClassVar[bool]

    @property
    def columns(self) -> list[str]:
        return list(self.scan.columns) if self.given is None else self.given.schema.names

    @property
    def schema(self) -> StructType:
        if self.given is not None:
            return self.given.schema
        return from_arrow_schema(self.scan.schema, prefer_timestamp_ntz=True)

    @property
    def handing(self) -> Handing | None:
        """What makes the columns of those of the scan, in tasks; None if they are the same."""
        return None if self.given is None else self.given.handing(self.sparkSession)

    @abstractmethod
    def describe(self) -> str:
        """What is read, in words."""

    @abstractmethod
    def mapInArrow(self, function: MapBatches, schema: str) -> DataFrame:
        """What the function makes of the rows that each task reads."""


@dataclass(frozen=True)
class SplitRows(ScannedRows):
    """The rows of a dataset, or of a DataFrame over files, whose splits are known."""

    splits: tuple[Split, ...]
    origin: DataFrame | None = None
    """The DataFrame whose rows they are; None if they are those of a dataset."""

    isStreaming = False

    def encoding(self, columns: Iterable[str]) -> SplitRows:
        """The same rows, with those of these columns given as codes that hold strings."""
        own = self.scan.columns if self.given is None else self.given.sources
        sources = dict(zip(self.columns, own, strict=True))
        scan = self.scan.encoding(sources[name] for name in columns)
        splits = (Split(scan, split.pieces) for split in self.splits)
        return replace(self, splits=tuple(splits)) if scan.encoded else self

    def describe(self) -> str:
        """What is read, in words."""
        n = len(self.splits)
        read = self.scan.describe([piece for split in self.splits for piece in split.pieces])
        return f"{read}; {n} task{'s' * (n != 1)} read{'s' * (n == 1)} with PyArrow"

    def mapInArrow(self, function: MapBatches, schema: str) -> DataFrame:
        """What the function makes of each split's rows, one task per split, in their order."""
        n = len(self.splits)
        numbers = self.sparkSession.range(0, n, 1, max(1, n))
        if self.origin is not None:
            # No row of it is read. But Spark sees which files the results come from: it refuses to
            # overwrite a table with them, and computes cached results anew once the files change.
            nothing = self.origin.where(F.lit(False)).select(F.lit(0).cast("bigint").alias("id"))
            numbers = numbers.unionAll(nothing)
        return numbers.mapInArrow(self.task(function), schema)

    def task(self, function: MapBatches) -> ReadSplits:
        """What the tasks run, given the numbers of their splits."""
        return ReadSplits(tuple(split.pack() for split in self.splits), function, self.handing)


@dataclass(frozen=True)
class ReadSplits:
    """Reads the splits whose numbers a task is given, and hands their rows to a function."""

    splits: tuple[bytes, ...]
    function: MapBatches
    handing: Handing | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
        splits = (Split.unpack(self.splits[number]) for number in numbers)
        return self.function(handed(splits, self.handing))


def handed(splits: Iterable[Split], handing: Handing | None) -> Iterator[pa.RecordBatch]:
    """The rows of splits, one after the other, as they are handed to a function."""
    batches = (batch for split in splits for batch in split.batches())
    return batches if handing is None else map(handing, batches)


def _is_encoded(column: pa.Array, kind: pa.DataType) -> bool:
    """Whether the column has codes of values of this type."""
    return pa.types.is_dictionary(column.type) and bool(column.type.value_type == kind)
