"""Windrow: parallel sliding-window patterns for PySpark.

``import windrow`` is cheap: PySpark, Numba and PyArrow are imported when a query needs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from windrow import functions
from windrow.api import sinks
from windrow.api.beginnings import scan, scan_stream, stream
from windrow.api.join import Join, join
from windrow.api.missteps import unknown_name
from windrow.api.query import Query
from windrow.api.sources import Data
from windrow.core import (
    Aggregate,
    Axis,
    Commutative,
    Context,
    CountWindow,
    DeltaWindow,
    Idempotent,
    Invertible,
    LandmarkWindow,
    MappedWindow,
    SessionWindow,
    SlideByTimeWindow,
    SlideByTupleWindow,
    TimeWindow,
    Window,
    WindowModel,
    WindrowError,
)
from windrow.core.calls import checks_call
from windrow.core.errors import WindrowWarning
from windrow.core.packages import require
from windrow.core.version import VERSION
from windrow.patterns import KeyFarm, PaneFarm, WinFarm, WinMapReduce, WinSeq

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from opentelemetry.sdk.metrics.export import MetricReader
    from pyspark.sql import SparkSession

    from windrow.engine.joins.candidates import Candidates
    from windrow.engine.joins.terms.band import band
    from windrow.engine.joins.terms.equi import equi
    from windrow.engine.joins.terms.predicate import Predicate
    from windrow.engine.joins.terms.term import Term
    from windrow.engine.joins.terms.theta import theta
    from windrow.spark.monitor import Monitor

__version__ = VERSION

_IMPORTED_WHEN_USED = {
    "Candidates": "windrow.engine.joins.candidates",
    "Predicate": "windrow.engine.joins.terms.predicate",
    "Term": "windrow.engine.joins.terms.term",
    "band": "windrow.engine.joins.terms.band",
    "equi": "windrow.engine.joins.terms.equi",
    "theta": "windrow.engine.joins.terms.theta",
}


def __getattr__(name: str) -> Any:
    """Import names whose modules need PyArrow on first use."""
    if name not in _IMPORTED_WHEN_USED:
        raise unknown_name(name, __all__)
    return getattr(import_module(_IMPORTED_WHEN_USED[name]), name)


@checks_call
def local_spark(**conf: object) -> SparkSession:
    """A local Spark session for users who have none; see :mod:`windrow.spark.local`."""
    require("local_spark", "spark", "pyspark")
    from windrow.spark.release import check_has_spark

    check_has_spark("local_spark")
    from windrow.spark.local import local_spark

    return local_spark(**conf)


@checks_call
def configure(spark: SparkSession) -> dict[str, tuple[str | None, str]]:
    """Give a session the settings that streams need; see :mod:`windrow.spark.session`.

    Returns the changed settings, each with its old and its new value. Settings that you set
    explicitly are never changed.
    """
    from windrow.spark.session import configure

    return configure(spark)


@checks_call
def tune(query: Query, sample: Data | None = None) -> Query:
    """Run the few plans that are predicted to be the best ones, and return the fastest.

    The result is the query with the pattern that was the fastest; its ``tuning`` is the table of
    what was tried. The plans run on ``sample``, rows with the same columns, by default on the first
    million rows of a bounded input. A query over a stream needs a sample.

    >>> import numpy as np
    >>> rows = {"x": np.arange(100.0)}
    >>> query = stream(rows).window(CountWindow(10)).agg(middle=functions.median("x"))
    >>> tune(query).tuning.column_names
    ['plan', 'seconds', 'predicted_rows_per_second', 'is_fastest']
    """
    from windrow.api.tuning import tuned

    return tuned(query, sample)


@checks_call
def progress(spark: SparkSession) -> AbstractContextManager[None]:
    """Show the progress of what the session runs in a ``with`` block, stage by stage.

    There are bars in terminals and notebooks, and nothing elsewhere. ``to_df()`` is lazy: what
    takes long is the action, such as ``collect`` or ``write``.
    """
    from windrow.spark.progress import progress

    return progress(spark)


@checks_call
def monitor(
    spark: SparkSession,
    port: int = 0,
    host: str = "127.0.0.1",
    opentelemetry: bool | MetricReader = False,
) -> Monitor:
    """Show the session's streams in the browser, live, until ``stop()`` or the end of ``with``.

    The handle's ``url`` is the page; ``url + "metrics"`` is what Prometheus reads. With
    ``opentelemetry=True`` the metrics are also sent to a collector of OpenTelemetry; a reader of
    OpenTelemetry's in its place gets them instead. Port 0 is any free port. By default only this
    machine can connect.
    """
    require("monitor", "spark", "pyspark")
    from windrow.spark.given_session import checked_session
    from windrow.spark.monitor import Monitor

    session = checked_session(spark, "monitor")
    started = Monitor(port, host, opentelemetry)
    started.attach(session)
    return started


__all__ = [
    "Aggregate",
    "Axis",
    "Candidates",
    "Commutative",
    "Context",
    "CountWindow",
    "DeltaWindow",
    "Idempotent",
    "Invertible",
    "Join",
    "KeyFarm",
    "LandmarkWindow",
    "MappedWindow",
    "PaneFarm",
    "Predicate",
    "Query",
    "SessionWindow",
    "SlideByTimeWindow",
    "SlideByTupleWindow",
    "Term",
    "TimeWindow",
    "WinFarm",
    "WinMapReduce",
    "WinSeq",
    "Window",
    "WindowModel",
    "WindrowError",
    "WindrowWarning",
    "band",
    "configure",
    "equi",
    "functions",
    "join",
    "local_spark",
    "monitor",
    "progress",
    "scan",
    "scan_stream",
    "sinks",
    "stream",
    "theta",
    "tune",
]
