"""Window queries in one process, without a JVM."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from windrow.core.errors import WindrowError
from windrow.core.watermark import BEGINNING, END_OF_STREAM, final_watermark
from windrow.engine.columns.arrays import to_microseconds
from windrow.engine.columns.held import as_schema
from windrow.engine.datasets.steps import Step, Unread
from windrow.engine.intake import window_tuples
from windrow.engine.stages.nodes import Stages
from windrow.engine.stages.runner import StageRunner
from windrow.engine.stages.traffic import Traffic, in_order
from windrow.engine.threads import Threads
from windrow.engine.window_query import WindowQuery

DROPPED = b"windrow.dropped"
"""Result metadata: how many rows were dropped because of a null or because they came too late."""


@dataclass(frozen=True)
class Prepared:
    """The rows of a step as messages to the first workers."""

    traffic: Traffic
    reached: int
    n_rows: int
    dropped: int
    greatest: int
    """The greatest time in the step, if only windows count that a stream would have fired."""


class WindowRunner(StageRunner):
    """Runs a query's stages over batches given to ``push``, or steps given to ``take``."""

    def __init__(self, query: WindowQuery, stages: Stages, threads: Threads | None = None) -> None:
        super().__init__(stages, query, threads)
        self.query = query
        self.arrived = 0
        self.numbers_tuples = stages.numbers_tuples

    def push(self, batch: pa.Table) -> list[pa.Table]:
        """Take a batch and return the results that do not wait for the watermark to advance."""
        prepared = self.prepare(Step(batch, self.watermark, self.arrived))
        self.arrived += len(batch)
        return self.take([prepared])

    def prepare(self, step: Step) -> Prepared:
        """Take in the rows of a step and route them; in any thread, in any order of steps."""
        is_numbered = self.numbers_tuples or step.is_moved
        tuples, dropped = window_tuples(self.query, step.rows, step.first if is_numbered else None)
        traffic = self.emit({0: [tuples]} if len(tuples) else {})
        return Prepared(traffic, step.reached, len(step.rows), dropped, self._greatest(step.rows))

    def _greatest(self, rows: pa.Table) -> int:
        query = self.query
        if query.open_windows == "emit" or query.time is None:
            return BEGINNING
        times = to_microseconds(rows[query.time].drop_null(), query.unit)
        return int(times.max(initial=BEGINNING))

    def take(self, steps: list[Prepared]) -> list[pa.Table]:
        """Take steps, advance as far as the last allows, and return the results."""
        traffic: Traffic = {}
        for step in steps:
            self.dropped_at_intake += step.dropped
            for worker, messages in step.traffic.items():
                traffic.setdefault(worker, []).extend(messages)
        self.watermark = max(self.watermark, steps[-1].reached)
        return self.work(traffic)

    def snapshot(self) -> dict[str, Any]:
        return {**super().snapshot(), "arrived": self.arrived}

    def restore(self, snapshot: dict[str, Any]) -> None:
        super().restore(snapshot)
        self.arrived = snapshot["arrived"]


def collect(
    query: WindowQuery,
    stages: Stages,
    steps: Iterable[Unread],
    schema: pa.Schema,
    *,
    ordered: bool,
    threads: int = 1,
) -> pa.Table:
    """The results of a query over a bounded input with columns of this schema.

    Steps are read, taken in and routed in several threads, a few in advance. Workers run in threads
    as well, unless they call functions of the user.
    """
    with Threads(threads) as shared:
        runner = WindowRunner(query, stages, shared if query.runs_kernels else None)
        tasks = (partial(_prepared, runner, step) for step in steps)
        results = list(_results(runner, shared.ahead(tasks)))
    output = query.output_schema({k: schema.field(k).type for k in query.keys})
    return _gathered(query, results, output, ordered, runner.dropped)


def _prepared(runner: WindowRunner, step: Unread) -> Prepared:
    return runner.prepare(step())


def _results(runner: WindowRunner, steps: Iterable[Prepared]) -> Iterator[pa.Table]:
    """The results of all steps."""
    reach = _Reach(runner.query)
    held: list[Prepared] = []
    rows = 0
    for step in steps:
        held.append(replace(step, reached=reach.limited(step)))
        rows += step.n_rows
        # Not with each of many steps: what it costs grows with what is waiting.
        if 2 * rows >= runner.n_waiting:
            yield from runner.take(held)
            held, rows = [], 0
    if held:
        yield from runner.take(held)
    if runner.query.open_windows == "emit" and runner.watermark < END_OF_STREAM:
        yield from runner.finish()
    if runner.dropped > runner.dropped_at_intake:
        raise WindrowError(
            "the statistics of a Parquet file must tell the least time in each row group",
            "rows with earlier times",
            "write the file again.",
        )


class _Reach:
    """How far time may advance if only windows count that a stream would have fired."""

    def __init__(self, query: WindowQuery) -> None:
        self.query = query
        self.greatest = BEGINNING

    def limited(self, step: Prepared) -> int:
        """As far as the step allows, but never past the watermark of a stream."""
        query = self.query
        if query.open_windows == "emit":
            return step.reached
        self.greatest = max(self.greatest, step.greatest)
        if self.greatest == BEGINNING:
            return BEGINNING
        return min(step.reached, final_watermark(self.greatest, query.delay))


def _gathered(
    query: WindowQuery,
    results: Iterable[pa.Table],
    schema: pa.Schema,
    ordered: bool,
    dropped: int,
) -> pa.Table:
    tables = [t for t in results if len(t)]
    if not tables:
        table = schema.empty_table()
    else:
        table = in_order(query, tables) if ordered else pa.concat_tables(tables)
        table = as_schema(table, schema)
    return table.replace_schema_metadata({DROPPED: str(dropped).encode()})
