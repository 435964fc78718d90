"""Packing of Arrow tables into bytes. Spark moves and stores these, never single rows.

A blob is the length of a JSON text (four bytes), the text, then one Arrow IPC stream per table.
The text holds the names of the tables and other metadata.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.columns.held import as_held
from windrow.kernels.short_integers import lengthened, shortened

_ALIGNED = 8
_LOW, _HELD = b"windrow.low", b"windrow.held"
"""Metadata of a narrowed column: its least value, and how the values are encoded."""
_STEPS, _ABOVE = b"steps", b"above"


def pack_tables(tables: Mapping[str, pa.Table], **meta: Any) -> bytes:
    """Pack named tables and metadata that JSON can hold."""
    text = json.dumps({"tables": list(tables), **meta}, separators=(",", ":")).encode()
    text += b" " * (-(4 + len(text)) % _ALIGNED)
    sink = io.BytesIO()
    sink.write(len(text).to_bytes(4, "little"))
    sink.write(text)
    for table in map(_narrowed, tables.values()):
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


def unpack_tables(packed: bytes) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """The tables and the metadata. Columns that were not narrowed are views of the bytes."""
    source = pa.BufferReader(packed)
    meta = json.loads(source.read(int.from_bytes(source.read(4), "little")))
    return {name: _read(source) for name in meta.pop("tables")}, meta


def _read(source: pa.BufferReader) -> pa.Table:
    """Read the next table. An IPC stream marks its own end."""
    with pa.ipc.open_stream(source) as reader:
        return as_held(_widened(reader.read_all()))


def _narrowed(table: pa.Table) -> pa.Table:
    """Store int64 columns without nulls in the shortest integers that fit.

    Values are stored as differences from the least value or, where an ascending column gets shorter
    that way, from the previous value. Spark copies a message about six times on its way, and times,
    ranks and keys seldom need eight bytes.
    """
    narrowed = {}
    for i, (field, column) in enumerate(zip(table.schema, table.columns, strict=True)):
        if field.type != pa.int64() or column.null_count or len(column) == 0:
            continue
        found = shortened(np.asarray(column.to_numpy()))
        if found is None:
            continue
        short, low, is_steps = found
        how = {_LOW: str(low), _HELD: _STEPS if is_steps else _ABOVE}
        kind = pa.from_numpy_dtype(short.dtype)
        narrowed[i] = pa.field(field.name, kind, metadata=how), pa.array(short)
    return _replaced(table, narrowed)


def _widened(table: pa.Table) -> pa.Table:
    """Undo ``_narrowed``."""
    widened = {}
    for i, field in enumerate(table.schema):
        if field.metadata is None or _LOW not in field.metadata:
            continue
        short = np.asarray(table.column(i).to_numpy())
        low, is_steps = int(field.metadata[_LOW]), field.metadata[_HELD] == _STEPS
        values = lengthened(short, low, is_steps)
        widened[i] = pa.field(field.name, pa.int64()), pa.array(values)
    return _replaced(table, widened)


def _replaced(table: pa.Table, others: dict[int, tuple[pa.Field, pa.Array]]) -> pa.Table:
    """Replace the columns at these indices."""
    if not others:
        return table
    columns = [
        others.get(i, each) for i, each in enumerate(zip(table.schema, table.columns, strict=True))
    ]
    fields, arrays = zip(*columns, strict=True)
    return pa.table(list(arrays), schema=pa.schema(fields, table.schema.metadata))
