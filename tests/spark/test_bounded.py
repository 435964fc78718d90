"""A query over a bounded DataFrame gives what it gives in process."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import windrow as wr
from tests.spark.test_windows_equal_sparks_own import random_table
from windrow import functions as wf

pytestmark = pytest.mark.spark


def test_dataframe_gives_the_rows_of_the_table(spark: SparkSession) -> None:
    table = random_table(0)

    def query(data: object) -> wr.Query:
        keyed = wr.stream(data).key_by("k").event_time("ts").order_by("x")
        return keyed.window(wr.CountWindow(20, 3)).agg(n=wf.count(), s=wf.sum("x")).ordered()

    df = query(spark.createDataFrame(table)).to_df()
    assert df.schema.simpleString() == (
        "struct<k:string,window_id:bigint,window_start:bigint,window_end:bigint,n:bigint,s:bigint>"
    )
    expected = [tuple(row.values()) for row in query(table).collect().to_pylist()]
    assert [tuple(row) for row in df.collect()] == expected


def test_queries_over_dataframes_are_checked_when_built(spark: SparkSession) -> None:
    query = wr.stream(spark.createDataFrame(random_table(0)))
    with pytest.raises(wr.WindrowError, match="did you mean one of these columns: \\['ts'\\]"):
        query.event_time("tss")
    with pytest.raises(wr.WindrowError, match="call to_df\\(\\) instead"):
        query.window(wr.CountWindow(2)).agg(n=wf.count()).collect()
