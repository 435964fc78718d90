"""Joins in one process, without a JVM."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from windrow.core.watermark import END_OF_STREAM
from windrow.engine.columns.held import as_schema
from windrow.engine.in_process import DROPPED
from windrow.engine.joins.intake import join_tuples
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.stages.nodes import Stages
from windrow.engine.stages.runner import StageRunner


class JoinRunner(StageRunner):
    """Runs the stages of a join over the batches of two streams, given to ``push``."""

    def __init__(self, query: JoinQuery, stages: Stages) -> None:
        super().__init__(stages)
        self.query = query
        self.arrived = [0, 0]

    def push(self, left: pa.Table, right: pa.Table) -> list[pa.Table]:
        """Take a batch of each side and return the results at the current watermark."""
        messages = []
        for side, batch in enumerate((left, right)):
            tuples, dropped = join_tuples(self.query, side, batch, self.arrived[side])
            self.dropped_at_intake += dropped
            self.arrived[side] += len(batch)
            messages += [tuples] if len(tuples) else []
        return self.run({0: messages})

    def snapshot(self) -> dict[str, Any]:
        return {**super().snapshot(), "arrived": tuple(self.arrived)}

    def restore(self, snapshot: dict[str, Any]) -> None:
        super().restore(snapshot)
        self.arrived = list(snapshot["arrived"])


def collect(query: JoinQuery, stages: Stages, left: pa.Table, right: pa.Table) -> pa.Table:
    """The results of a join of two bounded tables."""
    runner = JoinRunner(query, stages)
    runner.watermark = END_OF_STREAM
    results = runner.push(left, right)
    schema = query.output_schema()
    tables = [as_schema(t, schema) for t in results]
    table = pa.concat_tables(tables) if tables else schema.empty_table()
    return table.replace_schema_metadata({DROPPED: str(runner.dropped).encode()})
