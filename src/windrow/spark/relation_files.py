"""The files of a relation of Spark's, as a PyArrow dataset of the same files and folders."""

from __future__ import annotations

from functools import reduce
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow import fs

from windrow.spark.plain_filters import NotPlain, items

_MOST_FILES = 2000
"""With more files their footers would take longer to read than the plan is worth."""
_GETTERS = {
    pa.int32(): "getInt",
    pa.int64(): "getLong",
    pa.date32(): "getInt",
    pa.string(): "getUTF8String",
}
"""How a folder's value is taken from a row of Spark's, by its type."""


def dataset_of(location: Any, schema: pa.Schema, of_folders: frozenset[str]) -> ds.Dataset:
    """The files of an index; ``of_folders`` are the columns that are needed of folders' names."""
    paths = location.inputFiles()
    if len(paths) > _MOST_FILES:
        raise NotPlain(f"there are more than {_MOST_FILES} files")
    found = [local_path(path) for path in paths]
    folders = _folders(location, schema, of_folders) if of_folders else {}
    system, format = fs.LocalFileSystem(), ds.ParquetFileFormat()
    infos = system.get_file_info(found)
    if sum(info.size or 0 for info in infos) != location.sizeInBytes():
        raise NotPlain("a file has changed since the DataFrame was made")
    fragments = []
    for info in infos:
        folder, name = info.path.rsplit("/", 1)
        if name.startswith(("_", ".")):
            raise NotPlain(f"Spark may skip {info.path}")
        if of_folders and folder not in folders:
            raise NotPlain(f"the folder of {info.path} gives no columns")
        # Spark skips empty files as well.
        if info.size:
            value = folders.get(folder)
            options = () if value is None else (value,)
            fragments.append(format.make_fragment(info.path, system, *options))
    return ds.FileSystemDataset(fragments, schema, format, system)


def local_path(uri: str) -> str:
    """The path of a file on this machine's disk.

    >>> local_path("file:///tmp/a%20b/%C3%BC%2520.parquet"), local_path("file:/tmp/ü")
    ('/tmp/a b/ü%20.parquet', '/tmp/ü')
    """
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc:
        # Spark finds credentials in its own settings, where PyArrow does not look.
        raise NotPlain(f"the files are at {parts.scheme}://; wr.scan reads them with PyArrow")
    return unquote(parts.path, errors="strict")


def _folders(location: Any, schema: pa.Schema, names: frozenset[str]) -> dict[str, ds.Expression]:
    """What each folder says of these columns, by its path."""
    spec = location.partitionSpec()
    all_names = list(spec.partitionColumns().fieldNames())
    found = {}
    for folder in items(spec.partitions()):
        terms = [
            _term(schema.field(name), folder.values(), all_names.index(name))
            for name in sorted(names)
        ]
        found[local_path(folder.path().toUri().toString())] = reduce(lambda a, b: a & b, terms)
    return found


def _term(field: pa.Field, row: Any, place: int) -> ds.Expression:
    if field.type not in _GETTERS:
        raise NotPlain(f"PyArrow may take column {field.name!r} of folders otherwise")
    if row.isNullAt(place):
        return pc.field(field.name).is_null()
    value = getattr(row, _GETTERS[field.type])(place)
    if field.type == pa.string():
        value = value.toString()
    return pc.field(field.name) == pa.scalar(value, field.type)
