"""Hears from Spark what the streams of a session do, and keeps it as plain data."""

from __future__ import annotations

import logging
from typing import Any

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from windrow.monitoring.batch import Batch
from windrow.monitoring.history import History

_LOG = logging.getLogger("windrow.monitoring")


class HistoryListener(StreamingQueryListener):
    """Turns the events of streams, on Spark classic or Connect, into a history.

    An exception in a listener would reach nobody, so it is logged.
    """

    def __init__(self, history: History) -> None:
        self.history = history

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        self.history.started(str(event.runId), str(event.id), event.name)

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        progress: Any = event.progress
        try:
            batch = Batch.of(progress)
        except Exception:
            _LOG.exception("the progress of a query cannot be read")
            return
        self.history.progressed(str(progress.runId), str(progress.id), progress.name, batch)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        self.history.idled(str(event.runId))

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        message = None if event.exception is None else readable(event.exception)
        if message is not None:
            _LOG.warning("query %s has failed: %s", event.id, message)
        self.history.ended(str(event.runId), str(event.id), message)


def readable(exception: str) -> str:
    """What a failure says: without stack traces of Java, and the plan of the query.

    Of an error of Windrow, which names the function, the key and the window, nothing else is said.
    """
    lines = exception.splitlines()
    said = [line for line in lines if not line.startswith(("\tat ", "\t... "))]
    end = next((i for i, line in enumerate(said) if line.startswith("=== Streaming Query")), None)
    text = "\n".join(line for line in said[:end] if not line.startswith(" SQLSTATE:")).strip()
    _, name, ours = text.rpartition("windrow.core.errors.")
    return name + ours
