"""The metrics that Prometheus and OpenTelemetry are given: one table for both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from windrow.monitoring.history import Held, History, Run, WorkerTotals


@dataclass(frozen=True)
class Metric:
    """An exported metric; a counter only grows while a query runs."""

    name: str
    kind: Literal["counter", "gauge"]
    help: str

    @property
    def exported(self) -> str:
        """Its name in Prometheus, which calls each counter a total."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


@dataclass(frozen=True)
class OfQuery(Metric):
    """A metric of a streaming query, with the label ``query``."""

    value: Callable[[Run, float], float | None]


@dataclass(frozen=True)
class OfWorker(Metric):
    """A metric of a worker, with the labels ``query``, ``metrics``, ``stage`` and ``worker``."""

    value: Callable[[WorkerTotals], float]


def _total(name: str) -> Callable[[Run, float], float]:
    return lambda run, now: run.totals[name]


def _held(of_state: Callable[[Held], int]) -> Callable[[Run, float], float | None]:
    return lambda run, now: of_state(run.held[-1]) if run.held else None


METRICS: tuple[OfQuery | OfWorker, ...] = (
    OfQuery(
        "windrow_query_running", "gauge", "1 while the query runs, else 0",
        lambda run, now: run.state == "running",
    ),
    OfQuery(
        "windrow_query_failed", "gauge", "1 if the query has failed, else 0",
        lambda run, now: run.state == "failed",
    ),
    OfQuery("windrow_batches", "counter", "Batches completed", _total("batches")),
    OfQuery("windrow_input_rows", "counter", "Rows read from the sources", _total("rows")),
    OfQuery("windrow_windows", "counter", "Windows fired", _total("windows")),
    OfQuery(
        "windrow_late_rows", "counter", "Rows dropped because they came too late", _total("late")
    ),
    OfQuery(
        "windrow_dropped_rows", "counter",
        "Rows dropped: the late ones, and those without a time or delta attribute",
        _total("dropped"),
    ),
    OfQuery(
        "windrow_batch_seconds", "gauge", "Duration of the last batch",
        lambda run, now: None if run.last is None else run.last.seconds,
    ),
    OfQuery(
        "windrow_latency_seconds", "gauge",
        "From the start of the batch before the last one to the end of the last one",
        lambda run, now: run.latencies[-1] if run.latencies else None,
    ),
    OfQuery(
        "windrow_watermark_timestamp_seconds", "gauge", "The watermark, in seconds since 1970",
        lambda run, now: None if run.last is None else run.last.watermark,
    ),
    OfQuery(
        "windrow_watermark_lag_seconds", "gauge", "How far the watermark is behind the clock",
        lambda run, now: run.watermark_lag(now),
    ),
    OfQuery(
        "windrow_rows_held", "gauge", "Rows and partial results in the state",
        _held(lambda held: held.rows),
    ),
    OfQuery("windrow_keys", "gauge", "Keys in the state", _held(lambda held: held.keys)),
    OfQuery(
        "windrow_state_bytes", "gauge", "Bytes of the state", _held(lambda held: held.bytes)
    ),
    OfWorker(
        "windrow_worker_rows_in", "counter", "Rows that the worker took", lambda w: w.rows_in
    ),
    OfWorker(
        "windrow_worker_rows_out", "counter", "Rows that the worker gave", lambda w: w.rows_out
    ),
    OfWorker("windrow_worker_seconds", "counter", "Time that the worker took", lambda w: w.seconds),
    OfWorker(
        "windrow_worker_rows_held", "gauge", "Rows in the state of the worker",
        lambda w: 0 if w.last is None else w.last.rows_held,
    ),
)  # fmt: skip


def samples(metric: OfQuery | OfWorker, history: History) -> Iterator[tuple[dict[str, str], float]]:
    """The labels and values of a metric now; of queries of one name, those of the newest."""
    with history.lock:
        newest = {run.label: run for run in reversed(history.runs())}
        for label, run in newest.items():
            if isinstance(metric, OfQuery):
                value = metric.value(run, history.clock())
                if value is not None:
                    yield {"query": label}, float(value)
                continue
            for (part, stage, worker), totals in run.workers.items():
                where = {"metrics": part, "stage": str(stage), "worker": str(worker)}
                yield {"query": label, **where}, float(metric.value(totals))
