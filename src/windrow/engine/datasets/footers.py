"""Footers of Parquet files: whether PyArrow certainly reads columns as Spark's reader does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from windrow.core.errors import WindrowError
from windrow.engine.columns.ddl import type_name
from windrow.engine.datasets.pieces import FilePiece
from windrow.engine.datasets.scan import REBASED
from windrow.engine.datasets.types import converted, is_nanoseconds, spark_type

_AT_ONCE = 16
_VERSION = b"org.apache.spark.version"
_SAME_CALENDAR_SINCE = (3, 1)
_FEWEST_FILES_FOR_THREADS = 4


@dataclass(frozen=True)
class Wanted:
    """The columns to read, and what Spark's settings say of old dates."""

    schema: pa.Schema
    """The columns, with the types that Spark gives them."""
    of_folders: frozenset[str]
    """Columns that the names of folders give, which no file may have."""
    is_calendar_kept: bool
    """Whether dates and times are read as they are where no version of Spark is in the file."""
    is_filtered: bool


def int96_of_certain(files: Sequence[FilePiece], wanted: Wanted) -> frozenset[str] | str:
    """The columns of INT96 timestamps; or why Spark's reader could read some file otherwise."""
    if len(files) < _FEWEST_FILES_FOR_THREADS:
        found = [_int96_of(piece, wanted) for piece in files]
    else:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            found = list(pool.map(lambda piece: _int96_of(piece, wanted), files))
    old: set[str] = set()
    new: set[str] = set()
    for each in found:
        if isinstance(each, str):
            return each
        old |= each[0]
        new |= each[1]
    if old & new:
        return f"some files have column {min(old & new)!r} as INT96, others have not"
    return frozenset(old)


def _int96_of(piece: FilePiece, wanted: Wanted) -> tuple[set[str], set[str]] | str:
    """The wanted columns of a file that are INT96 and those that are not; or what is uncertain."""
    try:
        piece.check_columns()
        with piece.naming():
            metadata = piece.fragment.metadata
            found = piece.fragment.physical_schema
    except WindrowError as e:
        return e.rule
    lower = [name.casefold() for name in found.names]
    for name in [*wanted.schema.names, *wanted.of_folders]:
        if lower.count(name.casefold()) > (name in found.names and name not in wanted.of_folders):
            return f"{piece.path} has column {name!r} under another name or twice"
    kinds = _kinds(metadata)
    old: set[str] = set()
    new: set[str] = set()
    for field in wanted.schema:
        if field.name in wanted.of_folders or field.name not in found.names:
            continue
        own = found.field(field.name).type
        if kinds.get(field.name) == "INT96" and field.type == pa.timestamp("us", "UTC"):
            old.add(field.name)
        elif _is_certain(field, own, kinds, wanted.is_filtered):
            new.add(field.name)
        else:
            kind = type_name(field.type)
            return f"{piece.path} has column {field.name!r} of {own}, which is not surely {kind}"
    if not _has_codecs(metadata):
        return f"{piece.path} has a compression that PyArrow does not know"
    if any(map(_has_time, wanted.schema.types)) and not _has_calendar(metadata, wanted):
        return f"{piece.path} may have dates of the Julian calendar"
    return old, new


def _kinds(metadata: pq.FileMetaData) -> dict[str, str]:
    """The physical types of a file's columns, by their paths."""
    columns = (metadata.schema.column(i) for i in range(metadata.num_columns))
    return {c.path: c.physical_type for c in columns}


def _is_certain(
    field: pa.Field, own: pa.DataType, kinds: dict[str, str], is_filtered: bool
) -> bool:
    """Whether a column of a file's type is certainly read as the type that Spark gives it."""
    if isinstance(own, pa.BaseExtensionType) or is_nanoseconds(own):
        return False
    given = spark_type(own)
    if given is None or type_name(given) != type_name(field.type):
        return False
    if pa.types.is_nested(own):
        leaves = [path for path in kinds if path.split(".")[0] == field.name]
        if set(leaves) != set(_standard_paths(field.name, own)):
            return False
        if is_filtered and own != field.type:
            return False
    try:
        converted(pa.array([], own), given)
    except pa.ArrowException:
        return False
    return True


def _standard_paths(path: str, kind: pa.DataType) -> list[str]:
    """The columns of a nested type in a file that follows today's rules for lists and maps."""
    if pa.types.is_map(kind):
        key, item = (f"{path}.key_value.{part}" for part in ("key", "value"))
        return [*_standard_paths(key, kind.key_type), *_standard_paths(item, kind.item_type)]
    if pa.types.is_struct(kind):
        fields: list[Any] = [kind.field(i) for i in range(kind.num_fields)]
        return [p for f in fields for p in _standard_paths(f"{path}.{f.name}", f.type)]
    if pa.types.is_nested(kind):
        return _standard_paths(f"{path}.list.element", kind.value_type)
    return [path]


def _has_codecs(metadata: pq.FileMetaData) -> bool:
    """Whether PyArrow can decompress the first row group, as the others are like it."""
    if not metadata.num_row_groups:
        return True
    group = metadata.row_group(0)
    codecs = {group.column(i).compression for i in range(group.num_columns)} - {"UNCOMPRESSED"}
    return all(codec != "LZO" and pa.Codec.is_available(codec.lower()) for codec in codecs)


def _has_time(kind: pa.DataType) -> bool:
    if pa.types.is_nested(kind):
        return any(_has_time(kind.field(i).type) for i in range(kind.num_fields))
    return bool(pa.types.is_temporal(kind))


def _has_calendar(metadata: pq.FileMetaData, wanted: Wanted) -> bool:
    """Whether Spark's reader takes the file's dates and times as they are."""
    kept = metadata.metadata or {}
    if any(key in kept for key in REBASED):
        return False
    if _VERSION not in kept:
        return wanted.is_calendar_kept
    version = re.match(rb"(\d+)\.(\d+)", kept[_VERSION])
    return version is not None and (int(version[1]), int(version[2])) >= _SAME_CALENDAR_SINCE
