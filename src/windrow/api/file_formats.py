"""The formats that names of files tell."""

from __future__ import annotations

import os

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
    ".orc": "orc",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")


def format_told_by(name: str) -> str:
    """The format that the extension tells; empty if it tells none.

    >>> format_told_by("trades.csv.gz"), format_told_by("trades")
    ('csv', '')
    """
    stem, extension = os.path.splitext(name.lower())
    if extension in COMPRESSED:
        extension = os.path.splitext(stem)[1]
    return FORMATS.get(extension, "")
