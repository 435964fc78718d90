"""The in-process runner of joins: a stage list over batches of two streams, without a JVM."""

from __future__ import annotations

import copy
from typing import Any

import pyarrow as pa

from windrow.engine.in_process import DROPPED, Traffic, emit_traffic
from windrow.engine.joins.intake import take_in
from windrow.engine.joins.spec import JoinQuery
from windrow.engine.joins.state import Changes, StoredWorker
from windrow.engine.stages import Emit, Stages, Work
from windrow.kernels.interval_windows import ALWAYS, NEVER


class JoinInProcess:
    """Runs a join's stages batch by batch, deterministic, with an explicit watermark."""

    def __init__(self, query: JoinQuery, stages: Stages) -> None:
        self.query = query
        self.nodes = [copy.deepcopy(n) if isinstance(n, Emit) else n for n in stages.nodes]
        self.workers: dict[int, list[Any]] = {
            i: [node.make(j) for j in range(node.n)]
            for i, node in enumerate(self.nodes)
            if isinstance(node, Work)
        }
        self.watermark = NEVER
        self.arrived = [0, 0]
        self._dropped_at_intake = 0

    @property
    def dropped(self) -> int:
        """Tuples without a time, and those that came too late."""
        late = sum(worker.dropped for worker in self._stored().values())
        return self._dropped_at_intake + late

    def push(self, left: pa.Table, right: pa.Table) -> list[pa.Table]:
        """Take in a batch of both sides; results that follow without the watermark moving on."""
        messages = []
        for side, batch in enumerate((left, right)):
            tuples, dropped = take_in(self.query, side, batch, self.arrived[side])
            self._dropped_at_intake += dropped
            self.arrived[side] += len(batch)
            messages += [tuples] if len(tuples) else []
        return self._run({0: messages})

    def advance(self, watermark: int) -> list[pa.Table]:
        """Move the watermark on."""
        self.watermark = max(self.watermark, watermark)
        return self._run({})

    def finish(self) -> list[pa.Table]:
        """The end of both streams: every window is over."""
        return self.advance(ALWAYS)

    def _run(self, traffic: Traffic) -> list[pa.Table]:
        for i, node in enumerate(self.nodes):
            if isinstance(node, Emit):
                traffic = emit_traffic(node, traffic)
                continue
            given: Traffic = {}
            for j, worker in enumerate(self.workers[i]):
                for message in traffic.get(j, []):
                    worker.push(message)
                given[j] = worker.advance(self.watermark)
            traffic = given
        return [table for messages in traffic.values() for table in messages if len(table)]

    def changes(self) -> dict[tuple[int, int], Changes]:
        """What has changed in each worker since the last call."""
        return {place: worker.changes() for place, worker in self._stored().items()}

    def absorb(self, changes: dict[tuple[int, int], Changes]) -> None:
        """Take up what has changed in the workers of another runner of this join."""
        workers = self._stored()
        for place, changed in changes.items():
            workers[place].absorb(changed)

    def _stored(self) -> dict[tuple[int, int], StoredWorker]:
        return {(i, j): w for i, workers in self.workers.items() for j, w in enumerate(workers)}


def collect(query: JoinQuery, stages: Stages, left: pa.Table, right: pa.Table) -> pa.Table:
    """The results of a join of two bounded tables."""
    runner = JoinInProcess(query, stages)
    runner.watermark = ALWAYS
    results = runner.push(left, right)
    schema = query.output_schema()
    tables = [t.cast(schema) for t in results]
    table = pa.concat_tables(tables) if tables else schema.empty_table()
    return table.replace_schema_metadata({DROPPED: str(runner.dropped).encode()})
