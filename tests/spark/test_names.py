"""Columns are found by name as Spark finds them, and expressions may be used more than once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.spark.arrivals import streamed
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.spark.readers import scan_of

pytestmark = pytest.mark.spark

MODELS: dict[str, WindowModel] = {
    "in Python": wr.CountWindow(100),
    "in Spark": wr.TimeWindow(100),
    "panes in Spark": wr.TimeWindow(100, 50),
}
PATHS = pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    rows = [(i % 2, i % 3, i, i) for i in range(12)]
    return spark.createDataFrame(rows, "k int, j int, t bigint, x int").coalesce(1).cache()


@pytest.fixture
def case_sensitive(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sql.caseSensitive", "true")
    yield
    spark.conf.unset("spark.sql.caseSensitive")


def first_windows(df: DataFrame, *columns: str) -> set[tuple[Any, ...]]:
    return {tuple(row[c] for c in columns) for row in df.where("window_id = 0").collect()}


@PATHS
def test_names_that_differ_in_case_are_two_columns_where_case_matters(
    df: DataFrame, case_sensitive: None, model: WindowModel
) -> None:
    both = df.select(F.col("k").alias("a"), F.col("j").alias("A"), "t", "x")
    query = wr.stream(both).key_by(F.col("A"), "a").event_time("t").window(model)
    named = {"n": wf.count(), "N": wf.sum(F.col("A")), "b": wf.max(F.col("a") + F.col("A"))}  # type: ignore[arg-type]
    result = query.agg(**named).to_df()
    assert result.columns == ["A", "a", "window_id", "window_start", "window_end", "n", "N", "b"]
    wanted = {(j, k, 2, 2 * j, j + k) for j in range(3) for k in range(2)}
    assert first_windows(result, "A", "a", "n", "N", "b") == wanted


def sums_of_both(w: wr.Window) -> dict[str, Any]:
    return {"v": int(w["a"].sum()), "V": int(w["A"].sum())}


def test_names_that_differ_in_case_are_two_columns_in_files_streams_and_joins(
    df: DataFrame, case_sensitive: None, tmp_path: Any
) -> None:
    both = df.select(F.col("k").alias("a"), F.col("j").alias("A"), "t", "x")
    rows = str(tmp_path / "rows")
    both.write.parquet(rows)
    spark = df.sparkSession
    files = spark.read.parquet(rows)
    stream = spark.readStream.schema(files.schema).parquet(rows)
    sums = [(sum(i % 2 for i in range(12)), sum(i % 3 for i in range(12)))]

    def seen(given: Any) -> wr.Query:
        return wr.stream(given).event_time("t").window(wr.CountWindow(12))

    assert "under another name or twice" in scan_of(files, ["a", "A"], "t").reads
    for given in (both, files):
        applied = seen(given).apply(sums_of_both, "v int, V int").to_df()
        assert [tuple(r) for r in applied.select("v", "V").collect()] == sums
    streaming = wr.stream(stream).key_by("A", "a").window(wr.CountWindow(1))
    found, _ = streamed(streaming.agg(n=wf.sum("a"), N=wf.sum("A")).to_df())
    wanted = {(i % 3, i % 2, i % 2, i % 3) for i in range(6)}
    assert {(r["A"], r["a"], r["n"], r["N"]) for r in found.collect()} == wanted
    pairs = {(i % 2, i % 3) for i in range(6)}
    joined = wr.join(files, files, within="1 us", on=wr.equi("A") & wr.band(a=0), time="t").to_df()
    assert joined.columns == [
        f"{side}_{name}" for side in ("left", "right") for name in both.columns
    ]
    assert {(r["left_a"], r["left_A"]) for r in joined.collect()} == pairs


def test_files_whose_names_differ_in_case_need_a_session_that_tells_them_apart(
    df: DataFrame, tmp_path: Any
) -> None:
    spark = df.sparkSession
    pq.write_table(pa.table({"a": [1, 2], "A": [3, 4]}), tmp_path / "rows.parquet")
    query = wr.scan(str(tmp_path)).window(wr.CountWindow(2))
    both = query.agg(n=wf.sum("a"), N=wf.sum("A"))
    assert both.collect().select(["n", "N"]).to_pylist() == [{"n": 3, "N": 7}]
    with pytest.raises(wr.WindrowError, match="got 'N' beside 'n'"):
        both.to_df(spark)
    joined = wr.join(wr.scan(str(tmp_path)), wr.scan(str(tmp_path)), within=2, on=wr.equi("A"))
    assert len(joined.collect()) == 2
    with pytest.raises(wr.WindrowError, match="'left_a' and 'left_A' with prefixes="):
        joined.to_df(spark)
    assert [r["N"] for r in query.agg(N=wf.sum("A")).to_df(spark).collect()] == [7]


def test_other_cases_are_unknown_where_case_matters(df: DataFrame, case_sensitive: None) -> None:
    with pytest.raises(wr.WindrowError, match=r"column not found: 'K'.*\n.*\['k'\]"):
        wr.stream(df).key_by("K")
    with pytest.raises(wr.WindrowError, match="column not found on the left: 'K'"):
        wr.join(df, df, within=1, on=wr.equi("K"))


@PATHS
def test_columns_are_found_in_any_case_where_it_does_not_matter(
    df: DataFrame, model: WindowModel
) -> None:
    query = wr.stream(df).key_by("K").event_time("T").order_by(F.col("X")).window(model)
    result = query.agg(total=wf.sum("X"), least=wf.min(F.col("X"))).to_df()  # type: ignore[arg-type]
    assert result.columns[0] == "k"
    assert first_windows(result, "k", "total", "least") == {(0, 30, 0), (1, 36, 1)}


def test_models_and_joins_find_columns_in_any_case_where_it_does_not_matter(df: DataFrame) -> None:
    query = wr.stream(df).key_by("k").event_time("t").window(wr.DeltaWindow("X", 4, 4))
    assert [row["n"] for row in query.agg(n=wf.count()).to_df().collect()] == [2, 2]
    joined = wr.join(df, df, within="1 us", on=wr.equi(("K", "k")) & wr.band(X=0), time="T")
    assert sorted(row["left_K"] for row in joined.to_df().collect()) == [0] * 6 + [1] * 6


def test_columns_and_results_that_spark_cannot_tell_apart_are_refused(df: DataFrame) -> None:
    with pytest.raises(wr.WindrowError, match=r"distinct names; got \['k', 'K'\]"):
        wr.stream(df.select("k", F.col("j").alias("K")))
    query = wr.stream(df).key_by("k").window(wr.CountWindow(2))
    for name in ("K", "WINDOW_START"):
        with pytest.raises(wr.WindrowError, match=f"got '{name}' beside '{name.lower()}'"):
            query.agg(**{name: wf.count()})
    with pytest.raises(wr.WindrowError, match="key_by names a column twice"):
        query.key_by("k", "K")


@PATHS
def test_expression_may_be_used_several_times(df: DataFrame, model: WindowModel) -> None:
    query = wr.stream(df).key_by(F.col("k") * 2).event_time(df.t + 1).order_by(df.x * 2)
    result = query.window(model).agg(
        total=wf.sum(df.x * 2),  # type: ignore[arg-type]
        mean=wf.mean(F.col("x") * 2),  # type: ignore[arg-type]
        key=wf.max(df.k * 2),  # type: ignore[arg-type]
        time=wf.min(df.t + 1),  # type: ignore[arg-type]
    )
    found = first_windows(result.to_df(), "(k * 2)", "total", "mean", "key", "time")
    assert found == {(0, 60, 10.0, 0, 1), (2, 72, 12.0, 2, 2)}


def test_expressions_used_twice_and_quantiles_beside_infinities_on_a_stream(
    df: DataFrame, tmp_path: Any
) -> None:
    inf = float("inf")
    rows = pa.table({"k": [1, 1, 1, 2, 2, 2], "x": [-inf, 1.0, 2.0, 1.0, 2.0, inf]})
    pq.write_table(rows, tmp_path / "rows.parquet")
    stream = df.sparkSession.readStream.schema("k bigint, x double").parquet(str(tmp_path))
    k: Any = F.col("k")
    x: Any = F.col("x")
    query = wr.stream(stream).key_by(k * 2).window(wr.CountWindow(3))
    functions: Any = {
        "total": wf.sum(x * 2),
        "least": wf.min(x * 2),
        "key": wf.max(k * 2),
        "low": wf.quantile("x", 0.25),
        "high": wf.quantile("x", 0.75),
    }
    found, _ = streamed(query.agg(**functions).to_df())
    got = {r["(k * 2)"]: [r[name] for name in functions] for r in found.collect()}
    assert repr(got[2]) == repr([-inf, -inf, 2, float("nan"), 1.5])
    assert repr(got[4]) == repr([inf, 2.0, 4, 1.5, inf])


def test_other_expression_of_the_same_name_is_refused(df: DataFrame) -> None:
    query = wr.stream(df).window(wr.CountWindow(2))
    once = F.col("x") * F.lit(2)
    other = F.col("x") * F.lit("2")
    assert df.select(once).columns == df.select(other).columns
    with pytest.raises(wr.WindrowError, match="has the name of another expression"):
        query.agg(a=wf.sum(once), b=wf.sum(other))  # type: ignore[arg-type]


def test_sort_orders_are_refused(df: DataFrame) -> None:
    orders = [F.desc("t"), F.asc("t"), F.col("t").desc_nulls_first(), F.asc_nulls_last("t")]
    for order in orders:
        with pytest.raises(wr.WindrowError, match="order_by takes values, not a sort order"):
            wr.stream(df).order_by(order)
    with pytest.raises(wr.WindrowError, match=r'Hint: .*-F\.col\("t"\) for descending'):
        wr.stream(df).order_by(F.desc("t"))


def test_sort_orders_are_refused_wherever_an_expression_may_stand(df: DataFrame) -> None:
    base, order = wr.stream(df), F.desc("t")
    windows: Any = base.window(wr.CountWindow(2))
    refused: list[Callable[[], Any]] = [
        lambda: base.key_by(order),
        lambda: base.event_time(order),
        lambda: windows.agg(v=wf.sum(order)),  # type: ignore[arg-type]
        lambda: base.window(wr.DeltaWindow(order, 1, 1)).agg(n=wf.count()),  # type: ignore[arg-type]
    ]
    for build in refused:
        with pytest.raises(wr.WindrowError, match="takes values, not a sort order"):
            build()


def test_names_of_windrows_own_columns_are_refused(df: DataFrame) -> None:
    rule = r"must not begin with 'windrow\.'"
    for name in ("windrow.time", "windrow.arrival", "windrow.greatest", "Windrow.Since"):
        with pytest.raises(wr.WindrowError, match=rule):
            wr.stream(df.withColumnRenamed("x", name))
        with pytest.raises(wr.WindrowError, match=rule):
            wr.join(df, df.withColumnRenamed("x", name), within=1, on=wr.equi("k"))
    query = wr.stream(df).event_time("t").window(wr.TimeWindow(4))
    with pytest.raises(wr.WindrowError, match=rule):
        query.agg(**{"windrow.start": wf.count()})
    with pytest.raises(wr.WindrowError, match=rule):
        query.apply(len, "`windrow.id` int")  # type: ignore[arg-type]
    with pytest.raises(wr.WindrowError, match=rule):
        query.agg(n=wf.sum((F.col("x") + 1).alias("windrow.x")))  # type: ignore[arg-type]


def test_keys_named_like_the_columns_of_partials_are_refused(df: DataFrame) -> None:
    named = df.withColumnRenamed("k", "n#0")
    query = wr.stream(named).key_by("n#0").event_time("t").window(wr.TimeWindow(4, 2))
    with pytest.raises(wr.WindrowError, match=r"followed by \"#\"; got \['n#0'\]"):
        query.agg(n=wf.count())


@pytest.mark.parametrize("collation", ["UTF8_LCASE", "UNICODE_CI", "UNICODE"])
def test_collated_strings_are_refused_where_they_would_be_compared(
    df: DataFrame, collation: str
) -> None:
    plain = df.withColumn("s", F.col("k").cast("string"))
    collated = plain.withColumn("s", plain.s.cast(f"string collate {collation}"))
    collated = collated.withColumn("p", F.struct("s"))
    stream = wr.stream(collated).event_time("t").window(wr.TimeWindow(4))
    functions = [
        wf.min("s"),
        wf.max("s"),
        wf.mode("s"),
        wf.count_distinct("s"),
        wf.arg_min("x", by="s"),
        wf.top_k("x", 1, by="s"),
    ]
    refused: list[Callable[[], Any]] = [
        lambda: stream.key_by("s"),
        lambda: stream.key_by("p"),
        lambda: stream.order_by("s"),
        lambda: wr.join(collated, collated, within=1, on=wr.equi("s")),
        lambda: wr.join(plain, collated, within=1, on=wr.equi("s")),
        *(partial(stream.agg, a=function) for function in functions),
    ]
    for build in refused:
        with pytest.raises(wr.WindrowError, match=rf"collate {collation}>?\.\nHint: .*string"):
            build()
    assert stream.agg(a=wf.first("s"), n=wf.count("s")).to_df().count() == 3


def test_any_names_on_both_sides_of_a_stream_join(df: DataFrame, tmp_path: Any) -> None:
    names = ["a.b", "`", "t`.s", "windrow_watermark"]
    df.write.parquet(str(tmp_path / "rows"))
    read = df.sparkSession.readStream.schema(df.schema).parquet(str(tmp_path / "rows"))
    sides = read.toDF(*names), read.toDF(*names)
    on = wr.equi("a.b", "`") & wr.band(windrow_watermark=0)
    found, _ = streamed(wr.join(*sides, within="1 us", on=on, time="t`.s").to_df())
    assert found.columns == [f"{side}_{name}" for side in ("left", "right") for name in names]
    assert found.count() == 12
