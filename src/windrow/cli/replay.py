"""The demo's results computed again in NumPy, from the quotes and the watermarks alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from windrow.cli.progress import Batch
from windrow.cli.quotes import HIGH, LENGTH, LOW, SLIDE, SYMBOLS


class Differs(Exception):
    """The results of the stream and of the replay differ."""


def compare(
    results: pa.Table, quotes: pa.Table, batches: Sequence[Batch], rows_per_second: int
) -> int:
    """Compare every window and the number of dropped quotes; return that number.

    A quote is dropped if it comes behind the watermark of the batch before its own. Otherwise it
    takes its place among the quotes of its symbol once the watermark has passed it. ``quotes`` are
    in order of arrival.
    """
    times = np.asarray(quotes["ts"].cast(pa.int64()).to_numpy())
    is_late = times < _watermark_at_arrival(len(times), batches, rows_per_second)
    dropped = sum(batch.dropped for batch in batches)
    if dropped != is_late.sum():
        raise Differs(f"{dropped:,} quotes were dropped, but {is_late.sum():,} came too late")
    has_place = ~is_late & (times < batches[-1].watermark)
    in_order = [("ts", "ascending"), ("number", "ascending")]
    placed = quotes.filter(pa.array(has_place)).sort_by(in_order)
    fired = results.sort_by("window_id")
    for symbol in SYMBOLS:
        own, found = (t.filter(pc.equal(t["symbol"], symbol)) for t in (placed, fired))
        _compare(symbol, found, _expected(own))
    return dropped


def _watermark_at_arrival(
    rows: int, batches: Sequence[Batch], rows_per_second: int
) -> NDArray[np.int64]:
    """For each quote, the watermark of the batch before its own."""
    ends = [batch.source_second * rows_per_second for batch in batches]
    batch_of = np.searchsorted(ends, np.arange(rows), side="right")
    before = np.array([0, *(batch.watermark for batch in batches)])
    return np.asarray(before[batch_of])


def _expected(quotes: pa.Table) -> dict[str, NDArray[Any]]:
    """The windows of one symbol by definition: slices of its ordered quotes."""
    if len(quotes) < LENGTH:
        return {"window_id": np.arange(0)}
    prices, times = (
        sliding_window_view(column.to_numpy(), LENGTH)[::SLIDE]
        for column in (quotes["price"], quotes["ts"].cast(pa.int64()))
    )
    low, high = np.quantile(prices, [LOW, HIGH], axis=1)
    ids = np.arange(len(prices))
    return {
        "window_id": ids,
        "window_start": ids * SLIDE,
        "n": np.full(len(ids), LENGTH),
        "mean": prices.mean(axis=1),
        "low": low,
        "high": high,
        "open": prices[:, 0],
        "top": prices.max(axis=1),
        "bottom": prices.min(axis=1),
        "close": prices[:, -1],
        "at": times.max(axis=1),
    }


def _compare(symbol: str, results: pa.Table, expected: dict[str, NDArray[Any]]) -> None:
    count = len(expected["window_id"])
    if len(results) != count:
        raise Differs(f"{len(results):,} windows of {symbol}, but {count:,} were due")
    for name, values in expected.items():
        column = _column(results, name)
        is_same = np.isclose(column, values, rtol=1e-9, atol=0)
        if values.dtype.kind == "i":
            is_same = column == values
        if not is_same.all():
            at = int(np.argmin(is_same))
            raise Differs(f"window {at} of {symbol}: {name} is {column[at]}, not {values[at]}")


def _column(results: pa.Table, name: str) -> NDArray[Any]:
    field = {"open": "open", "top": "high", "bottom": "low", "close": "close"}.get(name)
    if field is not None:
        return np.asarray(pc.struct_field(results["bar"], field).to_numpy())
    column = results[name].cast(pa.int64()) if name == "at" else results[name]
    return np.asarray(column.to_numpy())
