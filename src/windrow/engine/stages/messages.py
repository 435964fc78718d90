"""Messages and state as binary: what Spark moves and stores is packed Arrow, never single rows."""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.windows.batch import WindowBatch

_TABLE, _WINDOWS, _OTHER = b"T", b"W", b"O"
_LOW, _HELD = b"windrow.low", b"windrow.held"
"""Metadata of a narrowed column: its least value, and what is held of the others."""


def pack(message: Any) -> bytes:
    """A table, a batch of windows, or any other object as bytes."""
    if isinstance(message, WindowBatch):
        tables = [_to_ipc(t) for t in (message.tuples, message.windows, message.keys)]
        return _WINDOWS + pickle.dumps((*tables, message.part))
    if isinstance(message, pa.Table):
        return _TABLE + _to_ipc(message)
    return _OTHER + pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes) -> Any:
    """What these bytes were packed from."""
    kind, body = packed[:1], memoryview(packed)[1:]
    if kind == _TABLE:
        return _from_ipc(body)
    if kind == _OTHER:
        return pickle.loads(body)
    tuples, windows, keys, part = pickle.loads(body)
    return WindowBatch(_from_ipc(tuples), _from_ipc(windows), _from_ipc(keys), part)


def _to_ipc(table: pa.Table) -> bytes:
    table = _narrowed(table)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _from_ipc(body: bytes | memoryview) -> pa.Table:
    with pa.ipc.open_stream(pa.py_buffer(body)) as reader:
        return _widened(reader.read_all())


def _narrowed(table: pa.Table) -> pa.Table:
    """The table, its long integers held as short as they fit.

    They are counted from their least or, where they ascend, each from the one before. Spark copies
    a message half a dozen times on its way; times, ranks and keys seldom need eight bytes.
    """
    for i, field in enumerate(table.schema):
        column = table.column(i)
        if field.type != pa.int64() or column.null_count or len(column) == 0:
            continue
        values = np.asarray(column.to_numpy())
        low, high = int(values.min()), int(values.max())
        if high - low > np.iinfo(np.uint32).max:
            continue
        short, held = values - low, b"above"
        if high - low > np.iinfo(np.uint8).max:
            steps = np.diff(values, prepend=low)
            if steps[0] == 0 and steps.min() == 0 and steps.max() < (high - low) >> 8:
                short, held = steps, b"steps"
        short = short.astype(np.min_scalar_type(int(short.max())))
        how = {_LOW: str(low), _HELD: held}
        kind = pa.field(field.name, pa.from_numpy_dtype(short.dtype), metadata=how)
        table = table.set_column(i, kind, pa.array(short))
    return table


def _widened(table: pa.Table) -> pa.Table:
    """What ``_narrowed`` was given."""
    for i, field in enumerate(table.schema):
        if field.metadata is None or _LOW not in field.metadata:
            continue
        short = np.asarray(table.column(i).to_numpy())
        is_steps = field.metadata[_HELD] == b"steps"
        values = short.cumsum(dtype=np.int64) if is_steps else short.astype(np.int64)
        values += int(field.metadata[_LOW])
        table = table.set_column(i, field.name, pa.array(values))
    return table
