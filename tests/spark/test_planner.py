"""Hints choose another plan on Spark, never other results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests import golden_checkpoint
from tests.spark.test_windows_equal_sparks_own import random_table
from windrow import functions as wf
from windrow.api import tuning
from windrow.engine.datasets import sampling
from windrow.spark import few_rows
from windrow.spark import sampling as sampling_of_frames

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
    even = whole.hint(keys=1000, rate=100_000, cost="200 us")
    hot = whole.hint(keys=1, rate=100_000, cost="200 ms")
    plans = [(found := decided(q, capsys))["native"] or found["pattern"] for q in (counted, sparse)]
    assert plans == ["panes", "KeyFarm(2)"]
    assert decided(whole, capsys)["pattern"].startswith("WinFarm(2")
    assert decided(even, capsys)["pattern"].startswith("KeyFarm(2")
    assert decided(hot, capsys)["pattern"].startswith("WinFarm(2")
    expected = base_over(table).window(model).agg(**COUNTS).collect()
    rows = [tuple(row.values()) for row in expected.select(["k", "window_id", "n"]).to_pylist()]
    for query in (sparse, even, hot):
        found = query.to_df().select("k", "window_id", "n").collect()
        assert [tuple(row) for row in found] == rows


def test_only_hints_change_the_pattern_of_a_stream(spark: SparkSession, capsys: Any) -> None:
    query = over_a_stream(spark)
    assert decided(query, capsys)["pattern"].startswith("KeyFarm(8")
    hinted = query.hint(keys=1, rate=100_000, cost="200 ms")
    assert decided(hinted, capsys)["pattern"].startswith("WinFarm(")


def test_a_decision_names_its_plans(spark: SparkSession, capsys: Any) -> None:
    base = base_over(spark.createDataFrame(random_table(0)))
    base.window(wr.TimeWindow("1 s", "10 ms")).agg(**COUNTS).explain("cost")
    printed = capsys.readouterr().out
    assert "─ * panes in Spark\n" in printed
    assert "─ KeyFarm(2)\n" in printed


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
            assert set(decided(query, capsys)["statistics"]) == {"keys", "skew", "rate", "rows"}
            found = decided(hinted, capsys)["statistics"]
        assert (found["keys"], found["rows"], found["cost"]) == (3, 400, 20)


def test_without_hints_rows_at_hand_tell_that_panes_are_sparse(
    spark: SparkSession, capsys: Any
) -> None:
    """500 keys, 2 s / 20 ms, panes with less than one row each."""
    made = spark.range(4_000_000).selectExpr("id % 500 k", "timestamp_micros(id * 50) ts", "id x")
    dense = spark.range(4_000_000).selectExpr("id % 5 k", "timestamp_micros(id) ts", "id x")
    found = {}
    sources = {"sparse": made.repartition(2), "dense": dense, "computed": made.distinct()}
    for name, df in sources.items():
        query = base_over(df).window(wr.TimeWindow("2 s", "20 ms")).agg(**COUNTS)
        found[name] = decided(query, capsys)
    assert found["sparse"]["native"] is None
    assert found["sparse"]["statistics"]["keys"] == pytest.approx(500, rel=0.01)
    assert found["sparse"]["statistics"]["rate"] == pytest.approx(20_000, rel=0.1)
    assert found["dense"]["native"] == "panes"
    assert (found["computed"]["native"], found["computed"]["statistics"]) == ("panes", {})


@pytest.fixture
def in_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is."""
    monkeypatch.setattr(few_rows, "_SECONDS", 600.0)
    monkeypatch.setattr(sampling, "_SECONDS", 600.0)


def known_of(df: Any, capsys: Any, key: str = "k") -> dict[str, Any]:
    """What a sample tells of these rows."""
    windows = wr.stream(df).key_by(key).event_time("ts").window(wr.TimeWindow("1 s"))
    return dict(decided(windows.agg(middle=wf.median("x")), capsys)["statistics"])


@pytest.mark.usefixtures("in_any_time")
@pytest.mark.parametrize("kind", ["csv", "json", "orc"])
def test_files_that_spark_reads_tell_their_statistics(
    spark: SparkSession,
    capsys: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    kind: str,
) -> None:
    """Four keys; every second row of them passes the filter."""
    made = spark.range(20_000).selectExpr("id % 4 k", "timestamp_micros(id * 1000) ts", "id x")
    made.repartitionByRange(3, "ts").write.format(kind).save(str(tmp_path / "rows"))
    df = spark.read.schema(made.schema).format(kind).load(str(tmp_path / "rows"))
    own = df.orderBy("x").where("x % 4 < 2").withColumn("name", F.concat(F.lit("key "), "k"))
    assert known_of(df, capsys) == {}
    monkeypatch.setattr(sampling_of_frames, "LEAST_ROWS", 1000)
    found = [known_of(df, capsys), known_of(own, capsys, "name"), known_of(own.union(own), capsys)]
    assert [known["keys"] for known in found] == [4, 2, 2]
    assert [known["skew"] for known in found] == [
        pytest.approx(s, rel=0.1) for s in (1 / 4, 1 / 2, 1 / 2)
    ]
    rows = [pytest.approx(n, rel=0.1) for n in (20_000, 10_000, 20_000)]
    rates = [pytest.approx(n, rel=0.5) for n in (1000, 500, 1000)]
    assert [known["rows"] for known in found] == rows
    assert [known["rate"] for known in found] == rates


