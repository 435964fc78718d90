"""The state of a join's worker, as what has changed since it was last stored."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

from windrow.engine.state import State
from windrow.engine.workers.worker import Worker

CHUNK = "chunk "


@dataclass
class Changes:
    """What to store: scalars whole each time, new chunks by number, numbers of those removed."""

    scalars: dict[str, Any] = field(default_factory=dict)
    chunks: dict[int, Any] = field(default_factory=dict)
    removed: list[int] = field(default_factory=list)


class StoredWorker(Worker):
    """A worker whose state is stored bit by bit, between any two batches: after ``advance``."""

    holds_state = True
    _chunks: dict[int, Any] | None = None
    """All chunks that are stored."""

    def state(self) -> State:
        changes = self.changes()
        kept = {n: c for n, c in (self._chunks or {}).items() if n not in set(changes.removed)}
        self._chunks = {**kept, **changes.chunks}
        return State(changes.scalars, chunks={f"{CHUNK}{n}": c for n, c in self._chunks.items()})

    def restore(self, state: State) -> None:
        known, stored = self._chunks or {}, state.chunks_of(CHUNK)
        new = {int(n): stored[n] for n in stored if int(n) not in known}
        removed = [n for n in known if str(n) not in stored]
        self.absorb(Changes(state.scalars, new, removed))
        self._chunks = {n: c for n, c in known.items() if str(n) in stored} | new

    @abstractmethod
    def changes(self) -> Changes:
        """What has changed since the last call."""

    @abstractmethod
    def absorb(self, changes: Changes) -> None:
        """Take up what another worker like this one has changed; one after the other, or all."""
