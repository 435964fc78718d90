"""Parquet files with encrypted columns and a footer that anybody can read.

PyArrow ends the process if it is asked for the metadata of such a column without a key, and its own
metadata do not tell which columns these are.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

_SIGNATURE = 28
"""Bytes of the signature behind such a footer, a nonce and a tag. Other footers have none."""
_TAIL = 8
"""The last bytes of a file: the length of the footer, and four letters."""


def has_encrypted_columns(source: pa.NativeFile, size: int, metadata: pq.FileMetaData) -> bool:
    """Whether columns of a Parquet file of this size are encrypted though its footer is not."""
    length = int.from_bytes(source.read_at(4, max(0, size - _TAIL)), "little")
    return bool(length - metadata.serialized_size == _SIGNATURE)
