"""WinSeq over a bounded table: every window of every key, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.core.errors import WindrowError
from windrow.core.models import Bounds, DeltaWindow, Extents
from windrow.core.window import Window
from windrow.engine.columns import Int64s, key_codes, sort_keys, to_microseconds, to_numpy
from windrow.engine.evaluation import Row, WindowEvaluator, result_array
from windrow.engine.spec import WindowQuery

DROPPED = b"windrow.dropped"
"""Metadata of the result: how many tuples were dropped for a null time or delta attribute."""


def run(query: WindowQuery, table: pa.Table) -> pa.Table:
    """The query's results in order of key, as keys first appear, and window id."""
    placed = table.filter(_belongs(query, table)) if len(table) else table
    dropped = len(table) - len(placed)
    watermark = None
    if query.partial == "drop" and query.time is not None:
        watermark = _final_watermark(query, table)
        placed = placed.filter(pa.array(to_microseconds(placed[query.time]) < watermark))
    codes, _ = key_codes([placed[k] for k in query.keys], len(placed))
    order = _order(query, placed, codes)
    placed, codes = placed.take(order), codes[order]
    results = _Results(query, placed)
    edges = np.flatnonzero(np.diff(codes)) + 1
    for lo, hi in zip([0, *edges], [*edges, len(placed)], strict=True):
        if lo < hi:
            results.add_key(int(lo), int(hi), watermark)
    return results.table().replace_schema_metadata({DROPPED: str(dropped).encode()})


def _belongs(query: WindowQuery, table: pa.Table) -> pa.ChunkedArray:
    """Which tuples have a time and, in a delta window, an attribute."""
    belongs = pa.chunked_array([np.ones(len(table), bool)])
    for name in [query.time] if query.time else []:
        belongs = pc.and_(belongs, pc.is_valid(table[name]))
    if isinstance(query.model, DeltaWindow):
        known = pc.invert(pc.is_null(table[query.model.on], nan_is_null=True))
        belongs = pc.and_(belongs, known)
    return belongs


def _final_watermark(query: WindowQuery, table: pa.Table) -> int:
    """The greatest time minus the delay, in whole milliseconds."""
    times = to_microseconds(table[query.time].drop_null())
    greatest = int(times.max()) if len(times) else np.iinfo(np.int64).min // 2
    return (greatest - query.delay) // 1000 * 1000


def _order(query: WindowQuery, placed: pa.Table, codes: Int64s) -> Int64s:
    """By key, time, ``order_by``, arrival."""
    keys: list[Any] = [codes]
    if query.time is not None:
        keys.append(to_microseconds(placed[query.time]))
    for name in query.order_by:
        keys.extend(sort_keys(placed[name]))
    return np.lexsort(keys[::-1])


class _Results:
    """Evaluates the windows of ordered tuples, key by key."""

    def __init__(self, query: WindowQuery, placed: pa.Table) -> None:
        self.query, self.placed = query, placed
        self.columns = {name: to_numpy(placed[name]) for name in placed.column_names}
        self.evaluator = WindowEvaluator(query.computation, query.result_schema())
        self.rows: list[Row] = []
        self.windows: list[tuple[int, int, Any, Any]] = []
        model = query.model
        if isinstance(model, DeltaWindow):
            self.axis = np.asarray(placed[model.on].to_numpy())
        elif query.time is not None:
            self.axis = to_microseconds(placed[query.time])
        else:
            self.axis = np.empty(len(placed))
        is_timestamp = query.time is not None and self.columns[query.time].dtype.kind == "M"
        self.bounds_are_timestamps = is_timestamp and model.bounds is Bounds.TIME

    def add_key(self, lo: int, hi: int, watermark: int | None) -> None:
        """Evaluate the windows over the tuples ``lo..hi`` of one key."""
        key = self._key(lo)
        try:
            windows = self.query.model.extents(self.axis[lo:hi])
        except WindrowError as e:
            raise WindrowError(f"{e.rule}, key {key!r}", e.got, e.hint) from None
        if self.query.partial == "drop":
            windows = windows.where(self.query.model.fired(windows, watermark))
        for j in range(len(windows)):
            self._add_window(key, windows, j, lo)

    def _key(self, row: int) -> Any:
        values = tuple(self.placed[k][row].as_py() for k in self.query.keys)
        return values[0] if len(values) == 1 else values or None

    def _add_window(self, key: Any, windows: Extents, j: int, offset: int) -> None:
        lo, hi = int(windows.lo[j]) + offset, int(windows.hi[j]) + offset
        start, end = windows.start[j], windows.end[j]
        if self.bounds_are_timestamps:
            seen = np.datetime64(int(start), "us"), np.datetime64(int(end), "us")
        else:
            seen = start.item(), end.item()
        views = {name: column[lo:hi] for name, column in self.columns.items()}
        window = Window(views, key=key, id=int(windows.ids[j]), start=seen[0], end=seen[1])
        for row in self.evaluator.rows(window, self.placed.slice(lo, hi - lo)):
            self.rows.append(row)
            self.windows.append((lo, window.id, start, end))

    def table(self) -> pa.Table:
        keys, results = self.query.keys, self.query.result_schema()
        schema = self.query.output_schema({k: self.placed.schema.field(k).type for k in keys})
        first, ids, start, end = zip(*self.windows, strict=True) if self.windows else ((),) * 4
        columns = [self.placed[k].take(pa.array(first, pa.int64())) for k in keys]
        columns.append(pa.array(ids, pa.int64()))
        for bound in (start, end):
            kind = self.query.bound_type()
            raw = pa.array([b.item() for b in bound], _storage(kind))
            columns.append(raw.cast(kind))
        for field in results:
            values = [row[field.name] for row in self.rows]
            columns.append(result_array(field.name, values, field.type))
        return pa.table(columns, schema=schema)


def _storage(kind: pa.DataType) -> pa.DataType:
    return pa.int64() if pa.types.is_timestamp(kind) else kind
