"""Messages between workers as binary: what Spark moves is packed Arrow, never single rows."""

from __future__ import annotations

import io
import pickle

import pyarrow as pa

from windrow.engine.window_batch import WindowBatch
from windrow.engine.workers.worker import Message

_TABLE, _WINDOWS = b"T", b"W"


def pack(message: Message) -> bytes:
    """A message as bytes."""
    if isinstance(message, WindowBatch):
        tables = [_to_ipc(t) for t in (message.tuples, message.windows, message.keys)]
        return _WINDOWS + pickle.dumps((*tables, message.part))
    return _TABLE + _to_ipc(message)


def unpack(packed: bytes) -> Message:
    """The message of these bytes."""
    kind, body = packed[:1], memoryview(packed)[1:]
    if kind == _TABLE:
        return _from_ipc(body)
    tuples, windows, keys, part = pickle.loads(body)
    return WindowBatch(_from_ipc(tuples), _from_ipc(windows), _from_ipc(keys), part)


def _to_ipc(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _from_ipc(body: bytes | memoryview) -> pa.Table:
    with pa.ipc.open_stream(pa.py_buffer(body)) as reader:
        return reader.read_all()
