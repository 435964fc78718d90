"""Runs a stage list batch by batch in one process, and stores its workers between any two."""

from __future__ import annotations

import copy
from typing import Any

import pyarrow as pa

from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.stages.executor import run_nodes
from windrow.engine.stages.nodes import Emitter, Stages, Workers
from windrow.engine.stages.traffic import Traffic
from windrow.engine.state.log import StateLog
from windrow.engine.state.store import MemoryStore
from windrow.engine.window_query import WindowQuery
from windrow.engine.workers.worker import Worker


class StageRunner:
    """The emitters, workers and collectors of a query, deterministic, with an explicit watermark.

    ``advance`` moves the watermark and gives the results that follow, ``finish`` those at the end
    of the stream. How batches go in is a matter of the kind of query.
    """

    def __init__(self, stages: Stages, windows: WindowQuery | None = None) -> None:
        self.nodes = [copy.deepcopy(n) if isinstance(n, Emitter) else n for n in stages.nodes]
        self.windows = windows
        """What says in which order collectors put results; none where there is no collector."""
        self.workers: dict[int, list[Worker]] = {
            i: [node.make(j) for j in range(node.n)]
            for i, node in enumerate(self.nodes)
            if isinstance(node, Workers)
        }
        self.watermark = BEGINNING
        self.dropped_at_intake = 0
        self._logs: dict[tuple[int, int], tuple[StateLog, MemoryStore]] = {}

    @property
    def dropped(self) -> int:
        """Tuples that belong nowhere or came too late."""
        late = sum(w.dropped for workers in self.workers.values() for w in workers)
        return self.dropped_at_intake + late

    def advance(self, watermark: int) -> list[pa.Table]:
        """Move the watermark on."""
        self.watermark = max(self.watermark, watermark)
        return self.run({})

    def finish(self) -> list[pa.Table]:
        """The end of the stream: what is still open is given with what it holds."""
        return self.advance(END_OF_STREAM)

    def run(self, traffic: Traffic) -> list[pa.Table]:
        """The results of messages to the first node."""
        traffic = run_nodes(self.nodes, traffic, self.windows, self._work)
        return [table for messages in traffic.values() for table in messages if len(table)]

    def _work(self, number: int, traffic: Traffic) -> Traffic:
        given: Traffic = {}
        for j, worker in enumerate(self.workers[number]):
            for message in traffic.get(j, []):
                worker.push(message)
            given[j] = worker.advance(self.watermark)
        return given

    def stateful(self) -> list[list[Worker]]:
        """The stages of workers that hold state."""
        nodes = ((self.workers.get(i), node) for i, node in enumerate(self.nodes))
        return [w for w, node in nodes if isinstance(node, Workers) and w and node.holds_state]

    def snapshot(self) -> dict[str, Any]:
        """The state of every worker, for ``restore``."""
        stored = {}
        for i, workers in enumerate(self.stateful()):
            for j, worker in enumerate(workers):
                log, store = self._logs.setdefault((i, j), (StateLog({}, i), MemoryStore()))
                log.save(worker, store)
                stored[i, j] = dict(store.blobs)
        own = {"watermark": self.watermark, "dropped": self.dropped_at_intake}
        return {**own, "workers": stored}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take up the state of another runner of this query, whatever its levels are.

        This one must be new, or have come to its state by ``restore`` from the same runner.
        """
        self.watermark, self.dropped_at_intake = snapshot["watermark"], snapshot["dropped"]
        for i, workers in enumerate(self.stateful()):
            for j, worker in enumerate(workers):
                log, _ = self._logs.get((i, j), (StateLog({}, i), None))
                store = MemoryStore(snapshot["workers"][i, j])
                log.load(worker, store)
                self._logs[i, j] = log, store
