"""A window query over files, as the command line describes it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Literal

import pyarrow as pa
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

import windrow as wr
from windrow.api.datasets import DatasetSource
from windrow.cli.formats import format_of, writer_of
from windrow.cli.function_text import functions_of
from windrow.cli.window_text import window_of
from windrow.core.durations import TimeUnit
from windrow.core.errors import WindrowError
from windrow.engine.datasets.steps import Side, Step, Unread
from windrow.engine.in_process import DROPPED
from windrow.engine.window_query import OpenWindows, WindowQuery

_COUNTED = ("parquet", "ipc", "orc")
"""Formats that tell the number of rows without being read."""


@dataclass(frozen=True)
class FileQuery:
    """The options of ``run`` and ``explain``."""

    paths: Sequence[str]
    window: str
    functions: Sequence[str]
    keys: Sequence[str] = ()
    time: str | None = None
    unit: TimeUnit = "us"
    delay: str = "0 s"
    order_by: Sequence[str] = ()
    format: str | None = None
    open_windows: OpenWindows = "emit"
    ordered: bool = False

    def query(self, seen: Callable[[int], object] = lambda rows: None) -> wr.Query:
        """The query; ``seen`` is told how many rows were read."""
        functions, model = functions_of(self.functions), window_of(self.window)
        if model.needs_event_time and self.time is None:
            rule, hint = "the window needs an event time", "name its column with --time."
            raise WindrowError(rule, repr(self.window), hint)
        paths = self.paths[0] if len(self.paths) == 1 else list(self.paths)
        scanned = wr.scan(paths, self.format or format_of(self.paths)).source
        assert isinstance(scanned, DatasetSource)
        query = wr.Query(_Watched(scanned, seen))
        if self.keys:
            query = query.key_by(*self.keys)
        if self.time is not None:
            query = query.event_time(self.time, self.delay, unit=self.unit)
        if self.order_by:
            query = query.order_by(*self.order_by)
        query = query.window(model, self.open_windows).agg(**functions)
        return query.ordered() if self.ordered else query

    def run(self, out: str | None, limit: int) -> None:
        """Write the results to a file, or print the first of them."""
        write = None if out is None else writer_of(out, self.paths)
        began = time.monotonic()
        console = Console(stderr=True, highlight=False, markup=False)
        columns = (TextColumn("{task.completed:,.0f} rows"), BarColumn(), TaskProgressColumn())
        progress = Progress(*columns, TimeRemainingColumn(), console=console)
        with progress if console.is_terminal else nullcontext():
            task = progress.add_task("", total=None)
            query = self.query(lambda rows: progress.advance(task, rows))
            progress.update(task, total=self._total(query))
            results = query.collect()
        if write is None:
            _print_table(results, limit)
        else:
            write(results)
        dropped = int((results.schema.metadata or {}).get(DROPPED, 0))
        where = "" if out is None else f" in {out}"
        lost = (
            f"; dropped for lack of a time or attribute: {dropped:,} of the rows" if dropped else ""
        )
        seconds = time.monotonic() - began
        console.print(
            f"{len(results):,} windows{where} after {seconds:.1f} s{lost}", soft_wrap=True
        )

    def explain(self) -> None:
        """Print what ``run`` does."""
        query = self.query()
        assert isinstance(query.source, DatasetSource)
        print(query.source.decision_in_process(query.window_query(), query.pattern).explain())

    def _total(self, query: wr.Query) -> int | None:
        """The number of rows to read, if it costs nothing to find out."""
        source = query.source
        assert isinstance(source, DatasetSource)
        if (self.format or format_of(self.paths)) not in _COUNTED:
            return None
        count: int = source.dataset.count_rows()
        return count


class _Watched(DatasetSource):
    """A dataset that tells how many rows were read."""

    def __init__(self, source: DatasetSource, seen: Callable[[int], object]) -> None:
        super().__init__(source.dataset)
        self.seen = seen

    def steps(self, query: WindowQuery, side: Side) -> Iterator[Unread]:
        for unread in super().steps(query, side):
            yield partial(self._read, unread)

    def _read(self, unread: Unread) -> Step:
        step = unread()
        self.seen(len(step.rows))
        return step


def _print_table(results: pa.Table, limit: int) -> None:
    """The first rows on the standard output, as wide as they are if that is no terminal."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    rows = [[*map(_cell, row.values())] for row in results.slice(0, limit).to_pylist()]
    for i, field in enumerate(results.schema):
        is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        # In a narrow terminal a text may be cut off; a number would be another one.
        least = max((len(row[i]) for row in rows), default=0) if is_number else None
        side: Literal["left", "right"] = "right" if is_number else "left"
        table.add_column(field.name, justify=side, no_wrap=True, min_width=least)
    for row in rows:
        table.add_row(*row)
    width = None if sys.stdout.isatty() else 1000
    console = Console(width=width, highlight=False, markup=False)
    console.print(table)
    if len(results) > limit:
        console.print(
            f"... and {len(results) - limit:,} more: --limit shows more, --out writes all"
        )


def _cell(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_cell(field)}" for name, field in value.items())
    return f"{value:.10g}" if isinstance(value, float) else str(value)
