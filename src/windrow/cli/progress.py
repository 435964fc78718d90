"""The progress of a streaming query, shown batch by batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery
from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table

from windrow.core.durations import instant

RESULTS = "results"
"""The observed metrics of the results: ``windows`` and ``newest``, in microseconds."""
_SHOWN = 10
"""How many batches the table shows."""


@dataclass(frozen=True)
class Batch:
    """A micro-batch; times are in microseconds."""

    number: int
    rows: int
    source_second: int
    """The rate source has generated its rows up to this second."""
    rows_per_second: float
    processed_per_second: float
    seconds: float
    """From the trigger to the results."""
    watermark: int
    """Zero while there is no watermark."""
    newest_quote: int | None
    newest_in_window: int | None
    state_bytes: int
    """The memory of the state store."""
    windows: int
    dropped: int

    @staticmethod
    def of(progress: Any) -> Batch:
        """A batch as the query reports it."""
        times = {name: instant(datetime.fromisoformat(t)) for name, t in progress.eventTime.items()}
        results = progress.observedMetrics[RESULTS]
        return Batch(
            number=progress.batchId,
            rows=progress.numInputRows,
            source_second=int(progress.sources[0].endOffset),
            rows_per_second=progress.inputRowsPerSecond or 0,
            processed_per_second=progress.processedRowsPerSecond or 0,
            seconds=progress.durationMs["triggerExecution"] / 1000,
            watermark=times["watermark"],
            newest_quote=times.get("max"),
            newest_in_window=results["newest"],
            state_bytes=sum(state.memoryUsedBytes for state in progress.stateOperators),
            windows=results["windows"],
            dropped=progress.observedMetrics["windrow"]["dropped"],
        )

    @property
    def latency(self) -> float | None:
        """Seconds from a quote to its window: how far windows lag behind, plus the batch."""
        if self.newest_quote is None or self.newest_in_window is None:
            return None
        return (self.newest_quote - self.newest_in_window) / 1e6 + self.seconds


COLUMNS: dict[str, tuple[int, Callable[[Batch], str]]] = {
    "rows": (9, lambda b: f"{b.rows:,}"),
    "rows/s in": (9, lambda b: f"{b.rows_per_second:,.0f}"),
    "done/s": (8, lambda b: f"{b.processed_per_second:,.0f}"),
    "batch": (7, lambda b: f"{b.seconds:.2f} s"),
    "latency": (7, lambda b: "" if b.latency is None else f"{b.latency:.2f} s"),
    "watermark": (10, lambda b: _clock(b.watermark)),
    "state": (8, lambda b: f"{b.state_bytes / 1e6:.1f} MB"),
    "windows": (7, lambda b: f"{b.windows:,}"),
    "dropped": (7, lambda b: f"{b.dropped:,}"),
}
"""The table's columns: their widths (80 characters in all) and texts."""


def reported(query: StreamingQuery) -> Iterator[Batch | None]:
    """Yield every batch as soon as it is reported, and None while there is no new one."""
    seen = -1
    while query.isActive:
        last = query.lastProgress
        if last is None or last.batchId == seen:
            yield None
            time.sleep(0.05)
            continue
        for progress in query.recentProgress:
            if progress.batchId > seen:
                seen = progress.batchId
                yield Batch.of(progress)
    if (error := query.exception()) is not None:
        raise error


class BatchTable:
    """A live table in a terminal; elsewhere one line per batch."""

    def __init__(self, console: Console, seconds: float) -> None:
        self.console, self.seconds = console, seconds
        self.batches: list[Batch] = []
        self._live = Live(console=console, refresh_per_second=4) if console.is_terminal else None

    def __enter__(self) -> BatchTable:
        if self._live is None:
            print(" ".join(f"{name:>{width}}" for name, (width, _) in COLUMNS.items()), flush=True)
        else:
            self._live.start()
            self.update(None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def add(self, batch: Batch) -> None:
        """Show one more batch."""
        self.batches.append(batch)
        if self._live is None:
            print(" ".join(f"{text(batch):>{w}}" for w, text in COLUMNS.values()), flush=True)

    def update(self, elapsed: float | None) -> None:
        """Show how many seconds have passed; None before the first windows."""
        if self._live is None:
            return
        table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
        for name, (width, _) in COLUMNS.items():
            table.add_column(name, justify="right", min_width=width, no_wrap=True)
        for batch in self.batches[-_SHOWN:]:
            table.add_row(*(text(batch) for _, text in COLUMNS.values()))
        bar = ProgressBar(self.seconds, elapsed or 0, width=80, pulse=elapsed is None)
        self._live.update(Group(table, Padding(bar, (1, 0, 0, 0)), self._totals(elapsed)))

    def _totals(self, elapsed: float | None) -> str:
        if elapsed is None:
            return "waiting for the first windows"
        rows, windows, dropped = (
            sum(getattr(b, name) for b in self.batches) for name in ("rows", "windows", "dropped")
        )
        return (
            f"{min(elapsed, self.seconds):.0f} of {self.seconds:.0f} s: [bold]{rows:,}[/] rows, "
            f"[bold]{windows:,}[/] windows, [bold]{dropped:,}[/] rows dropped as too late"
        )


def _clock(time: int) -> str:
    """The time of day, UTC."""
    if not time:
        return ""
    moment = datetime(1970, 1, 1) + timedelta(microseconds=time)
    return moment.strftime("%H:%M:%S.%f")[:-5]
