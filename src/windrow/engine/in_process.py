"""Window queries in one process, without a JVM."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from windrow.core.errors import WindrowError
from windrow.core.watermark import BEGINNING, END_OF_STREAM, final_watermark
from windrow.engine.columns.arrays import to_microseconds
from windrow.engine.columns.held import as_schema
from windrow.engine.datasets.steps import Step
from windrow.engine.intake import window_tuples
from windrow.engine.stages.nodes import Stages
from windrow.engine.stages.runner import StageRunner
from windrow.engine.stages.traffic import in_order
from windrow.engine.window_query import WindowQuery

DROPPED = b"windrow.dropped"
"""Result metadata: how many rows were dropped because of a null or because they came too late."""


class WindowRunner(StageRunner):
    """Runs a query's stages over batches given to ``push``."""

    def __init__(self, query: WindowQuery, stages: Stages) -> None:
        super().__init__(stages, query)
        self.query = query
        self.arrived = 0
        self.numbers_tuples = stages.numbers_tuples

    def push(self, batch: pa.Table) -> list[pa.Table]:
        """Take a batch and return the results that do not wait for the watermark to advance."""
        return self.take([Step(batch, self.watermark)])

    def take(self, steps: list[Step]) -> list[pa.Table]:
        """Take the rows of steps, advance as far as the last allows, and return the results."""
        messages = [m for m in map(self._message, steps) if len(m)]
        self.watermark = max(self.watermark, steps[-1].reached)
        return self.run({0: messages} if messages else {})

    def _message(self, step: Step) -> pa.Table:
        arrived = self.arrived if step.first is None and self.numbers_tuples else step.first
        tuples, dropped = window_tuples(self.query, step.rows, arrived)
        self.dropped_at_intake += dropped
        self.arrived += len(step.rows)
        return tuples

    def snapshot(self) -> dict[str, Any]:
        return {**super().snapshot(), "arrived": self.arrived}

    def restore(self, snapshot: dict[str, Any]) -> None:
        super().restore(snapshot)
        self.arrived = snapshot["arrived"]


def collect(
    query: WindowQuery, stages: Stages, steps: Iterable[Step], schema: pa.Schema, *, ordered: bool
) -> pa.Table:
    """The results of a query over a bounded input with columns of this schema."""
    runner = WindowRunner(query, stages)
    results = list(_results(runner, steps))
    output = query.output_schema({k: schema.field(k).type for k in query.keys})
    return _gathered(query, results, output, ordered, runner.dropped)


def _results(runner: WindowRunner, steps: Iterable[Step]) -> Iterator[pa.Table]:
    """The results of all steps."""
    ahead = _Ahead(runner.query)
    held: list[Step] = []
    rows = 0
    for step in steps:
        held.append(replace(step, reached=ahead.limited(step)))
        rows += len(step.rows)
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


class _Ahead:
    """How far time may advance if only windows count that a stream would have fired."""

    def __init__(self, query: WindowQuery) -> None:
        self.query = query
        self.greatest = BEGINNING

    def limited(self, step: Step) -> int:
        """As far as the step allows, but never past the watermark of a stream."""
        query = self.query
        if query.open_windows == "emit":
            return step.reached
        if query.time is None:
            return BEGINNING
        times = to_microseconds(step.rows[query.time].drop_null(), query.unit)
        self.greatest = max(self.greatest, int(times.max(initial=BEGINNING)))
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
