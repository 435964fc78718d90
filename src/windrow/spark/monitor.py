"""The monitor: it listens to the streams of sessions, and serves what it hears."""

from __future__ import annotations

import logging
import os
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from windrow.core.errors import WindrowError
from windrow.core.packages import require
from windrow.monitoring.history import History
from windrow.monitoring.server import Server
from windrow.spark.listener import HistoryListener
from windrow.spark.master import is_connect

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricReader

_LOG = logging.getLogger("windrow.monitoring")
VARIABLE = "WINDROW_MONITOR"
"""The environment variable that turns a monitor on in programs that start none."""


class Monitor:
    """Shows the streams of the sessions that it is attached to, until it is stopped."""

    def __init__(
        self,
        port: int = 0,
        host: str = "127.0.0.1",
        opentelemetry: bool | MetricReader = False,
    ) -> None:
        self._history = History()
        self._sessions: dict[Any, tuple[SparkSession, HistoryListener]] = {}
        self._provider = None
        if opentelemetry:
            require("opentelemetry", "otel", "opentelemetry")
        self._server: Server | None = Server(self._history, port, host)
        self.url = self._server.url
        """Where the live view is; ``/metrics`` behind it is for Prometheus."""
        if opentelemetry:
            from windrow.monitoring.telemetry import exported, to_collector

            reader = to_collector() if isinstance(opentelemetry, bool) else opentelemetry
            self._provider = exported(self._history, reader)
        _LOG.info("the monitor is at %s", self.url)

    def attach(self, spark: SparkSession) -> None:
        """Listen to the streams of a session, once."""
        name = _name_of(spark)
        if name not in self._sessions:
            listener = HistoryListener(self._history)
            spark.streams.addListener(listener)
            self._sessions[name] = spark, listener

    def stop(self) -> None:
        """Stop listening and serving."""
        if self._server is None:
            return
        self._server.stop()
        self._server = None
        if self._provider is not None:
            self._provider.shutdown()
        for spark, listener in self._sessions.values():
            try:
                spark.streams.removeListener(listener)
            except Exception as error:  # the session may have been stopped before
                _LOG.debug("a listener was not removed: %s", error)

    def __enter__(self) -> Monitor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.stop()


_of_process: list[Monitor] = []
"""The monitor of all sessions in this process, if there is one."""


def watch_all(monitor: Monitor) -> None:
    """Let a monitor show every session in this process that has a stream."""
    _of_process[:] = [monitor]


def watch(spark: SparkSession) -> None:
    """Show a session that has a stream, if the process has a monitor or the environment wants one.

    A monitor that cannot be started does not keep a stream from running.
    """
    if not _of_process and (address := os.environ.get(VARIABLE)):
        host, _, port = address.rpartition(":")
        try:
            watch_all(Monitor(_port_of(port), host or "127.0.0.1"))
        except WindrowError as error:
            _LOG.warning("%s is %s: %s", VARIABLE, address, error)
    for monitor in _of_process:
        monitor.attach(spark)


def _port_of(text: str) -> int:
    if not text.isdecimal():
        hint = "4050, or 0.0.0.0:4050 to let other machines in."
        raise WindrowError(f"{VARIABLE} is a port, or a host and a port", repr(text), hint)
    return int(text)


def _name_of(spark: Any) -> Any:
    """What tells sessions apart: Python has several objects for one of them."""
    if is_connect(spark):
        return spark.session_id
    return spark.sparkContext.applicationId, spark._jsparkSession.hashCode()
