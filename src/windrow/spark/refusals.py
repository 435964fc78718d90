"""Why a stream could not continue from its checkpoint, or fires no window: in the log.

Spark compares the shape of a stream with its checkpoint in words of its own, and lets nobody speak
first. But it tells a listener of every start, before it compares anything, and of every failure. So
the failures of streams of ours are explained as ``check_checkpoint`` would have done it. The
listener leaves once every stream that it waits for has fired a window, or has been told to stand
still.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

from windrow.core.errors import WindrowError
from windrow.monitoring.batch import Batch
from windrow.monitoring.standstill import Standstill
from windrow.spark.master import is_connect
from windrow.spark.plans import Metrics, metrics_in, metrics_of

Check = Callable[[SparkSession, str], None]
"""Raises unless a query can continue from the checkpoint at a location."""

_LOG = logging.getLogger("windrow")
_COMPARED = (
    "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
    "STATE_STORE_INVALID_CONFIG_AFTER_RESTART",
    "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE",
    "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE",
    "sources in the checkpoint offsets",
)
"""What Spark says if the stream and its checkpoint differ in shape."""
_MOST_WAITING = 256
"""So many queries are remembered that have not been started."""


class Refusals(StreamingQueryListener):
    """Logs why streams of a session were refused."""

    def __init__(self, spark: SparkSession) -> None:
        self.session = spark
        self.lock = Lock()
        self.is_listening = False
        self.waiting: dict[Metrics, tuple[Check, bool]] = {}
        """Queries that have not been started, by their metrics: checks, and if windows are told."""
        self.started: dict[str, tuple[str, list[Check]]] = {}
        """The checkpoint of each stream that has had no batch, and the checks of its queries."""
        self.standstill = Standstill()

    def add(self, metrics: Metrics, check: Check, *, tells_windows: bool) -> None:
        """Explain the failure, or the silence, of the stream that will have these metrics."""
        with self.lock:
            self.waiting[metrics] = check, tells_windows
            if len(self.waiting) > _MOST_WAITING:
                del self.waiting[next(iter(self.waiting))]
            if not self.is_listening:
                self.session.streams.addListener(self)
                self.is_listening = True

    def onQueryStarted(self, event: Any) -> None:
        stream: Any = self.session.streams.get(str(event.id))
        if stream is None:
            return
        run = stream._jsq.streamingQuery()
        with self.lock:
            told = dict.fromkeys(metrics_in(run.analyzedPlan().toString()))  # twice after a union
            found = [metrics for metrics in told if metrics in self.waiting]
            ours = [self.waiting.pop(metrics) for metrics in found]
            if ours:
                checks = [check for check, _ in ours]
                self.started[str(event.runId)] = str(run.resolvedCheckpointRoot()), checks
            if any(tells_windows for _, tells_windows in ours):
                self.standstill.began(str(event.runId))

    def onQueryProgress(self, event: Any) -> None:
        run = str(event.progress.runId)
        if run in self.standstill.watched:
            _warn(self.standstill.progressed(run, Batch.of(event.progress)))
        self._ended(run)

    def onQueryIdle(self, event: Any) -> None:
        _warn(self.standstill.idled(str(event.runId)))
        self._ended(str(event.runId))

    def onQueryTerminated(self, event: Any) -> None:
        self.standstill.ended(str(event.runId))
        location, checks = self._ended(str(event.runId))
        if any(words in (event.exception or "") for words in _COMPARED):
            for check in checks:
                try:
                    check(self.session, location)
                except WindrowError as error:
                    _LOG.error("a stream cannot continue from %s: %s", location, error)

    def _ended(self, run: str) -> tuple[str, list[Check]]:
        """Forget a stream, and listen no more if it was the last; its checkpoint and checks."""
        with self.lock:
            known = self.started.pop(run, ("", []))
            if self.is_listening and not (self.started or self.waiting or self.standstill.watched):
                self.session.streams.removeListener(self)
                self.is_listening = False
        return known


def _warn(said: str | None) -> None:
    if said is not None:
        _LOG.warning(said)


_of_sessions: dict[str, Refusals] = {}


def explained(
    results: DataFrame, metrics: str, check: Check, *, tells_windows: bool = False
) -> DataFrame:
    """The results of a stream, whose failure to continue will be explained.

    So is that it fires no window, if its metrics tell how many it has fired. Not on Spark Connect,
    where a listener is not told where the checkpoint is.
    """
    spark = results.sparkSession
    if not is_connect(spark):
        own = next(m for m in metrics_of(results) if m[0] == metrics)
        id = str(spark._jsparkSession.sessionUUID())
        _of_sessions.setdefault(id, Refusals(spark)).add(own, check, tells_windows=tells_windows)
    return results
