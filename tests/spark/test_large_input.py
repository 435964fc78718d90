"""More rows than a toy: a worker takes them in message by message."""

from __future__ import annotations

import numpy as np
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import windrow as wr
from windrow import functions as wf

pytestmark = pytest.mark.spark

N = 2_000_000
LENGTH, SLIDE = 1000, 100
SCATTER = 1_234_567
"""Has no factor in common with N: multiples of it modulo N are 0 to N - 1 in disorder."""


@pytest.mark.parametrize("order", ["ordered", "shuffled"])
def test_two_million_rows_of_one_key(spark: SparkSession, order: str) -> None:
    place = F.col("id") if order == "ordered" else F.col("id") * SCATTER % N
    df = spark.range(0, N, 1, 8).select(
        F.lit("a").alias("k"),
        (place * 10).alias("t"),
        (place * place % 1009).alias("x"),
    )
    query = wr.stream(df).key_by("k").event_time("t").window(wr.CountWindow(LENGTH, SLIDE))
    query = query.agg(n=wf.count(), total=wf.sum("x"), first=wf.first("x")).using(wr.KeyFarm(2))
    result = query.to_df().toArrow().sort_by("window_id")

    places = np.arange(N)
    values = places * places % 1009
    running = np.concatenate([[0], np.cumsum(values)])
    starts = np.arange(0, N, SLIDE)
    ends = np.minimum(starts + LENGTH, N)
    assert result.num_rows == N // SLIDE
    np.testing.assert_array_equal(result["window_id"], np.arange(len(starts)))
    np.testing.assert_array_equal(result["n"], ends - starts)
    np.testing.assert_array_equal(result["total"], running[ends] - running[starts])
    np.testing.assert_array_equal(result["first"], values[starts])
