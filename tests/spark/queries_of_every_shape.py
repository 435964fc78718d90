"""A program: queries of every stage shape on the Spark it is told of, compared with this process.

    python -m tests.spark.queries_of_every_shape "local-cluster[2,1,1024]"
    python -m tests.spark.queries_of_every_shape --remote "local[2]"

Prints a line for each query. Its functions live in ``__main__``, as a user's script's do.
"""

from __future__ import annotations

import sys
import tempfile
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from tests.spark.session_of_its_own import start
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.engine.datasets import splits
from windrow.patterns import Pattern
from windrow.spark import splits as tasks
from windrow.spark.plans import watermarks_of

COUNTED = wr.CountWindow(20, 6)
OVERLAPPING = wr.TimeWindow("20 ms", "5 ms")
SESSIONS = wr.SessionWindow("2 ms")
SHAPES: dict[str, tuple[WindowModel, str, Pattern | None]] = {
    "native windows": (wr.TimeWindow("20 ms"), "agg", None),
    "native panes": (OVERLAPPING, "sums", None),
    "chosen": (SESSIONS, "apply", None),
    "KeyFarm": (COUNTED, "agg", wr.KeyFarm(2)),
    "WinFarm, ranked": (COUNTED, "apply", wr.WinFarm(2)),
    "WinFarm, agnostic": (SESSIONS, "apply", wr.WinFarm(2, workers="agnostic", level=2)),
    "PaneFarm": (OVERLAPPING, "agg", wr.PaneFarm(2, 2, level=2)),
    "WinMapReduce": (OVERLAPPING, "agg", wr.WinMapReduce(2, 2, level=1)),
    "KeyFarm of PaneFarm": (COUNTED, "agg", wr.KeyFarm(2, wr.PaneFarm(2, 2, level=2), level=2)),
    "WinFarm of WinMapReduce": (
        OVERLAPPING,
        "sums",
        wr.WinFarm(2, wr.WinMapReduce(2, 2, level=2), level=2),
    ),
}
CHAIN = "chain"
"""Two queries on one stream, which is only built: one watermark is on the way."""
DATASETS = ["files", "tables in memory"]
"""Datasets that tasks read: their names, or the rows that they are sent."""
ON_CONNECT = ["native windows", "native panes", "KeyFarm", "WinFarm, ranked", "PaneFarm"]


def last_and_spread(w: wr.Window) -> dict[str, Any]:
    return {"last": int(w["x"][-1]), "spread": int(w["x"].max() - w["x"].min())}


def table() -> pa.Table:
    draw = np.random.default_rng(3)
    n = 600
    return pa.table(
        {
            "k": pa.array(["a", "b", None, "c"] * (n // 4)),
            "t": pa.array(np.cumsum(draw.choice([0, 500, 1000, 3000], n))[draw.permutation(n)]),
            "seq": pa.array(np.arange(n)),
            "x": pa.array(draw.integers(-99, 99, n)),
        }
    )


def query(data: Any, model: WindowModel, kind: str, pattern: Pattern | None) -> wr.Query:
    base = wr.stream(data).key_by("k").event_time("t").order_by("seq").window(model)
    if kind == "apply":
        base = base.apply(last_and_spread, "last bigint, spread bigint")
    elif kind == "sums":
        base = base.agg(n=wf.count(), total=wf.sum("x"), least=wf.min("x"))
    else:
        base = base.agg(total=wf.sum("x"), median=wf.median("x"), last=wf.last("x"))
    return (base if pattern is None else base.using(pattern)).ordered()


def chain(spark: SparkSession) -> DataFrame:
    ticks = spark.readStream.format("rate").load()
    totals = wr.stream(ticks).event_time("timestamp").window(OVERLAPPING).agg(n=wf.count())
    behind = wr.stream(totals.to_df()).event_time("window_end").window(OVERLAPPING)
    return behind.agg(n=wf.count()).to_df(observation="second")


def main(master: str, is_remote: bool) -> None:
    spark = start(master, is_remote, **{"spark.sql.shuffle.partitions": "2"})
    rows = table()
    df = spark.createDataFrame(rows).repartition(3)
    for name, (model, kind, pattern) in SHAPES.items():
        if is_remote and name not in ON_CONNECT:
            continue
        got = [tuple(r) for r in query(df, model, kind, pattern).to_df().collect()]
        wanted = query(rows, model, kind, wr.WinSeq()).collect().to_pylist()
        assert got == [tuple(r.values()) for r in wanted], name
        print(name, len(got), flush=True)
    check_datasets(spark, rows)
    if is_remote:
        print(CHAIN, watermarks_of(chain(spark)), flush=True)
    check_expressions(df, rows)
    spark.stop()


def check_datasets(spark: SparkSession, rows: pa.Table) -> None:
    """Windows over files and over tables, each split sent to its own task, and their join."""
    wanted = [tuple(r.values()) for r in query(rows, COUNTED, "agg", None).collect().to_pylist()]
    within: dict[str, Any] = {"within": "2 ms", "on": wr.equi("k"), "time": "t"}
    pairs = wr.join(rows, rows, **within).collect().num_rows
    tasks._MOST_TO_ALL, splits._LEAST = 2000, 1000
    with tempfile.TemporaryDirectory() as folder:
        for i in range(3):
            pq.write_table(rows.slice(200 * i, 200), f"{folder}/{i}.parquet", row_group_size=50)
        for name, dataset in zip(DATASETS, (ds.dataset(folder), ds.dataset(rows)), strict=True):
            found = query(dataset, COUNTED, "agg", wr.KeyFarm(2)).to_df(spark).collect()
            assert [tuple(r) for r in found] == wanted, name
            assert wr.join(dataset, dataset, **within).to_df(spark).count() == pairs, name
            print(name, len(found), flush=True)


def check_expressions(df: DataFrame, rows: pa.Table) -> None:
    """An expression in several places, a column in another case, and a sort order, refused."""
    keyed = wr.stream(df).key_by(F.col("K")).event_time("t").window(wr.CountWindow(1000))
    twice = keyed.agg(total=wf.sum(df.x * 2), most=wf.max(F.col("X") * 2), own=wf.min(df.x))  # type: ignore[arg-type]
    got = {(r["k"], r["total"], r["most"], r["own"]) for r in twice.to_df().collect()}
    whole = wr.stream(rows).key_by("k").event_time("t").window(wr.CountWindow(1000))
    wanted = whole.agg(total=wf.sum("x"), most=wf.max("x"), own=wf.min("x")).collect()
    assert got == {(r["k"], r["total"] * 2, r["most"] * 2, r["own"]) for r in wanted.to_pylist()}
    try:
        keyed.order_by(F.desc("t"))
    except wr.WindrowError as e:
        assert "not a sort order" in str(e)
    else:
        raise AssertionError("a sort order was accepted")


if __name__ == "__main__":
    main(sys.argv[-1], "--remote" in sys.argv)
