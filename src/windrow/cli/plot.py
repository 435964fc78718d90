"""The demo's results as a plot, in a file and in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import plotext
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.cli.progress import Batch
from windrow.cli.quotes import LENGTH, SLIDE, SYMBOLS

matplotlib.use("Agg")  # draws to a file, without a screen
from matplotlib import pyplot as plt

TITLE = f"Mean price of each symbol's last {LENGTH:,} quotes, every {SLIDE} quotes"
_COLOURS = dict(zip(SYMBOLS, ("#0072b2", "#d55e00", "#009e73", "#cc79a7"), strict=True))
"""Colours that colour-blind readers can tell apart (Okabe and Ito)."""


def save_png(path: Path, results: pa.Table, batches: Sequence[Batch], began: int) -> None:
    """Plot the prices, and below them the throughput and the latency of the batches."""
    figure = plt.figure(figsize=(12, 8), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=(3, 2))
    _draw_prices(figure.add_subplot(grid[0, :]), results, began)
    _draw_rates(figure.add_subplot(grid[1, 0]), batches, began)
    _draw_latency(figure.add_subplot(grid[1, 1]), batches, began)
    windows, rows = len(results), sum(batch.rows for batch in batches)
    figure.suptitle(f"Windrow on a live stream: {windows:,} windows of {rows:,} quotes", size=15)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def terminal_plot(results: pa.Table, began: int, width: int, *, is_coloured: bool) -> str:
    """The mean prices as text; without colours, each symbol is drawn with its first letter."""
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.limit_size(False, False)
    plotext.plot_size(width, 18)
    for (symbol, at, own), colour in zip(
        _by_symbol(results, began), ("blue", "orange", "green", "magenta"), strict=False
    ):
        mean = own["mean"].to_numpy()
        marker = "braille" if is_coloured else symbol[0]
        plotext.plot(at.tolist(), mean.tolist(), label=symbol, marker=marker, color=colour)
    plotext.title(TITLE)
    plotext.xlabel("seconds of event time")
    text: str = plotext.build()
    return text if is_coloured else plotext.uncolorize(text)


def _draw_prices(axes: Any, results: pa.Table, began: int) -> None:
    for symbol, at, own in _by_symbol(results, began):
        colour = _COLOURS[symbol]
        axes.fill_between(at, own["low"], own["high"], color=colour, alpha=0.2, linewidth=0)
        axes.plot(at, own["mean"], color=colour, linewidth=1.4, label=f"{symbol} ({len(own):,})")
    axes.set_title(f"{TITLE}; shaded: 5th to 95th percentile")
    axes.set_xlabel("event time (s since the stream began)")
    axes.set_ylabel("price")
    axes.margins(x=0.01, y=0.12)
    axes.legend(title="symbol (windows)", loc="upper left", ncols=4)
    _tidy(axes)


def _draw_rates(axes: Any, batches: Sequence[Batch], began: int) -> None:
    busy = [batch for batch in batches if batch.rows and batch.newest_quote is not None]
    at = _seconds([batch.newest_quote for batch in busy], began)
    given, done = (
        [getattr(batch, name) / 1000 for batch in busy]
        for name in ("rows_per_second", "processed_per_second")
    )
    axes.plot(at, done, "o-", color="#0072b2", markersize=4, label="processed while busy")
    axes.plot(at, given, "s-", color="#d55e00", markersize=4, label="coming in")
    axes.set_title("Throughput of each batch")
    axes.set_ylabel("thousand rows/s")
    _finish(axes)


def _draw_latency(axes: Any, batches: Sequence[Batch], began: int) -> None:
    fired = [batch for batch in batches if batch.latency is not None]
    at = _seconds([batch.newest_quote for batch in fired], began)
    latency, busy = [b.latency for b in fired], [b.seconds for b in fired]
    axes.plot(at, latency, "o-", color="#009e73", markersize=4, label="from a quote to its window")
    axes.plot(at, busy, "s-", color="#cc79a7", markersize=4, label="batch, trigger to results")
    axes.set_title("Latency of each batch")
    axes.set_ylabel("seconds")
    _finish(axes)


def _finish(axes: Any) -> None:
    axes.set_xlabel("event time (s since the stream began)")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.legend()
    _tidy(axes)


def _tidy(axes: Any) -> None:
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _by_symbol(
    results: pa.Table, began: int
) -> Iterator[tuple[str, NDArray[np.float64], pa.Table]]:
    """Each symbol with windows, the times of those in seconds, and the windows in order."""
    in_order = results.sort_by("window_id")
    for symbol in SYMBOLS:
        own = in_order.filter(pc.equal(in_order["symbol"], symbol))
        if len(own):
            yield symbol, _seconds(own["at"].cast(pa.int64()).to_numpy(), began), own


def _seconds(times: Any, began: int) -> NDArray[np.float64]:
    return (np.asarray(times, dtype=np.int64) - began) / 1e6
