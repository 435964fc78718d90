"""The history in the format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from windrow.monitoring.exported import METRICS, OfQuery, samples
from windrow.monitoring.history import History

_KINDS = {"counter": CounterMetricFamily, "gauge": GaugeMetricFamily}


class _Collected(Collector):
    def __init__(self, history: History) -> None:
        self.history = history

    def collect(self) -> Iterator[Metric]:
        for metric in METRICS:
            own = () if isinstance(metric, OfQuery) else ("metrics", "stage", "worker")
            labels = ("query", *own)
            family = _KINDS[metric.kind](metric.name, metric.help, labels=labels)
            for found, value in samples(metric, self.history):
                family.add_metric([found[label] for label in labels], value)
            yield family


def prometheus_text(history: History) -> bytes:
    """All metrics as Prometheus reads them."""
    registry = CollectorRegistry()
    registry.register(_Collected(history))
    return generate_latest(registry)
