"""Joins in one process, without a JVM."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from windrow.core.watermark import END_OF_STREAM
from windrow.engine.columns.held import as_schema
from windrow.engine.datasets.steps import Step
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
        steps = [
            Step(rows, self.watermark, self.arrived[side], side=side)
            for side, rows in enumerate((left, right))
        ]
        self.arrived = [self.arrived[0] + len(left), self.arrived[1] + len(right)]
        return self.take(steps)

    def take(self, steps: list[Step]) -> list[pa.Table]:
        """Take the rows of steps, advance as far as the last allows, and return the results."""
        messages = []
        for step in steps:
            tuples, dropped = join_tuples(self.query, step.side, step.rows, step.first)
            self.dropped_at_intake += dropped
            messages += [tuples] if len(tuples) else []
        self.watermark = max(self.watermark, steps[-1].reached)
        return self.run({0: messages})

    def snapshot(self) -> dict[str, Any]:
        return {**super().snapshot(), "arrived": tuple(self.arrived)}

    def restore(self, snapshot: dict[str, Any]) -> None:
        super().restore(snapshot)
        self.arrived = list(snapshot["arrived"])


def collect(query: JoinQuery, stages: Stages, steps: Iterable[list[Step]]) -> pa.Table:
    """The results of a join of two bounded inputs, given in steps that are taken together."""
    runner = JoinRunner(query, stages)
    results = [table for together in steps for table in runner.take(together)]
    results += runner.finish() if runner.watermark < END_OF_STREAM else []
    schema = query.output_schema()
    tables = [as_schema(t, schema) for t in results]
    table = pa.concat_tables(tables) if tables else schema.empty_table()
    return table.replace_schema_metadata({DROPPED: str(runner.dropped).encode()})
