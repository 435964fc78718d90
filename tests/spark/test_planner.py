"""Hints choose another plan on Spark, never other results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import windrow as wr
from tests.spark.test_windows_equal_sparks_own import random_table
from windrow import functions as wf
from windrow.api import tuning
from windrow.engine.datasets import sampling

pytestmark = pytest.mark.spark

COUNTS: dict[str, Any] = {"n": wf.count(), "s": wf.sum("x")}


def base_over(data: Any) -> Any:
    return wr.stream(data).key_by("k").event_time("ts").order_by("x").ordered()


def decided(query: wr.Query, capsys: Any) -> dict[str, Any]:
    query.explain("json")
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def over_a_stream(spark: SparkSession) -> wr.Query:
    rows = spark.readStream.format("rate").load()
    keyed = wr.stream(rows).key_by("value").event_time("timestamp")
    windows = keyed.window(wr.TimeWindow("1 s", "100 ms"))
    return windows.apply(lambda w: {"n": len(w)}, "n bigint")


def test_hints_change_the_plan_and_not_the_results(spark: SparkSession, capsys: Any) -> None:
    table = random_table(0)
    base, model = base_over(spark.createDataFrame(table)), wr.TimeWindow("20 ms", "10 ms")
    counted = base.window(model).agg(**COUNTS)
    whole = base.window(model).apply(lambda w: {"n": len(w)}, "n bigint")
    sparse = counted.hint(keys=1_000_000, rate=1000)
    hot = whole.hint(keys=1, rate=100_000, cost="200 ms")
    plans = [(found := decided(q, capsys))["native"] or found["pattern"] for q in (counted, sparse)]
    assert plans == ["panes", "KeyFarm(n=2, inner=WinSeq(), level=2)"]
    assert decided(whole, capsys)["pattern"].startswith("KeyFarm(n=2")
    assert decided(hot, capsys)["pattern"].startswith("WinFarm(n=2")
    expected = base_over(table).window(model).agg(**COUNTS).collect()
    rows = [tuple(row.values()) for row in expected.select(["k", "window_id", "n"]).to_pylist()]
    for query in (sparse, hot):
        found = query.to_df().select("k", "window_id", "n").collect()
        assert [tuple(row) for row in found] == rows


def test_only_hints_change_the_pattern_of_a_stream(spark: SparkSession, capsys: Any) -> None:
    query = over_a_stream(spark)
    assert decided(query, capsys)["pattern"].startswith("KeyFarm(n=8")
    hinted = query.hint(keys=1, rate=100_000, cost="200 ms")
    assert decided(hinted, capsys)["pattern"].startswith("WinFarm(")


def test_a_decision_names_its_plans(spark: SparkSession, capsys: Any) -> None:
    base = base_over(spark.createDataFrame(random_table(0)))
    base.window(wr.TimeWindow("1 s", "10 ms")).agg(**COUNTS).explain("cost")
    printed = capsys.readouterr().out
    assert "\n  * panes in Spark\n" in printed
    assert "\n  - KeyFarm(n=2, inner=WinSeq(), level=2)\n" in printed


def test_tune_runs_plans_on_spark(
    spark: SparkSession, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "_TRIED", 2)
    monkeypatch.setattr(tuning, "_ROUNDS", 1)
    rows = spark.createDataFrame(random_table(0))
    query = base_over(rows).window(wr.TimeWindow("20 ms", "10 ms")).agg(**COUNTS)
    found = wr.tune(query)
    assert found.tuning is not None
    plans = found.tuning["plan"].to_pylist()
    assert "panes in Spark" in plans
    decision = decided(found, capsys)
    fastest = "panes in Spark" if decision["native"] else decision["pattern"]
    assert fastest == plans[0]
    with pytest.raises(wr.WindrowError, match="over a stream on a sample only; got a stream"):
        wr.tune(over_a_stream(spark))


def test_large_files_tell_their_statistics(
    spark: SparkSession, capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pq.write_table(random_table(0), tmp_path / "rows.parquet")
    scanned = spark.read.parquet(str(tmp_path)).withColumnsRenamed({"k": "key", "ts": "at"})
    renamed = wr.stream(scanned).key_by("key").event_time("at")
    sources: list[Any] = [base_over(spark.read.parquet(str(tmp_path))), renamed]
    for base in sources:
        query = base.window(wr.TimeWindow("1 s")).apply(lambda w: {"n": len(w)}, "n bigint")
        hinted = query.hint(cost="20 us")
        with monkeypatch.context() as small:
            assert decided(hinted, capsys)["statistics"] == {"cost": 20}
            small.setattr(sampling, "LEAST_BYTES", 0)
            assert decided(query, capsys)["statistics"] == {}
            found = decided(hinted, capsys)["statistics"]
        assert (found["keys"], found["rows"], found["cost"]) == (3, 400, 20)
