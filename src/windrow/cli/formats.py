"""Files by the extension of their names: how they are read and written."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, feather, orc, parquet

from windrow.api.file_formats import COMPRESSED, FORMATS, format_told_by
from windrow.core.errors import WindrowError

_WRITERS: dict[str, Callable[[pa.Table, str], Any]] = {
    "parquet": parquet.write_table,
    "csv": csv.write_csv,
    "ipc": feather.write_feather,
    "orc": orc.write_table,
}


def format_of(paths: Sequence[str]) -> str:
    """The format of files by their extension; of a folder, by the first file that has a known one.

    >>> format_of(["s3://bucket/trades.csv.gz"])
    'csv'
    """
    for path in paths:
        if "://" not in path and not os.path.exists(path):
            raise WindrowError(f"file not found: {path!r}")
    path = paths[0]
    names = [path]
    if os.path.isdir(path):
        names = [name for _, _, files in sorted(os.walk(path)) for name in sorted(files)]
    found = (format_told_by(name) for name in names)
    if (known := next(filter(None, found), None)) is None:
        hint = f"name it with --format: {', '.join(dict.fromkeys(FORMATS.values()))}."
        raise WindrowError("the extension does not tell the format", repr(path), hint)
    return known


def writer_of(path: str, inputs: Sequence[str]) -> Callable[[pa.Table], None]:
    """Writes a table to the path; raises at once if that cannot work."""
    kind = "" if path.lower().endswith(COMPRESSED) else format_told_by(path)
    if kind not in _WRITERS:
        hint = "write to a file that ends with .parquet, .csv, .arrow or .orc."
        raise WindrowError("--out cannot write this format", repr(path), hint)
    target = Path(path)
    if not target.parent.is_dir():
        raise WindrowError("--out: there is no such folder", repr(str(target.parent)))
    if target.is_dir() or any(
        os.path.exists(i) and target.resolve() == Path(i).resolve() for i in inputs
    ):
        raise WindrowError("--out must be a file other than the input", repr(path))

    def write(table: pa.Table) -> None:
        # Whoever reads the file meanwhile, or finds it after a failure, finds it complete.
        part = target.with_name(f".{target.name}.part")
        try:
            _WRITERS[kind](table, str(part))
            part.replace(target)
        except (pa.ArrowException, OSError) as error:
            hint = "a Parquet file can hold all results; CSV cannot hold lists and structs."
            raise WindrowError(f"--out cannot write {kind}", f"{path}: {error}", hint) from None
        finally:
            part.unlink(missing_ok=True)

    return write
