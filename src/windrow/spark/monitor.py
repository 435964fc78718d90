"""The monitor of a session: a listener, and the server that shows what it hears."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from windrow.core.packages import require
from windrow.monitoring.history import History
from windrow.monitoring.server import Server
from windrow.spark.given_session import checked_session
from windrow.spark.listener import HistoryListener

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricReader

_LOG = logging.getLogger("windrow.monitoring")


class Monitor:
    """Shows the streams of a session until it is stopped; usable in a ``with`` block."""

    def __init__(
        self,
        spark: SparkSession,
        port: int = 0,
        host: str = "127.0.0.1",
        opentelemetry: bool | MetricReader = False,
    ) -> None:
        self._spark = checked_session(spark, "monitor")
        self._history = History()
        self._provider = None
        if opentelemetry:
            require("opentelemetry", "otel", "opentelemetry")
            from windrow.monitoring.telemetry import exported, to_collector

            reader = to_collector() if opentelemetry is True else opentelemetry
            self._provider = exported(self._history, reader)
        self._server: Server | None = Server(self._history, port, host)
        self.url = self._server.url
        """Where the live view is; ``/metrics`` behind it is for Prometheus."""
        self._listener = HistoryListener(self._history)
        self._spark.streams.addListener(self._listener)
        _LOG.info("the monitor is at %s", self.url)

    def stop(self) -> None:
        """Stop listening and serving."""
        if self._server is None:
            return
        self._server.stop()
        self._server = None
        if self._provider is not None:
            self._provider.shutdown()
        try:
            self._spark.streams.removeListener(self._listener)
        except Exception as error:  # the session may have been stopped before
            _LOG.debug("the listener was not removed: %s", error)

    def __enter__(self) -> Monitor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.stop()
