"""Measures what the engine's steps cost in this process, by queries that differ in one step.

All times are CPU times of one thread, so that a busy machine does not change them much. A
difference that is not positive is lost in the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import windrow as wr
from windrow import functions as wf
from windrow.engine.in_process import WindowRunner
from windrow.engine.intake import window_tuples
from windrow.engine.stages.executor import run_nodes
from windrow.engine.window_query import WindowQuery
from windrow.patterns import WinSeq
from windrow.patterns.windows import window_stages

ROWS = 400_000
KEYS = 400
_EACH = ROWS // KEYS
OVERLAPPING = wr.CountWindow(_EACH // 10 * 4, _EACH // 10)
_PAIRS = 1500
"""The rows of each side of a join, all of which meet."""


def rows_to_measure(n: int = ROWS) -> pa.Table:
    """Rows one microsecond apart, of keys in turn."""
    numbers = np.arange(n)
    random = np.random.default_rng(1)
    return pa.table(
        {
            "k": numbers % KEYS,
            "t": pa.array(numbers, pa.timestamp("us")),
            "x": random.normal(size=n),
            "y": random.normal(size=n),
        }
    )


class Here:
    """Times of steps per row, window or pair, in microseconds."""

    def __init__(self) -> None:
        self.rows = rows_to_measure()
        self.base: Any = wr.stream(self.rows).key_by("k").event_time("t")

    def all(self) -> Iterator[tuple[str, float]]:
        """The constants by name, one after the other as they are measured."""
        intake = per(ROWS, self._intake)
        whole = self._collected(wr.CountWindow(_EACH), tiny)
        call = (self._collected(wr.CountWindow(_EACH, 10), tiny) - whole) / (ROWS / 10)
        yield "keep", (whole - KEYS * call) / ROWS - intake
        yield "call", call
        yield "fold", (self._collected(wr.CountWindow(_EACH), count_rows) - whole) / ROWS
        yield "lift", (self._collected(wr.CountWindow(_EACH), added) - whole) / ROWS
        sliding = self._collected(OVERLAPPING, first)
        yield "of_few", (self._collected(OVERLAPPING, variance) - sliding) / ROWS
        yield "of_all", (self._collected(OVERLAPPING, median) - sliding) / ROWS
        yield from self._panes(intake)
        yield "pair", 1e6 * least(self._join) / _PAIRS**2
        yield "state", self._state() / ROWS

    def in_process(self) -> Iterator[tuple[str, float]]:
        """What costs less in this process than on Spark."""
        yield "exchange", per(ROWS, self._sent)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            parquet.write_table(self.rows, path)
            source: Any = wr.scan(str(path)).source
            took = per(ROWS, lambda: [list(source.scan.batches(p)) for p in source.pieces])
        yield "read", took

    def _panes(self, intake: float) -> Iterator[tuple[str, float]]:
        """Sums of few panes, of as many panes as windows, and of two panes per window."""
        length = KEYS * 10
        few = self._collected(wr.TimeWindow(KEYS * _EACH), summed)
        yield "reduce", few / ROWS - intake
        panes = ROWS / 10
        equal = (self._collected(wr.TimeWindow(length), summed) - few) / panes
        two = self._collected(wr.TimeWindow(3 * length, 2 * length), summed) - few
        window = 2 * (equal - two / panes)
        # If the difference is noise, both are half of what was measured together.
        window = window if 0 < window < equal else equal / 2
        yield "piece", equal - window
        yield "window", window

    def _collected(self, model: wr.WindowModel, compute: Callable[[Any], Any]) -> float:
        query = compute(self.base.window(model)).using(WinSeq())
        return 1e6 * least(lambda: query.collect(threads=1))

    def _whole(self, model: wr.WindowModel) -> WindowQuery:
        complete: WindowQuery = tiny(self.base.window(model)).window_query()
        return complete

    def _intake(self) -> object:
        return window_tuples(self._whole(wr.CountWindow(_EACH)), self.rows, 0)

    def _sent(self) -> object:
        query = self._whole(wr.CountWindow(_EACH))
        tuples, _ = window_tuples(query, self.rows, 0)
        emitters = window_stages(query, wr.KeyFarm(2), "tasks").groups[0]
        return run_nodes(emitters, {0: [tuples]})

    def _join(self) -> object:
        side = self.rows.slice(0, _PAIRS)
        above = wr.theta(lambda left, right: left["x"] > right["x"] + 100)
        return wr.join(side, side, within=2 * _PAIRS, on=above).collect()

    def _state(self) -> float:
        """What it takes to save all rows, in microseconds."""
        query = self._whole(wr.CountWindow(2 * ROWS))

        def run(*, saves: bool) -> None:
            runner = WindowRunner(query, window_stages(query, WinSeq()))
            for first in range(0, ROWS, ROWS // 4):
                runner.push(self.rows.slice(first, ROWS // 4))
                runner.advance(first)
                if saves:
                    runner.snapshot()

        return 1e6 * (least(partial(run, saves=True)) - least(partial(run, saves=False)))


def tiny(windows: Any) -> Any:
    """A function that costs nothing but its call."""
    return windows.apply(lambda w: {"r": 0}, "r bigint")


def count_rows(windows: Any) -> Any:
    """A fold that costs nothing but its calls."""
    return windows.fold(lambda n, row: n + 1, 0, "r bigint")


class Added(wr.Commutative[float, float, float]):
    """An aggregate that costs nothing but its calls."""

    returns = "double"

    def lift(self, value: float) -> float:
        return value

    def combine(self, left: float, right: float) -> float:
        return left + right

    def lower(self, partial: float) -> float:
        return partial


def added(windows: Any) -> Any:
    """An aggregate of a user's own."""
    return windows.agg(r=Added("x"))


def first(windows: Any) -> Any:
    """A function that looks at one row of a window."""
    return windows.agg(f=wf.first("x"))


def variance(windows: Any) -> Any:
    """A function whose partials are small, over windows that are not cut into panes."""
    return windows.agg(r=wf.var("x"), f=wf.first("x"))


def median(windows: Any) -> Any:
    """A function that needs all rows."""
    return windows.agg(r=wf.median("x"))


def summed(windows: Any) -> Any:
    """A function whose panes are reduced."""
    return windows.agg(r=wf.sum("x"))


def least(run: Callable[[], object], times: int = 3) -> float:
    """The least CPU time of some runs, in seconds, after one that compiles the kernels."""
    run()
    found = []
    for _ in range(times):
        start = process_time()
        run()
        found.append(process_time() - start)
    return min(found)


def per(n: int, run: Callable[[], object]) -> float:
    """Microseconds of each of n."""
    return 1e6 * least(run) / n
