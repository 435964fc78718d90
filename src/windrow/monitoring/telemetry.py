"""The history as metrics of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader

from windrow.core.version import VERSION
from windrow.monitoring.exported import METRICS, OfQuery, OfWorker, samples
from windrow.monitoring.history import History


def to_collector() -> MetricReader:
    """Sends metrics to a collector, over HTTP. OpenTelemetry's environment variables say where."""
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

    return PeriodicExportingMetricReader(OTLPMetricExporter())


def exported(history: History, reader: MetricReader) -> MeterProvider:
    """Let a reader have the metrics of the history; ``shutdown`` ends it."""
    provider = MeterProvider([reader])
    meter = provider.get_meter("windrow", VERSION)
    for metric in METRICS:
        is_counter = metric.kind == "counter"
        make = meter.create_observable_counter if is_counter else meter.create_observable_gauge
        make(metric.name, [_observed(metric, history)], description=metric.help)
    return provider


def _observed(
    metric: OfQuery | OfWorker, history: History
) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def observe(_: CallbackOptions) -> Iterable[Observation]:
        return [Observation(value, labels) for labels, value in samples(metric, history)]

    return observe
