"""Window queries in one process, without a JVM."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from windrow.core.watermark import final_watermark
from windrow.engine.columns.arrays import to_microseconds
from windrow.engine.columns.held import as_schema
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

    def push(self, batch: pa.Table) -> list[pa.Table]:
        """Take a batch and return the results that do not wait for the watermark to advance."""
        # A single node gets its tuples in order of arrival anyway.
        arrived = self.arrived if len(self.nodes) > 1 else None
        tuples, dropped = window_tuples(self.query, batch, arrived)
        self.dropped_at_intake += dropped
        self.arrived += len(batch)
        return self.run({0: [tuples]} if len(tuples) else {})

    def snapshot(self) -> dict[str, Any]:
        return {**super().snapshot(), "arrived": self.arrived}

    def restore(self, snapshot: dict[str, Any]) -> None:
        super().restore(snapshot)
        self.arrived = snapshot["arrived"]


def collect(query: WindowQuery, stages: Stages, table: pa.Table, *, ordered: bool) -> pa.Table:
    """The results of a query over a bounded table."""
    runner = WindowRunner(query, stages)
    if query.open_windows == "drop":
        results = _run_to_watermark(runner, table)
    else:
        results = [*runner.push(table), *runner.finish()]
    schema = query.output_schema({k: table.schema.field(k).type for k in query.keys})
    return _gathered(query, results, schema, ordered, runner.dropped)


def _run_to_watermark(runner: WindowRunner, table: pa.Table) -> list[pa.Table]:
    """The results that a stream over the same tuples would have fired."""
    query = runner.query
    results = runner.push(table)
    known = None if query.time is None else table[query.time].drop_null()
    if known is not None and len(times := to_microseconds(known, query.unit)):
        results += runner.advance(final_watermark(int(times.max()), query.delay))
    return results


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
