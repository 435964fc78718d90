"""Packing of messages between workers into bytes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from windrow.engine.columns.packed import pack_tables, unpack_tables
from windrow.engine.windows.batch import WindowBatch


def pack(message: pa.Table | WindowBatch) -> bytes:
    """Pack a table or a batch of windows."""
    if isinstance(message, WindowBatch):
        tables = {"tuples": message.tuples, "windows": message.windows, "keys": message.keys}
        return pack_tables(tables, part=message.part)
    return pack_tables({"": message})


def unpack(packed: bytes) -> Any:
    """Undo ``pack``."""
    tables, meta = unpack_tables(packed)
    return WindowBatch(**tables, **meta) if meta else tables[""]
