"""Plain scans: DataFrames whose rows PyArrow certainly reads as Spark's reader would.

A plain scan is a projection of Parquet files, maybe with filters that PyArrow computes exactly.
Spark's plan tells what it is, and the footers of the files tell whether PyArrow reads their columns
the same way. Whatever is not certain stays with Spark's reader.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from windrow.core.errors import WindrowError
from windrow.engine.columns.ddl import type_name
from windrow.engine.datasets.footers import Wanted, int96_of_certain
from windrow.engine.datasets.pieces import FilePiece, pieces_of
from windrow.engine.datasets.scan import Scan
from windrow.engine.datasets.splits import splits_of
from windrow.spark.arrow_types import arrow_type
from windrow.spark.cores import cores_of
from windrow.spark.made_columns import Made
from windrow.spark.master import is_connect
from windrow.spark.plain_filters import FilterTranslator, NotPlain, all_of, items
from windrow.spark.relation_files import dataset_of
from windrow.spark.rows import column
from windrow.spark.scan_plans import ScanPlan, check_chain
from windrow.spark.splits import Given, SplitRows

_PACKAGE = "org.apache.spark.sql.execution.datasources."
_CLASSES = {
    "relation": "HadoopFsRelation",
    "location": "InMemoryFileIndex",
    "fileFormat": "parquet.ParquetFileFormat",
}
_HARMLESS = frozenset(["path", "paths", "basepath", "mergeschema", "recursivefilelookup"])
"""Options of Spark's reader that say which files and columns there are, and nothing else."""
_NEEDED_SETTINGS = {
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.int96TimestampConversion": "false",
    "spark.sql.parquet.fieldId.read.enabled": "false",
}
_CALENDARS = (
    "spark.sql.parquet.datetimeRebaseModeInRead",
    "spark.sql.parquet.int96RebaseModeInRead",
)
_ENCRYPTION = "parquet.crypto.factory.class"
_HARMLESS_METADATA = frozenset(["comment"])


def plain_scan(df: DataFrame, names: list[str]) -> SplitRows | str:
    """The rows of these columns as PyArrow reads them; or why they are left to Spark's reader."""
    spark = df.sparkSession
    if is_connect(spark):
        return "Spark Connect does not show the plan"
    try:
        check_chain(df._jdf.queryExecution().analyzed())
        # The DataFrame's own plan is left alone: once made, it would not see a later cache().
        selected = df.select(*map(column, names or [narrowest(df.schema)]))
        plan = ScanPlan.of(selected._jdf.queryExecution().optimizedPlan())
        _check_relation(plan.relation)
        check_settings(spark)
        return _rows(plan, selected)
    except NotPlain as e:
        return str(e)


def _check_relation(node: Any) -> None:
    """Raise an answer unless this is a folder or list of Parquet files."""
    if node.isStreaming() or node.catalogTable().isDefined():
        raise NotPlain("the rows of a table are Spark's")
    relation = node.relation()
    for part, expected in _CLASSES.items():
        found = relation if part == "relation" else getattr(relation, part)()
        name: str = found.getClass().getName()
        if name != _PACKAGE + expected:
            raise NotPlain(f"the files are read by {name.rsplit('.', 1)[-1]}")
    if relation.bucketSpec().isDefined():
        raise NotPlain("the files are in buckets")
    for option in items(relation.options().keySet().toSeq()):
        if option.lower() not in _HARMLESS:
            raise NotPlain(f"the reader has the option {option!r}")


def check_settings(spark: SparkSession) -> None:
    for name, needed in _NEEDED_SETTINGS.items():
        if spark.conf.get(name, needed) != needed:
            raise NotPlain(f"{name} is {spark.conf.get(name)}")
    if spark._jsparkSession.sessionState().newHadoopConf().get(_ENCRYPTION) is not None:
        raise NotPlain("Parquet files may be encrypted")


def is_calendar_kept(spark: SparkSession) -> bool:
    """Whether Spark's reader takes dates as they are where a file does not tell the calendar."""
    return all(spark.conf.get(name) == "CORRECTED" for name in _CALENDARS)


