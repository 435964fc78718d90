"""The dataset of files at a path, and what is said if they cannot be read."""

from __future__ import annotations

from os import PathLike
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from windrow.api.file_formats import format_told_by
from windrow.core.errors import WindrowError, near_names

_FORMATS = ("parquet", "ipc", "arrow", "feather", "orc", "csv", "json")
"""What PyArrow calls the formats that it reads."""


def dataset_at(
    path: Any, format: Any, schema: pa.Schema | None, partitioning: Any, filesystem: Any
) -> ds.Dataset:
    """The dataset of the files at a path."""
    _check_paths(path)
    if isinstance(format, str) and format not in _FORMATS:
        hint = near_names(format, _FORMATS, "formats")
        raise WindrowError("scan has no such format", repr(format), hint)
    try:
        found = ds.dataset(
            path, schema, format=format, partitioning=partitioning, filesystem=filesystem
        )
    except (pa.ArrowException, OSError, TypeError, ValueError) as e:
        reason = "no such file" if isinstance(e, FileNotFoundError) else str(e).rstrip(".")
        hint = _other_files(path, format)
        raise WindrowError(f"scan cannot read {format} files", f"{path}: {reason}", hint) from e
    return found


def _check_paths(path: Any) -> None:
    """Raise unless it is a path or a list of paths."""
    paths = path if isinstance(path, list | tuple) else [path]
    if any(not isinstance(p, str | PathLike) for p in paths):
        hint = "rows in memory are taken by wr.stream(rows)."
        raise WindrowError("scan takes the path of a file or a folder", type(path).__name__, hint)
    if "" in paths:
        raise WindrowError("scan takes the path of a file or a folder", repr(path))


def _other_files(path: Any, format: Any) -> str:
    """What to pass in place of files that cannot be read."""
    if (told := format_told_by(str(path))) not in ("", format):
        return f'say wr.scan(path, format="{told}").'
    if "*" in str(path):
        return "a pattern is not expanded: pass the folder, or a list such as glob.glob(pattern)."
    return "pass a file, a folder or a list of files, and the format of all of them."
