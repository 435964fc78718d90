"""Column expressions where a column's name may stand."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.spark.results import aggregates, assert_same, by_window, expected
from windrow import functions as wf
from windrow.core import WindowModel, oracle

pytestmark = pytest.mark.spark

ROWS = [{"k": i % 6, "t": i, "x": [i, None, -i][i % 3]} for i in range(30)]
MODELS: list[WindowModel] = [
    wr.CountWindow(4, 2),
    wr.TimeWindow(16_000),
    wr.TimeWindow(16_000, 8_000),
]


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    parts = spark.sparkContext.parallelize([tuple(r.values()) for r in ROWS], 3)
    return spark.createDataFrame(parts, "k int, t bigint, x int").cache()


@pytest.mark.parametrize("model", MODELS, ids=["in Python", "in Spark", "panes in Spark"])
def test_keys_times_orders_and_arguments_may_be_expressions(
    df: DataFrame, model: WindowModel
) -> None:
    query = (
        wr.stream(df)
        .key_by((F.col("k") % 2).alias("parity"), "k")
        .event_time((F.col("t") * 1000).alias("micros"))
        .order_by(-F.col("t"))
        .window(model)
        .agg(
            n=wf.count(),
            double=wf.sum((F.col("x") * 2).alias("xx")),  # type: ignore[arg-type]
            unnamed=wf.max(F.col("x") + 1),  # type: ignore[arg-type]
            plain=wf.min(F.col("x")),  # type: ignore[arg-type]
        )
    )
    rows: list[dict[str, Any]] = []
    for r in ROWS:
        x: Any = r["x"]
        own = {
            "parity": r["k"] % 2,  # type: ignore[operator]
            "micros": r["t"] * 1000,  # type: ignore[operator]
            "xx": None if x is None else x * 2,
            "x1": None if x is None else x + 1,
        }
        rows.append({**r, **own})
    functions: dict[str, Any] = {
        "n": wf.count(),
        "double": wf.sum("xx"),
        "unnamed": wf.max("x1"),
        "plain": wf.min("x"),
    }
    windows = oracle.windows(model, rows, key=["parity", "k"], time="micros")
    result = query.to_df()
    assert result.columns[:3] == ["parity", "k", "window_id"]
    assert_same(by_window(result, ["parity", "k"]), expected(windows, aggregates(functions)))


def test_columns_of_the_dataframe_are_plain_columns(df: DataFrame) -> None:
    query = wr.stream(df).key_by(df["k"]).event_time(F.col("`t`")).window(wr.CountWindow(2))
    assert query.agg(total=wf.sum(df.x)).to_df().columns[0] == "k"  # type: ignore[arg-type]
    assert query.keys == ("k",)
    assert query.time == "t"


def test_function_of_the_window_sees_the_expressions_columns(df: DataFrame) -> None:
    keyed = wr.stream(df).key_by((F.col("k") % 2).alias("parity")).event_time("t")
    query = keyed.window(wr.CountWindow(100)).apply(
        lambda w: {"parities": sorted(set(w["parity"].tolist())), "n": len(w)},
        "parities array<int>, n int",
    )
    found = {r["parity"]: (r["parities"], r["n"]) for r in query.to_df().collect()}
    assert found == {0: ([0], 15), 1: ([1], 15)}


def test_expression_named_like_a_column_is_refused(df: DataFrame) -> None:
    shadow = (F.col("k") + 1).alias("k")
    with pytest.raises(wr.WindrowError, match="has the name of a column, 'k'") as refused:
        wr.stream(df).key_by(shadow)
    assert 'Hint: give it another with .alias("name").' in str(refused.value)
    with pytest.raises(wr.WindrowError, match="event_time: the expression has the name"):
        wr.stream(df).event_time((F.col("t") * 1000).alias("t"))
    with pytest.raises(wr.WindrowError, match="has the name of a column, 'x'"):
        wr.stream(df).window(wr.CountWindow(2)).agg(s=wf.sum(F.abs("x").alias("x")))  # type: ignore[arg-type]


def test_column_in_another_case_is_found_as_spark_finds_it_or_refused(df: DataFrame) -> None:
    """Never a query that loses the column it has named before."""
    try:
        query = wr.stream(df).key_by("k").event_time("t").order_by(F.col("K"))
        result = query.window(wr.CountWindow(5)).agg(n=wf.count()).to_df()
    except wr.WindrowError:
        return
    assert sorted(r["n"] for r in result.collect()) == [5] * 6


def test_expressions_of_unknown_columns_and_of_no_columns_are_refused(df: DataFrame) -> None:
    with pytest.raises(Exception, match=r"UNRESOLVED_COLUMN.*`missing`"):
        wr.stream(df).key_by(F.col("missing") + 1)
    with pytest.raises(wr.WindrowError, match="key_by takes names of columns or Column"):
        wr.stream(df).key_by(3)  # type: ignore[arg-type]


def test_expression_of_a_type_that_is_no_time_is_refused(df: DataFrame) -> None:
    with pytest.raises(wr.WindrowError, match="event_time takes a column of timestamps"):
        wr.stream(df).event_time((F.col("t") / 2).alias("half"))