def _rows(plan: ScanPlan, selected: DataFrame) -> SplitRows:
    spark = selected.sparkSession
    relation = plan.relation.relation()
    of_files, of_folders = (
        StructType.fromJson(json.loads(schema.json()))
        for schema in (relation.dataSchema(), relation.partitionSchema())
    )
    read = columns_read(plan, of_files, of_folders)
    declared, condition = read.declared, read.condition
    folders = frozenset(of_folders.names)
    dataset = dataset_of(relation.location(), declared, folders & set(read.names))
    try:
        pieces = pieces_of(dataset if condition is None else dataset.filter(condition))
    except WindrowError as e:
        raise NotPlain(f"{e.rule}: {e.got}") from e
    wanted = Wanted(
        schema=pa.schema([declared.field(name) for name in read.names]),
        of_folders=folders,
        is_calendar_kept=is_calendar_kept(spark),
        is_filtered=condition is not None,
    )
    int96 = int96_of_certain([p for p in pieces if isinstance(p, FilePiece)], wanted)
    if isinstance(int96, str):
        raise NotPlain(int96)
    scan = Scan(declared, read.sources, condition).with_int96(int96)
    if condition is not None and int96 & read.of_filters:
        again = FilterTranslator(plan.names, scan.declared)
        scan = replace(scan, filter=all_of([again.translated(c) for c in plan.conditions]))
    splits = tuple(splits_of(scan, pieces, cores_of(spark)))
    given = Given(read.given, selected.schema)
    return SplitRows(spark, scan, splits, selected, given=given)


@dataclass(frozen=True)
class ColumnsRead:
    """The columns that a plan reads of its files, and its conditions as a filter."""

    declared: pa.Schema
    given: tuple[Made, ...]
    of_filters: set[str]
    condition: ds.Expression | None

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that what is given is made of."""
        return tuple(dict.fromkeys(made.source for made in self.given))

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys([*self.sources, *self.of_filters]))


def columns_read(plan: ScanPlan, of_files: StructType, of_folders: StructType) -> ColumnsRead:
    """What a plan reads; raises if a column or a condition is not certain."""
    declared = _declared_columns(of_files, of_folders)
    filters = FilterTranslator(plan.names, declared)
    sources = [made.source for made in plan.given]
    _check_columns(sources, of_files, of_folders, declared)
    condition = all_of([filters.translated(c) for c in plan.conditions])
    read = ColumnsRead(declared, tuple(plan.given), filters.columns, condition)
    _check_columns(read.names, of_files, of_folders, declared)
    return read


def _declared_columns(of_files: StructType, of_folders: StructType) -> pa.Schema:
    """The columns that Arrow has types for; a folder's column hides a file's of that name."""
    found: dict[str, pa.DataType] = {}
    for one in (*of_files.fields, *of_folders.fields):
        try:
            kind = arrow_type(one.dataType, "UTC")
            if type_name(kind) == one.dataType.simpleString():
                found[one.name] = kind
        except (PySparkException, WindrowError, TypeError):
            continue
    return pa.schema(found.items())


def _check_columns(
    names: list[str], of_files: StructType, of_folders: StructType, declared: pa.Schema
) -> None:
    known = {one.name: one for one in (*of_files.fields, *of_folders.fields)}
    for name in names:
        if name not in known:
            raise NotPlain(f"column {name!r} is not in the files")
        if "." in name or name.startswith("_tmp_metadata"):
            raise NotPlain(f"column {name!r} has a name that PyArrow could take for another's")
        if name not in declared.names:
            kind = known[name].dataType.simpleString()
            raise NotPlain(f"PyArrow has no type for column {name!r} of {kind}")
        if set(known[name].metadata) - _HARMLESS_METADATA:
            raise NotPlain(f"column {name!r} has metadata: {known[name].metadata}")


def narrowest(schema: StructType) -> str:
    """A column that costs little to read: rows must be counted."""
    flat = ("boolean", "tinyint", "smallint", "int", "date", "bigint", "timestamp", "double")
    kinds = {one.name: one.dataType.simpleString() for one in schema.fields}
    order = {kind: place for place, kind in enumerate(flat)}
    return min(kinds, key=lambda name: order.get(kinds[name], len(flat)))
