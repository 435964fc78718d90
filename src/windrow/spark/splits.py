"""The splits of a dataset as rows on Spark: tasks are sent splits and read the rows themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from windrow.engine.datasets.scan import Scan
from windrow.engine.datasets.splits import Split
from windrow.spark.arrow_types import arrow_schema
from windrow.spark.made_columns import Made
from windrow.spark.slots import slots_in_order

_MOST_TO_ALL = 1 << 20
"""Bytes of splits that all tasks are sent; if there are more, each is sent its own.

That costs an exchange, so it is for tables in memory and for very many files.
"""
MapBatches = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class Handing:
    """Makes the columns that Spark's reader would hand to Python of those that are read."""

    made: tuple[Made, ...]
    schema: pa.Schema

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        found = [made(batch[made.source]) for made in self.made]
        fields = [
            f.with_type(column.type) if _is_encoded(column, f.type) else f
            for column, f in zip(found, self.schema, strict=True)
        ]
        columns = [
            column if column.type == field.type else column.cast(field.type)
            for column, field in zip(found, fields, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


@dataclass(frozen=True)
class Given:
    """The columns of a DataFrame over files, as Spark's reader gives them."""

    made: tuple[Made, ...]
    """What each is made of."""
    schema: StructType

    @property
    def sources(self) -> tuple[str, ...]:
        """The column of the scan that each is made of."""
        return tuple(made.source for made in self.made)

    def describe(self) -> str:
        """What is computed, in words."""
        texts = dict.fromkeys(made.operations[-1].text for made in self.made if made.operations)
        return f", and {', '.join(texts)} of them" if texts else ""

    def handing(self, spark: SparkSession) -> Handing:
        """What makes them, in tasks."""
        zone = spark.conf.get("spark.sql.session.timeZone")
        return Handing(self.made, arrow_schema(self.schema, str(zone)))


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
        made = "" if self.given is None else self.given.describe()
        return f"{read}{made}; {n} task{'s' * (n != 1)} read{'s' * (n == 1)} with PyArrow"

    def mapInArrow(self, function: MapBatches, schema: str) -> DataFrame:
        """What the function makes of each split's rows, one task per split, in their order."""
        packed = [split.pack() for split in self.splits]
        if sum(map(len, packed)) > _MOST_TO_ALL:
            rows = self._with_origin(self._placed(packed), F.lit(0), F.lit(b""))
            placed = rows.repartition(len(packed), "slot")
            return placed.mapInArrow(ReadPlanned(function, self.handing), schema)
        n = len(self.splits)
        numbers = self.sparkSession.range(0, n, 1, max(1, n)).toDF("number")
        rows = self._with_origin(numbers, F.lit(0).cast("bigint"))
        return rows.mapInArrow(ReadSplits(tuple(packed), function, self.handing), schema)

    def _placed(self, packed: list[bytes]) -> DataFrame:
        """A row for each split, with a slot that puts it into a partition of its own."""
        slots = pa.array(slots_in_order(len(packed)), pa.int32())
        return self.sparkSession.createDataFrame(pa.table({"slot": slots, "split": packed}))

    def _with_origin(self, rows: DataFrame, *nothing: Column) -> DataFrame:
        """The rows, and none of those of the origin, in the form of these columns.

        So Spark sees which files the results come from: it refuses to overwrite a table with them,
        and computes cached results anew once the files change.
        """
        if self.origin is None:
            return rows
        return rows.unionAll(self.origin.where(F.lit(False)).select(*nothing))


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


@dataclass(frozen=True)
class ReadPlanned:
    """Reads the splits that a task is given, and hands their rows to a function."""

    function: MapBatches
    handing: Handing | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        packed = (split for batch in batches for split in batch.column(1).to_pylist())
        return self.function(handed(map(Split.unpack, packed), self.handing))


def handed(splits: Iterable[Split], handing: Handing | None) -> Iterator[pa.RecordBatch]:
    """The rows of splits, one after the other, as they are handed to a function."""
    batches = (batch for split in splits for batch in split.batches())
    return batches if handing is None else map(handing, batches)


def _is_encoded(column: pa.Array, kind: pa.DataType) -> bool:
    """Whether the column has codes of values of this type."""
    return pa.types.is_dictionary(column.type) and bool(column.type.value_type == kind)
