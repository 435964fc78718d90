"""Joins by a term of a user's own on Spark, bounded and streaming, give the oracle's rows."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

import windrow as wr
from tests.properties import test_a_new_term
from tests.properties.test_a_new_term import On, around, same_residue
from windrow.core import oracle

pytestmark = pytest.mark.spark

SCHEMA = "n bigint, t bigint, d double, i bigint"
LATER = 10_000_000_000
Rows = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def _as_in_a_notebook() -> Iterator[None]:
    """The workers get the classes themselves, not the name of a module to import them from."""
    cloudpickle.register_pickle_by_value(test_a_new_term)  # type: ignore[no-untyped-call]
    yield
    cloudpickle.unregister_pickle_by_value(test_a_new_term)  # type: ignore[no-untyped-call]


def rows_of(seed: int) -> Rows:
    """Rows in order of time, some with nulls; at last one that lets all windows close."""
    draw = np.random.default_rng(seed)
    rows: Rows = [
        {
            "n": n,
            "t": 10_000_000 + 1000 * n,
            "d": None if n % 13 == 0 else float(draw.integers(0, 720)) / 2,
            "i": None if n % 11 == 0 else int(draw.integers(-50, 50)),
        }
        for n in range(120)
    ]
    return [*rows, {"n": -1, "t": LATER, "d": None, "i": None}]


def write(folder: Path, rows: Rows) -> None:
    table = pa.Table.from_pylist(rows)
    folder.mkdir()
    for number, start in enumerate((0, 70, 120)):
        file = folder / f"{number}.parquet"
        pq.write_table(table.slice(start, (70, 50, 1)[number]), file)
        # Streams read files in the order of their times.
        os.utime(file, (number, number))


def found(df: DataFrame) -> Counter[Any]:
    pairs = [tuple(row) for row in df.select("left_n", "right_n").collect()]
    return Counter(pair for pair in pairs if -1 not in pair)


@pytest.mark.parametrize(
    ("on", "how", "options"),
    [
        (around(20), "inner", {}),
        (around(45) & same_residue(3), "full", {"layout": (1, 2), "partitions": 2}),
    ],
)
def test_joins_by_a_new_term_are_the_oracles(
    spark: SparkSession, tmp_path: Path, on: On, how: Any, options: dict[str, Any]
) -> None:
    sides = rows_of(1), rows_of(2)
    for side, rows in enumerate(sides):
        write(tmp_path / f"{side}", rows)
    given: dict[str, Any] = {"within": "15 ms", "on": on.on, "time": "t", "how": how, **options}
    left, right = ([row for row in rows if row["n"] >= 0] for rows in sides)
    kind = {"full": "full_outer"}.get(how, how)
    pairs = oracle.join(left, right, on.holds, within="15 ms", time="t", how=kind)
    expected = Counter((x and x["n"], y and y["n"]) for x, y in pairs)
    assert len(expected) > 100

    bounded = [spark.read.schema(SCHEMA).parquet(str(tmp_path / side)) for side in "01"]
    assert found(wr.join(*bounded, **given).to_df()) == expected

    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    streams = [reader.parquet(str(tmp_path / side)) for side in "01"]
    writer = wr.join(*streams, **given).to_df().writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(availableNow=True).start(str(tmp_path / "results")).awaitTermination()
    assert found(spark.read.parquet(str(tmp_path / "results"))) == expected
