"""Streams of files as sources of queries, which run on Spark."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
from pyarrow import fs

from windrow.api.datasets import DatasetSource
from windrow.api.file_paths import dataset_at
from windrow.core.checks import path_of, positive_count
from windrow.core.errors import WindrowError, received, unsampled
from windrow.engine.datasets.folder import Folder
from windrow.engine.intake import needed_columns
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

    from windrow.planner.decision import Decision
    from windrow.spark.file_rows import FileRows

_GLOBS = frozenset("{}[]*?\\")
"""Characters that Spark does not take for themselves in the name of a folder."""
_BUCKETS = {"s3a": "s3", "s3n": "s3"}
"""Schemes of Spark that PyArrow has other names for."""


class FileStreamSource:
    """The files of a folder as they appear: Spark tells their names, its tasks read them."""

    is_stream = True

    def __init__(
        self,
        session: SparkSession,
        files: DatasetSource,
        folder: Folder,
        address: str,
        most_files: int | None,
    ) -> None:
        self.session, self.files, self.folder = session, files, folder
        self.address, self.most_files = address, most_files
        self.types, self.is_case_sensitive = files.types, files.is_case_sensitive

    @staticmethod
    def at(
        spark: Any, folder: Any, format: Any, most_files: Any, schema: Any, partitioning: Any
    ) -> FileStreamSource:
        """The source for a folder; the files that are there now tell the columns."""
        from windrow.spark.given_session import checked_session

        session = checked_session(spark, "scan_stream")
        if most_files is not None:
            most_files = positive_count(most_files, "max_files_per_trigger", "files")
        if partitioning not in ("hive", None):
            raise WindrowError(
                'scan_stream partitioning must be "hive" or None',
                received("partitioning", partitioning),
            )
        given = path_of(folder, "scan_stream folder")
        address, filesystem, path = _located(given)
        if filesystem.get_file_info(path).type != fs.FileType.Directory:
            rule = "scan_stream takes a folder, which must exist"
            raise WindrowError(rule, given, "make the folder first.")
        dataset = dataset_at(path, format, schema, partitioning, filesystem)
        if not dataset.schema.names:
            hint = "pass schema=, or start when the first file is there."
            raise WindrowError("scan_stream needs a file to take the columns from", given, hint)
        found = Folder.of(dataset, path, is_partitioned=partitioning is not None)
        return FileStreamSource(session, DatasetSource(dataset), found, address, most_files)

    @property
    def schema(self) -> pa.Schema:
        """All columns with the types that Spark's reader gives."""
        return self.files.schema

    def resolve(self, column: object, step: str) -> tuple[FileStreamSource, str]:
        """The name of a column that can be read; files do not support expressions."""
        _, name = self.files.resolve(column, step)
        return self, name

    def written_as(self, names: Iterable[str]) -> FileStreamSource:
        """The source itself: in files case matters."""
        return self

    def collect(
        self, query: WindowQuery, pattern: Pattern | None, *, ordered: bool, threads: int | None
    ) -> NoReturn:
        """Always raises: a stream has no end."""
        rule = "collect runs queries over tables and datasets"
        raise WindrowError(rule, "a stream of files", "call to_df() instead, or use scan().")

    def to_df(
        self,
        query: WindowQuery,
        pattern: Pattern | None,
        spark: SparkSession | None,
        *,
        ordered: bool,
        observation: Observation | str | None,
    ) -> DataFrame:
        """The results as a streaming DataFrame."""
        from windrow.spark import streaming
        from windrow.spark.given_session import check_session
        from windrow.spark.runtime import metrics_name

        rows = self._rows(query)
        check_session(spark, rows)
        metrics = metrics_name(observation)
        return streaming.to_df(query, rows, pattern, ordered=ordered, metrics=metrics)

    def check_checkpoint(self, query: WindowQuery, pattern: Pattern | None, location: str) -> None:
        """Raise unless a stream of this query can begin at, or continue from, the checkpoint."""
        from windrow.spark import streaming
        from windrow.spark.checkpoint import refuse_other_checkpoint

        identity = streaming.identity_of(query, self._rows(query), pattern)
        refuse_other_checkpoint(self.session, location, identity)

    def explain(self, query: WindowQuery, pattern: Pattern | None, *, with_spark: bool) -> None:
        """Print what will run and why, then Spark's own plan if it is wanted."""
        print(self.decision(query, pattern).explain())
        if with_spark:
            self.to_df(query, pattern, None, ordered=False, observation="explained").explain()

    def decision(self, query: WindowQuery, pattern: Pattern | None) -> Decision:
        """What will run and why, as it was decided."""
        from windrow.spark.explain import decision_of

        return decision_of(query, self._rows(query), pattern)

    def sample(self, rows: int) -> NoReturn:
        """Always raises: a stream has no end."""
        raise unsampled("a stream of files")

    def run(self, query: WindowQuery, pattern: Pattern | None) -> NoReturn:
        """Always raises: a stream has no end."""
        raise unsampled("a stream of files")

    def rows_on(self, spark: SparkSession, columns: list[str], time: str | None) -> FileRows:
        """The rows as Spark's tasks read them, in the stream's own session."""
        from windrow.spark.file_rows import FileRows

        scan = self.files.reading(columns, time)
        options = {"recursiveFileLookup": "true"}
        if self.most_files is not None:
            options["maxFilesPerTrigger"] = str(self.most_files)
        return FileRows(self.session, scan, self.folder, self.address, options)

    def reads_on(self, spark: SparkSession, columns: list[str], time: str | None) -> str:
        """Who reads the rows, in words."""
        return self.rows_on(spark, columns, time).describe()

    def _rows(self, query: WindowQuery) -> FileRows:
        return self.rows_on(self.session, needed_columns(query), query.time)


def _located(folder: str) -> tuple[str, fs.FileSystem, str]:
    """The folder as Spark knows it, its file system and its path there."""
    scheme, is_address, rest = folder.partition("://")
    if not is_address:
        folder = os.path.abspath(folder.removeprefix("file:"))
        located = f"file:{folder}", fs.LocalFileSystem(), folder
    else:
        try:
            system, path = fs.FileSystem.from_uri(f"{_BUCKETS.get(scheme, scheme)}://{rest}")
        except (pa.ArrowException, OSError, ValueError) as e:
            raise WindrowError(
                "PyArrow must know the folder's file system", f"{folder}: {e}"
            ) from e
        located = folder, system, path
    if special := sorted(_GLOBS & set(folder)):
        hint = "Spark would look for folders whose names match a pattern."
        raise WindrowError(f"scan_stream folder must not contain {special}", folder, hint)
    return located
