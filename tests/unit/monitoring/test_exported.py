"""What Prometheus and OpenTelemetry are given."""

from __future__ import annotations

import json
import re
from pathlib import Path

from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from prometheus_client.parser import text_string_to_metric_families

from tests.unit.monitoring.streams import skewed
from windrow.monitoring.exported import METRICS
from windrow.monitoring.prometheus import prometheus_text
from windrow.monitoring.telemetry import exported

ROOT = Path(__file__).parents[3]


def test_prometheus_reads_totals_and_the_last_batch() -> None:
    history, clock = skewed('a "quoted" name', hot=2, slow=1)
    clock.now += 100
    families = text_string_to_metric_families(prometheus_text(history).decode())
    found = {
        (sample.name, sample.labels.get("worker")): sample.value
        for family in families
        for sample in family.samples
        if sample.labels["query"] == 'a "quoted" name'
    }
    assert found["windrow_query_running", None] == 1
    assert found["windrow_windows_total", None] == 30 * 40
    assert found["windrow_late_rows_total", None] == 30 * 2
    assert found["windrow_dropped_rows_total", None] == 30 * 3
    assert found["windrow_batch_seconds", None] == 0.5
    assert found["windrow_latency_seconds", None] == 1.5
    assert found["windrow_watermark_lag_seconds", None] == 101.5
    assert found["windrow_worker_rows_in_total", "2"] == 30 * 4_000
    assert abs(found["windrow_worker_seconds_total", "1"] - 30 * 0.3) < 1e-9
    assert {name for name, _ in found} == {metric.exported for metric in METRICS}


def test_of_queries_with_one_name_the_newest_counts() -> None:
    history, _ = skewed("quotes", hot=2, slow=1)
    history.ended("run of quotes", "id", "no disk")
    history.started("second run", "id", "quotes")
    assert b'windrow_query_running{query="quotes"} 1.0' in prometheus_text(history)
    assert b'windrow_query_failed{query="quotes"} 0.0' in prometheus_text(history)


def test_opentelemetry_is_given_the_same_metrics() -> None:
    history, _ = skewed("quotes", hot=2, slow=1)
    reader = InMemoryMetricReader()
    provider = exported(history, reader)
    data = reader.get_metrics_data()
    assert data is not None
    found = {
        metric.name: {
            tuple((p.attributes or {}).values()): getattr(p, "value", None) for p in points
        }
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for points in [metric.data.data_points]
    }
    provider.shutdown()
    assert found.keys() == {metric.name for metric in METRICS}
    assert found["windrow_windows"] == {("quotes",): 30 * 40}
    assert found["windrow_worker_rows_in"]["quotes", "windrow", "0", "2"] == 30 * 4_000


def test_the_dashboard_for_grafana_asks_for_metrics_that_there_are() -> None:
    dashboard = json.loads((ROOT / "deploy" / "grafana.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    asked = {name for query in queries for name in re.findall(r"windrow_\w+", query)}
    assert asked <= {metric.exported for metric in METRICS}
    unshown = {metric.exported for metric in METRICS} - asked
    assert unshown == {"windrow_watermark_timestamp_seconds", "windrow_worker_rows_out_total"}


def test_every_metric_is_in_the_documentation() -> None:
    page = (ROOT / "docs" / "monitoring.md").read_text()
    assert [m.exported for m in METRICS if f"`{m.exported}`" not in page] == []
