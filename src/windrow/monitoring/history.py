"""What the streams of a session have done: the last batches, and totals since they began."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import time
from typing import Literal

from windrow.monitoring.batch import Batch, Share

MOST_BATCHES = 600
MOST_RUNS = 50
"""Of more queries those that ended first are forgotten."""

Worker = tuple[str, int, int]
"""The name of a query's metrics, the number of a stage, and of a worker in it."""


@dataclass
class WorkerTotals:
    """What a worker has done since the query began."""

    rows_in: int = 0
    rows_out: int = 0
    seconds: float = 0.0
    last: Share | None = None
    """What it told last, and so what it holds: not every worker runs in every batch."""


@dataclass(frozen=True)
class Held:
    """What the state of a query holds."""

    rows: int
    keys: int
    bytes: int


@dataclass
class Run:
    """A streaming query from its start to its end."""

    run_id: str
    query_id: str
    name: str | None
    started: float
    state: Literal["running", "stopped", "failed"] = "running"
    ended: float | None = None
    message: str | None = None
    """Why it failed."""
    batches: deque[Batch] = field(default_factory=lambda: deque(maxlen=MOST_BATCHES))
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_BATCHES))
    """One for each batch: from the start of the batch before to its own end, in seconds.

    A row that came just after a batch had begun has waited that long for its results.
    """
    held: deque[Held] = field(default_factory=lambda: deque(maxlen=MOST_BATCHES))
    """After each batch."""
    totals: Counter[str] = field(default_factory=Counter)
    workers: dict[Worker, WorkerTotals] = field(default_factory=dict)
    is_idle: bool = False
    """Whether no rows have come since the last batch."""

    @property
    def label(self) -> str:
        """What people call the query: its name, or the beginning of its id."""
        return self.name or self.query_id[:8]

    @property
    def last(self) -> Batch | None:
        """The last batch."""
        return self.batches[-1] if self.batches else None

    def watermark_lag(self, now: float) -> float | None:
        """How far the watermark is behind the clock: while the query runs it grows by itself."""
        if self.last is None or self.last.watermark is None:
            return None
        return (now if self.ended is None else self.ended) - self.last.watermark

    def add(self, batch: Batch) -> None:
        """Take a batch in."""
        has_waited = self.last is not None and not self.is_idle
        since = self.last.started if has_waited and self.last is not None else batch.started
        self.latencies.append(batch.ended - since)
        self.batches.append(batch)
        self.is_idle = False
        self.totals["batches"] += 1
        self.totals["rows"] += batch.rows
        for part in batch.parts:
            for name in ("windows", "late", "dropped"):
                self.totals[name] += getattr(part, name)
            for share in part.shares:
                worker = part.name, share.stage, share.worker
                totals = self.workers.setdefault(worker, WorkerTotals())
                totals.rows_in += share.rows_in
                totals.rows_out += share.rows_out
                totals.seconds += share.seconds
                totals.last = share
        self.held.append(self._held())

    def _held(self) -> Held:
        """All that the workers hold; of the stages with the keys of a query, the first one's."""
        last = [(part, w.last) for (part, _, _), w in self.workers.items() if w.last is not None]
        first: dict[str, int] = {}
        for part, share in last:
            if share.keys:
                first[part] = min(share.stage, first.get(part, share.stage))
        return Held(
            sum(share.rows_held for _, share in last),
            sum(share.keys for part, share in last if share.stage == first.get(part)),
            sum(share.state_bytes for _, share in last),
        )


class History:
    """The queries that a listener has heard of. Several threads may use it."""

    def __init__(self, clock: Callable[[], float] = time) -> None:
        self.clock = clock
        self.lock = threading.RLock()
        self._runs: OrderedDict[str, Run] = OrderedDict()

    def runs(self) -> list[Run]:
        """All queries, the newest first. Hold the lock for as long as they are read."""
        return list(reversed(self._runs.values()))

    def started(self, run_id: str, query_id: str, name: str | None) -> Run:
        """A query has started, or is heard of for the first time."""
        with self.lock:
            if run_id not in self._runs:
                self._runs[run_id] = Run(run_id, query_id, name, self.clock())
                self._forget()
            return self._runs[run_id]

    def progressed(self, run_id: str, query_id: str, name: str | None, batch: Batch) -> None:
        """A query has completed a batch."""
        with self.lock:
            self.started(run_id, query_id, name).add(batch)

    def idled(self, run_id: str) -> None:
        """A query has nothing to do."""
        with self.lock:
            if run_id in self._runs:
                self._runs[run_id].is_idle = True

    def ended(self, run_id: str, query_id: str, message: str | None) -> None:
        """A query was stopped, or failed with a message."""
        with self.lock:
            run = self.started(run_id, query_id, None)
            run.state = "stopped" if message is None else "failed"
            run.message, run.ended = message, self.clock()

    def _forget(self) -> None:
        over = [run for run in self._runs.values() if run.ended is not None]
        for run in over[: max(0, len(self._runs) - MOST_RUNS)]:
            del self._runs[run.run_id]
