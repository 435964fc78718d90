"""Runs stages batch by batch in one process. Its state can be saved between batches."""

from __future__ import annotations

import copy
from functools import partial
from itertools import takewhile, zip_longest
from typing import Any

import pyarrow as pa

from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.stages.executor import run_nodes
from windrow.engine.stages.nodes import Emitter, Stages, Workers
from windrow.engine.stages.traffic import Traffic
from windrow.engine.state.log import StateLog
from windrow.engine.state.store import MemoryStore
from windrow.engine.threads import Threads
from windrow.engine.window_query import WindowQuery
from windrow.engine.workers.worker import Message, Worker


class StageRunner:
    """Runs the nodes of a query deterministically, with an explicit watermark.

    ``advance`` moves the watermark and returns the results that follow. ``finish`` returns those at
    the end of the stream. Subclasses define how batches are pushed.

    With ``threads``, the workers of a node run in them. Results do not depend on the threads.
    """

    def __init__(
        self, stages: Stages, windows: WindowQuery | None = None, threads: Threads | None = None
    ) -> None:
        self.nodes = [copy.deepcopy(n) if isinstance(n, Emitter) else n for n in stages.nodes]
        self.head = len(list(takewhile(lambda node: isinstance(node, Emitter), self.nodes)))
        """How many emitters come before the first workers. They keep nothing between messages."""
        self.threads = threads or Threads(1)
        self.windows = windows
        """The query that defines the order of collectors; None if there are no collectors."""
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
        """How many tuples had a null in a required column or came too late."""
        late = sum(w.dropped for workers in self.workers.values() for w in workers)
        return self.dropped_at_intake + late

    @property
    def n_waiting(self) -> int:
        """How many tuples are waiting for the watermark."""
        return sum(w.n_waiting for workers in self.workers.values() for w in workers)

    def advance(self, watermark: int) -> list[pa.Table]:
        """Advance the watermark and return the results that follow."""
        self.watermark = max(self.watermark, watermark)
        return self.run({})

    def finish(self) -> list[pa.Table]:
        """End the stream: windows that are still open are emitted with the tuples they have."""
        return self.advance(END_OF_STREAM)

    def run(self, traffic: Traffic) -> list[pa.Table]:
        """Send messages to the first node and return the results."""
        return self.work(self.emit(traffic))

    def emit(self, traffic: Traffic) -> Traffic:
        """Pass messages through the emitters before the first workers; in any thread."""
        return run_nodes(self.nodes[: self.head], traffic)

    def work(self, traffic: Traffic) -> list[pa.Table]:
        """Send messages to the first workers and return the results."""
        rest = self.nodes[self.head :]
        traffic = run_nodes(rest, traffic, self.windows, self._work, self.head)
        return [table for messages in traffic.values() for table in messages if len(table)]

    def _work(self, number: int, traffic: Traffic) -> Traffic:
        tasks = [
            partial(self._advance, worker, traffic.get(j, []))
            for j, worker in enumerate(self.workers[number])
        ]
        return dict(enumerate(self.threads.all(tasks)))

    def _advance(self, worker: Worker, messages: list[Message]) -> list[Message]:
        for message in messages:
            worker.push(message)
        return worker.advance(self.watermark)

    def stateful(self) -> list[list[Worker]]:
        """The workers of each node that holds state, and of each such link of a chain."""
        return [
            [stored for stored in links if stored is not None]
            for i, node in enumerate(self.nodes)
            if isinstance(node, Workers) and node.holds_state
            for links in zip_longest(*(worker.stored for worker in self.workers[i]))
        ]

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
        """Take over the state of another runner of this query, which may have another level.

        This runner must be new, or have its state from an earlier ``restore`` from that runner.
        """
        self.watermark, self.dropped_at_intake = snapshot["watermark"], snapshot["dropped"]
        for i, workers in enumerate(self.stateful()):
            for j, worker in enumerate(workers):
                log, _ = self._logs.get((i, j), (StateLog({}, i), None))
                store = MemoryStore(snapshot["workers"][i, j])
                log.load(worker, store)
                self._logs[i, j] = log, store
