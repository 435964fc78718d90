"""About how many rows the files of a relation have, from a look at a few of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

from windrow.spark.plain_filters import NotPlain, items, kind_of
from windrow.spark.relation_files import local_path

_COUNTED: dict[str, Callable[[Path], int]] = {
    "ParquetFileFormat": lambda path: pq.read_metadata(path).num_rows,
    "OrcFileFormat": lambda path: orc.ORCFile(path).nrows,
}
"""How many rows a file says it has, by its format."""
_LINES = frozenset(["CSVFileFormat", "JsonFileFormat", "TextFileFormat"])
_WHOLE = frozenset(["multiline", "wholetext"])
"""Options with which a file is one record, which would have to be read as a whole."""
_COMPRESSED = frozenset([".gz", ".bz2", ".zst", ".lz4", ".snappy", ".deflate", ".xz"])
_FILES = 4
_BYTES = 1 << 16


def rows_in_files(node: Any) -> int:
    """The rows of a leaf of a plan; 0 if it reads no files, or not their first rows alone."""
    if kind_of(node) != "LogicalRelation" or kind_of(node.relation()) != "HadoopFsRelation":
        return 0
    relation = node.relation()
    location, options = relation.location(), items(relation.options().toSeq())
    given = {option._1().lower(): option._2().lower() for option in options}
    is_whole = any(given.get(name) == "true" for name in _WHOLE)
    if kind_of(location) != "InMemoryFileIndex" or is_whole:
        return 0
    # As wide as Spark takes values of these types to be.
    width = float(relation.schema().defaultSize())
    files = location.inputFiles()
    step = max(1, len(files) // _FILES)
    some = [files[i] for i in range(0, len(files), step)]
    with suppress(NotPlain, OSError, pa.ArrowException):
        paths = [Path(local_path(file)) for file in some]
        width = _bytes_per_row(paths, kind_of(relation.fileFormat())) or width
    return round(int(location.sizeInBytes()) / (width or 1.0))


def _bytes_per_row(files: list[Path], format: str) -> float:
    """The bytes of a row in these files; 0 if they do not tell."""
    counted = _COUNTED.get(format)
    if counted is not None:
        rows = sum(map(counted, files))
        return sum(file.stat().st_size for file in files) / max(1, rows)
    if format not in _LINES or any(file.suffix in _COMPRESSED for file in files):
        return 0.0
    lines = read = 0
    for path in files:
        with path.open("rb") as file:
            found = file.read(_BYTES)
        lines, read = lines + found.count(b"\n"), read + len(found)
    return read / lines if lines else 0.0
