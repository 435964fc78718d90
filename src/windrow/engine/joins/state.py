"""The state of a join's worker, as what has changed since it was last stored."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

from windrow.engine.workers.worker import Worker


@dataclass
class Changes:
    """What to store: scalars whole each time, new chunks by number, numbers of those removed."""

    scalars: dict[str, Any] = field(default_factory=dict)
    chunks: dict[int, Any] = field(default_factory=dict)
    removed: list[int] = field(default_factory=list)


class StoredWorker(Worker):
    """A worker whose state is stored bit by bit, between any two batches: after ``advance``."""

    @abstractmethod
    def changes(self) -> Changes:
        """What has changed since the last call."""

    @abstractmethod
    def absorb(self, changes: Changes) -> None:
        """Take up what another worker like this one has changed; one after the other, or all."""
