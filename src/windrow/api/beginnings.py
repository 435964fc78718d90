"""Where queries begin: rows in Spark or in memory, files, and streams of files."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Literal, TypeAlias

from windrow.api.query import Query
from windrow.api.sources import Data, source_of
from windrow.core.calls import checks_call
from windrow.core.errors import WindrowError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.dataset import Expression, FileFormat, Partitioning
    from pyarrow.fs import FileSystem
    from pyspark.sql import SparkSession

Paths: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]


@checks_call
def stream(data: Data) -> Query:
    """A query over a Spark DataFrame, a PyArrow table or dataset, or a dict of NumPy arrays.

    >>> import numpy as np
    >>> from windrow import functions as wf, CountWindow
    >>> q = stream({"x": np.arange(5)}).window(CountWindow(2)).agg(total=wf.sum("x"))
    >>> q.collect()["total"].to_pylist()
    [1, 5, 4]
    """
    return Query(source_of(data, "stream"))


@checks_call
def scan(
    path: Paths,
    format: str | FileFormat = "parquet",
    *,
    schema: pa.Schema | None = None,
    partitioning: str | list[str] | Partitioning | None = "hive",
    filesystem: FileSystem | None = None,
    filter: Expression | None = None,
) -> Query:
    """A query over files: short for ``stream`` of the PyArrow dataset at ``path``.

    ``path`` is a file, a folder or a list of files, on this machine or at an address such as
    ``s3://bucket/folder``. ``format`` is ``"parquet"``, ``"ipc"``, ``"orc"``, ``"csv"`` or
    ``"json"``. Folders named ``column=value`` give columns. Only rows that meet the ``filter`` are
    read. The other arguments are those of ``pyarrow.dataset.dataset``.
    """
    from windrow.api.file_paths import dataset_at

    found = dataset_at(path, format, schema, partitioning, filesystem)
    if not found.schema.names:
        raise WindrowError("scan needs at least one file", str(path))
    return stream(found if filter is None else found.filter(filter))


@checks_call
def scan_stream(
    spark: SparkSession,
    folder: str | PathLike[str],
    format: str | FileFormat = "parquet",
    max_files_per_trigger: int | None = None,
    *,
    schema: pa.Schema | None = None,
    partitioning: Literal["hive"] | None = "hive",
) -> Query:
    """A query over a stream of files: those in a folder, and those that appear there later.

    It gives what ``stream`` of ``spark.readStream.parquet(folder)`` gives, but Spark only finds the
    files. Tasks read them with PyArrow, which is faster. Every file is read once: Spark keeps the
    names of files in the checkpoint.

    ``folder`` is a folder on this machine, or an address such as ``s3a://bucket/folder`` that both
    Spark and PyArrow can reach; files in folders below it count too. A batch has at most
    ``max_files_per_trigger`` files, the oldest first. Without a ``schema``, the columns are those
    of a file that is there. Folders named ``column=value`` give columns, unless ``partitioning``
    is None. Formats are those of ``scan``.
    """
    from windrow.api.file_streams import FileStreamSource

    return Query(
        FileStreamSource.at(spark, folder, format, max_files_per_trigger, schema, partitioning)
    )