@pytest.mark.usefixtures("in_any_time")
def test_what_would_have_to_be_computed_is_not_sampled(
    spark: SparkSession, capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = spark.range(2000).selectExpr("id % 4 k", "timestamp_micros(id) ts", "id x")
    made.write.csv(str(tmp_path / "rows"))
    df = spark.read.schema(made.schema).csv(str(tmp_path / "rows"))
    monkeypatch.setattr(sampling_of_frames, "LEAST_ROWS", 100)
    assert known_of(df, capsys)["keys"] == 4
    own = F.udf(lambda k: k, "bigint")
    computed = {
        "a function of the user's": df.withColumn("k", own("k")),
        "a filter by one": df.where(own("k") > 1),
        "a join": df.join(spark.range(4), df.k == F.col("id")),
        "groups": df.groupBy("k", "ts").agg(F.sum("x").alias("x")),
        "rows at random": df.sample(0.5),
        "the first rows": df.orderBy("x").limit(1000),
        "a query within": df.where("x > (select avg(id) from range(4))"),
        "another query": df.where("k in (select id from range(4))"),
        "a method by its name": df.where("reflect('java.lang.Math', 'abs', cast(k as int)) > '1'"),
        "more rows": df.withColumn("k", F.explode(F.array("k", "x"))),
        "rows of many lines": spark.read.schema(made.schema)
        .option("multiLine", "true")
        .csv(str(tmp_path / "rows")),
    }
    found = {name: known_of(rows, capsys) for name, rows in computed.items()}
    assert [name for name, known in found.items() if known] == []


@pytest.mark.usefixtures("in_any_time")
def test_filters_and_columns_that_tasks_compute_are_part_of_a_sample(
    spark: SparkSession, capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = spark.range(20_000).selectExpr("id % 4 k", "id", "id x")
    made.repartitionByRange(3, "id").sortWithinPartitions("id").write.parquet(
        str(tmp_path / "rows")
    )
    df = spark.read.parquet(str(tmp_path / "rows")).where("k < 2")
    df = df.withColumn("ts", F.timestamp_millis("id")).withColumn("key", F.col("k") + 7)
    monkeypatch.setattr(sampling, "LEAST_BYTES", 0)
    windows = wr.stream(df).key_by("key").event_time("ts").window(wr.CountWindow(10))
    known = decided(windows.agg(middle=wf.median("x")), capsys)
    assert "PyArrow" in known["reads"]
    statistics = known["statistics"]
    assert (statistics["keys"], statistics["skew"]) == (2, 0.5)
    assert statistics["rows"] == pytest.approx(10_000, rel=0.05)
    assert statistics["rate"] == pytest.approx(500, rel=0.1)


@pytest.mark.parametrize("is_on", ["true", "false"])
def test_a_function_is_measured_on_a_sample_unless_a_setting_says_no(
    spark: SparkSession, capsys: Any, monkeypatch: pytest.MonkeyPatch, is_on: str
) -> None:
    monkeypatch.setattr(sampling_of_frames, "LEAST_ROWS", 1000)
    called: list[int] = []

    def counted(window: wr.Window) -> dict[str, int]:
        called.append(len(window))
        return {"n": len(window)}

    df = spark.createDataFrame(random_table(0)).crossJoin(spark.range(10)).drop("id").cache()
    df.count()
    query = base_over(df).window(wr.TimeWindow("20 ms", "10 ms")).apply(counted, "n bigint")
    spark.conf.set("spark.windrow.measureFunctions", is_on)
    try:
        known = decided(query, capsys)["statistics"]
    finally:
        spark.conf.unset("spark.windrow.measureFunctions")
        df.unpersist()
    assert known["rows"] == 4000
    assert ("cost" in known) == (is_on == "true")
    assert called == []


def test_a_checkpoint_tells_the_keys_of_an_earlier_run(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint, _ = golden_checkpoint.read(golden_checkpoint.WINDOWS, tmp_path)
    query = over_a_stream(spark).hint(rate=5).hint_from(checkpoint)
    assert query.hints.known == {"keys": 4, "rate": 5}
    assert query.hint(keys=9).hint_from(checkpoint).hints.keys == 9
    with pytest.raises(wr.WindrowError, match="not the checkpoint of a streaming query"):
        over_a_stream(spark).hint_from(tmp_path / "elsewhere")


def test_without_a_session_no_checkpoint_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    query = wr.stream({"x": [1]}).window(wr.CountWindow(2)).agg(n=wf.count())
    with pytest.raises(wr.WindrowError, match=r"hint_from needs a Spark session(.|\n)*local_spark"):
        query.hint_from(tmp_path)


def test_rows_that_cannot_be_computed_fail_only_when_the_query_runs(spark: SparkSession) -> None:
    made = spark.range(1_000_000).selectExpr(
        "raise_error('no key')::bigint k", "timestamp_micros(id) ts", "id x"
    )
    query = base_over(made).window(wr.TimeWindow("2 s", "20 ms")).agg(**COUNTS)
    assert "native" in query.source.decision(query.window_query(), None).as_data()
