"""A worker together with the logs that store its state."""

from __future__ import annotations

from typing import Any

from windrow.engine.state.log import StateLog
from windrow.engine.state.store import LinkStore, Store
from windrow.engine.workers.worker import Worker


class StoredWorker:
    """A worker in memory, and what is known of its stored state.

    It has one log, or one for each link of a chain that holds state.
    """

    def __init__(self, worker: Worker, identity: dict[str, Any], stage: int = 0) -> None:
        self.worker = worker
        self.logs = [StateLog(identity, stage) for _ in worker.stored]

    @property
    def is_new(self) -> bool:
        """Whether it has no stored state yet."""
        return not self.logs[0].token

    @property
    def extra(self) -> dict[str, Any]:
        """Other data to store with the worker."""
        return self.logs[0].extra

    @property
    def n_bytes(self) -> int:
        """How many bytes its stored state has, without headers."""
        return sum(log.n_bytes for log in self.logs)

    def load(self, store: Store) -> None:
        """Bring the worker up to the stored state. Time O(missing data)."""
        for i, (log, link) in enumerate(zip(self.logs, self.worker.stored, strict=True)):
            log.load(link, LinkStore(store, i) if i else store)

    def save(self, store: Store) -> None:
        """Store what changed since the last save. Time O(changes), plus O(keys) to compare."""
        for i, (log, link) in enumerate(zip(self.logs, self.worker.stored, strict=True)):
            log.save(link, LinkStore(store, i) if i else store)
