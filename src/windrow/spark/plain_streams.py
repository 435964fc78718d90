"""Plain streams: streaming DataFrames over Parquet files that tasks can read themselves.

A plain stream is a projection of ``spark.readStream.parquet(...)``, maybe with filters that PyArrow
computes exactly and a watermark. Spark's file source finds the files either way, with the options
that it was given, and keeps their names in the checkpoint. So a stream can go on from its
checkpoint with either reader.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from windrow.engine.datasets.folder import Folder
from windrow.engine.datasets.footers import Wanted
from windrow.engine.datasets.scan import Scan
from windrow.spark.certain_files import CertainFiles
from windrow.spark.file_rows import NAMES, FileRows
from windrow.spark.marks import SPARKS
from windrow.spark.master import is_connect
from windrow.spark.plain_filters import NotPlain, items
from windrow.spark.plain_scans import (
    check_settings,
    columns_read,
    is_calendar_kept,
    narrowest,
)
from windrow.spark.plans import watermarks_of
from windrow.spark.relation_files import local_path
from windrow.spark.rows import column
from windrow.spark.scan_plans import ScanPlan, check_chain
from windrow.spark.splits import Given

_LISTING = frozenset(
    [
        "cleansource", "discardcachedinputratio", "filenameonly", "latestfirst",
        "maxbytespertrigger", "maxcachedfiles", "maxfileage", "maxfilespertrigger",
        "pathglobfilter", "recursivefilelookup", "sourcearchivedir",
    ]
)  # fmt: skip
"""Options that say which files a batch has, and nothing else. They hold for files of any format."""
_HARMLESS = frozenset(["path", "mergeschema"])
_OF_FOLDERS = frozenset([pa.int32(), pa.int64(), pa.string()])
"""Types of folders' columns that PyArrow takes as Spark does."""
_GLOBS = re.compile(r"[{}\[\]*?\\]")
_NAMED = re.compile(r"name=(?!<Unassigned>)")
_MICROSECONDS = 1000


def plain_stream(df: DataFrame, names: list[str], time: str | None) -> FileRows | str:
    """The rows of these columns as tasks read them; or why they are left to Spark's reader.

    ``time`` is the event time, which is among the columns.
    """
    spark = df.sparkSession
    if is_connect(spark):
        return "Spark Connect does not show the plan"
    try:
        check_chain(df._jdf.queryExecution().analyzed())
        selected = df.select(*map(column, names or [narrowest(df.schema)]))
        # Spark optimises a stream only once it runs.
        optimizer = spark._jsparkSession.sessionState().optimizer()
        plan = ScanPlan.of(optimizer.execute(selected._jdf.queryExecution().analyzed()))
        _check_relation(plan.relation)
        check_settings(spark)
        return _rows(plan, selected, _delay(df, time))
    except NotPlain as e:
        return str(e)


def _delay(df: DataFrame, time: str | None) -> int | None:
    """The delay of the watermark that was set before, in microseconds; None if none was."""
    depth = watermarks_of(df)
    if depth == 0:
        return None
    if depth > 1:
        raise NotPlain("there is more than one watermark")
    delay = None if time is None else df.schema[time].metadata.get(SPARKS)
    if delay is None:
        raise NotPlain("another column than the event time has a watermark")
    return int(delay) * _MICROSECONDS


def _check_relation(node: Any) -> None:
    """Raise an answer unless this is a stream of Parquet files."""
    source = node.dataSource()
    if source.catalogTable().isDefined():
        raise NotPlain("the rows of a table are Spark's")
    if source.className().lower() != "parquet":
        raise NotPlain(f"the source is {source.className()}")
    if _NAMED.search(node.toString()):
        raise NotPlain("the source has a name")
    for option in _options(source):
        if option.lower() not in _LISTING | _HARMLESS:
            raise NotPlain(f"the reader has the option {option!r}")


def _options(source: Any) -> dict[str, str]:
    options = source.options()
    return {name: options.apply(name) for name in items(options.keySet().toSeq())}


def _rows(plan: ScanPlan, selected: DataFrame, delay: int | None) -> FileRows:
    spark = selected.sparkSession
    source = plan.relation.dataSource()
    address, path = _place(selected, source)
    schema = StructType.fromJson(json.loads(source.sourceInfo().schema().json()))
    folders = items(source.sourceInfo().partitionColumns())
    if clash := {name.lower() for name in folders} & {name.lower() for name in NAMES}:
        raise NotPlain(f"folders give a column {min(clash)!r}")
    of_files, of_folders = (
        StructType([f for f in schema.fields if (f.name in folders) == is_of_folders])
        for is_of_folders in (False, True)
    )
    read = columns_read(plan, of_files, of_folders)
    declared, condition = read.declared, read.condition
    if texts := [made.operations[-1].text for made in read.given if made.operations]:
        raise NotPlain(f"only Spark computes {texts[0]} of a stream")
    if any(pa.types.is_timestamp(declared.field(name).type) for name in read.of_filters):
        raise NotPlain("a filter has a timestamp, which files may have in two forms")
    folders_read = [declared.field(name) for name in folders if name in read.names]
    for one in folders_read:
        if one.type not in _OF_FOLDERS:
            raise NotPlain(f"PyArrow may take column {one.name!r} of folders otherwise")
    wanted = Wanted(
        schema=pa.schema([declared.field(name) for name in read.names]),
        of_folders=frozenset(one.name for one in folders_read),
        is_calendar_kept=is_calendar_kept(spark),
        is_filtered=condition is not None,
    )
    hive = ds.partitioning(pa.schema(folders_read), flavor="hive") if folders_read else None
    options = {n: v for n, v in _options(source).items() if n.lower() in _LISTING}
    return FileRows(
        spark,
        Scan(declared, read.sources, condition),
        Folder(fs.LocalFileSystem(), path, ds.ParquetFileFormat(), hive),
        address,
        options,
        CertainFiles(wanted),
        delay,
        given=Given(read.given, selected.schema),
    )


def _place(df: DataFrame, source: Any) -> tuple[str, str]:
    """The folder as Spark knows it, and its path on this machine's disk."""
    spark = df.sparkSession
    given = source.options().apply("path")
    if _GLOBS.search(given):
        raise NotPlain("the path is a pattern of folders")
    assert spark._jvm is not None
    path = spark._jvm.org.apache.hadoop.fs.Path(given)
    system = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    found = system.makeQualified(path)
    local = local_path(found.toUri().toString())
    if system.getFileStatus(path).isFile():
        raise NotPlain("the path is a file")
    return given, local.rstrip("/")
