"""Window queries in one process, without a JVM."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from windrow.engine.columns import to_microseconds
from windrow.engine.intake import take_in
from windrow.engine.spec import WindowQuery
from windrow.engine.stage_runner import StageRunner
from windrow.engine.stages import Stages
from windrow.engine.traffic import in_order

DROPPED = b"windrow.dropped"
"""Metadata of the result: how many tuples were dropped, for a null or for being too late."""


class InProcess(StageRunner):
    """Runs a query's stages over batches that go in by ``push``."""

    def __init__(self, query: WindowQuery, stages: Stages) -> None:
        super().__init__(stages, query)
        self.query = query
        self.arrived = 0

    def push(self, batch: pa.Table) -> list[pa.Table]:
        """Take a batch in; results that follow without the watermark moving on."""
        # A single worker has tuples in order of arrival anyway.
        arrived = self.arrived if len(self.nodes) > 1 else None
        tuples, dropped = take_in(self.query, batch, arrived)
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
    runner = InProcess(query, stages)
    if query.partial == "drop":
        results = _run_to_watermark(runner, table)
    else:
        results = [*runner.push(table), *runner.finish()]
    schema = query.output_schema({k: table.schema.field(k).type for k in query.keys})
    return _gathered(query, results, schema, ordered, runner.dropped)


def _run_to_watermark(runner: InProcess, table: pa.Table) -> list[pa.Table]:
    """What a stream over the same tuples would have fired."""
    query = runner.query
    results = runner.push(table)
    if query.time is not None and len(times := to_microseconds(table[query.time].drop_null())):
        results += runner.advance(final_watermark(int(times.max()), query.delay))
    return results


def final_watermark(greatest: int, delay: int) -> int:
    """The watermark of a stream whose greatest time this is: in whole milliseconds."""
    return (greatest - delay) // 1000 * 1000


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
        table = table.cast(schema)
    return table.replace_schema_metadata({DROPPED: str(dropped).encode()})
