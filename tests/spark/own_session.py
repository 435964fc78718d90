"""A program with a session of its own, as users write them; its arguments say what it tries.

python -m tests.spark.own_session python | settings
"""

from __future__ import annotations

import logging
import os
import sys
import warnings

from pyspark.sql import DataFrame, SparkSession

import windrow as wr
from windrow import functions as wf
from windrow.spark.cores import cores_of
from windrow.spark.interpreter import check_worker_python
from windrow.spark.settings import PARTITIONS, PROVIDER


def session() -> SparkSession:
    return (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.session.timeZone", "Europe/Rome")
        .getOrCreate()
    )


def try_python(spark: SparkSession) -> None:
    """Without PYSPARK_PYTHON, then with it."""
    try:
        check_worker_python(spark)
    except wr.WindrowError as e:
        print("refused:", e)
    spark.stop()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = session()
    check_worker_python(spark)
    query = wr.stream(spark.range(8)).window(wr.CountWindow(4))
    print("rows:", query.apply(lambda w: {"n": len(w)}, "n int").to_df().select("n").collect())


def try_settings(spark: SparkSession) -> None:
    again = wr.local_spark(cores=4, spark__driver__memory="3g")
    zone, partitions = (spark.conf.get(n) for n in ("spark.sql.session.timeZone", PARTITIONS))
    print("same:", again is spark, cores_of(again), zone, partitions)
    print("changed:", list(wr.configure(spark).values())[-1])
    stream = spark.readStream.format("rate").load().selectExpr("value", "timestamp as ts")
    for degree in (1, 3, 2):
        _windows(stream, degree)
        print("partitions:", spark.conf.get(PARTITIONS))
    spark.conf.set(PARTITIONS, "64")
    _windows(stream, 2)
    spark.conf.set(PROVIDER, "x.HDFSBackedStateStoreProvider")
    try:
        _windows(stream, 2)
    except wr.WindrowError as e:
        print("refused:", e)


def _windows(stream: DataFrame, degree: int) -> DataFrame:
    query = wr.stream(stream).event_time("ts").window(wr.TimeWindow("2 s", "1 s"))
    return query.agg(n=wf.count()).using(wr.WinFarm(degree)).to_df()


if __name__ == "__main__":
    logging.basicConfig(format="logged: %(message)s", stream=sys.stdout)
    warnings.showwarning = lambda message, category, *_: print("warned:", message)
    {"python": try_python, "settings": try_settings}[sys.argv[1]](session())
