"""Sizes in memory of parts of Parquet files, estimated from their footers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow.parquet as pq

_WIDTHS = {"BOOLEAN": 1 / 8, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}
_OFFSET = 4
_UNTOLD = 1 << 14
"""The width of repeated texts that are too long for statistics, which have up to 4096 bytes."""


def bytes_of_row_groups(
    metadata: pq.FileMetaData, groups: Collection[int], columns: Collection[str]
) -> list[float]:
    """About how many bytes columns of these row groups take once they are read."""
    names = [metadata.schema.column(i).path.split(".")[0] for i in range(metadata.num_columns)]
    wanted = [i for i, name in enumerate(names) if name in columns]
    read = (metadata.row_group(group) for group in groups)
    return [sum(_bytes_of(group.column(i)) for i in wanted) for group in read]


def _bytes_of(column: Any) -> float:
    """The size of a column: files have repeated values only once, memory has all of them."""
    width = _WIDTHS.get(column.physical_type, 0.0)
    found = column.statistics
    if column.physical_type == "BYTE_ARRAY" and found is not None and found.has_min_max:
        least, greatest = (
            value if isinstance(value, bytes) else b"" for value in (found.min_raw, found.max_raw)
        )
        width = _OFFSET + (len(least) + len(greatest)) / 2
    elif column.physical_type == "BYTE_ARRAY" and _has_repeated_values(column):
        width = _UNTOLD
    return float(max(column.total_uncompressed_size, column.num_values * width))


def _has_repeated_values(column: Any) -> bool:
    """Whether values may be in the file only once, in a dictionary."""
    found = column.statistics
    is_null = found is not None and found.has_null_count and found.null_count == column.num_values
    return not is_null and any("DICTIONARY" in encoding for encoding in column.encodings)
