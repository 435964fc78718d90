"""`windrow bench`: times queries in process and on Spark, after their results were compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import parquet

import windrow as wr
from windrow.cli.bench_queries import QUERIES, BenchQuery, ticks
from windrow.cli.java import can_start_spark
from windrow.core.errors import WindrowError
from windrow.engine.threads import cores_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SAMPLE = 3000
_REPEATS = 3
_WAYS = ("in process", "on Spark", "Spark's own", "faster")


def bench(rows: int, *, with_spark: bool) -> None:
    """Print a line per query: rows per second, and how many times as long Spark's own way takes."""
    few = ticks(_SAMPLE)
    with TemporaryDirectory() as folder, _session(is_wanted=with_spark) as spark:
        path = str(Path(folder) / "ticks.parquet")
        parquet.write_table(ticks(rows), path, row_group_size=131_072)
        if spark is not None:
            spark.read.parquet(path).createOrReplaceTempView("ticks")
        print(f"{rows:,} rows in a file, {cores_here()} cores; rows per second, best of {_REPEATS}")
        print(_line("window", _WAYS if spark is not None else _WAYS[:1]), flush=True)
        for query in QUERIES:
            check_same(
                query, "in process", query.over(wr.stream(few)).collect(), query.by_oracle(few)
            )
            print(_line(query.name, _cells(query, path, rows, spark)), flush=True)


@contextmanager
def _session(*, is_wanted: bool) -> Iterator[SparkSession | None]:
    """A session on all cores, if it is wanted and can be had."""
    if not is_wanted or not can_start_spark():
        if is_wanted:
            print("Spark is left out: see windrow check for what it lacks")
        yield None
        return
    spark = wr.local_spark()
    try:
        yield spark
    finally:
        spark.stop()


def _cells(query: BenchQuery, path: str, rows: int, spark: SparkSession | None) -> list[str]:
    """Rows per second of each way, whose results are the same."""
    over_file = query.over(wr.scan(path))
    if spark is None:
        (alone,) = _best(over_file.collect)
        return [_rate(rows, alone)]
    ways = {"on Spark": over_file.to_df(spark), "by Spark": spark.sql(query.sql)}
    wanted = over_file.collect()
    for way, df in ways.items():
        check_same(query, way, df.toArrow(), wanted)
    on_spark = [df.write.format("noop").mode("overwrite").save for df in ways.values()]
    alone, ours, own = _best(over_file.collect, *on_spark)
    return [*(_rate(rows, seconds) for seconds in (alone, ours, own)), f"{own / ours:.1f}x"]


def check_same(query: BenchQuery, way: str, found: pa.Table, wanted: pa.Table) -> None:
    """Raise if the results of a query are wrong."""
    found, wanted = query.compared(found), query.compared(wanted)
    if not found.cast(wanted.schema).equals(wanted):
        rule = f"the results of {query.name!r} {way} are wrong"
        got = f"{len(found)} windows, {len(wanted)} expected"
        raise WindrowError(rule, got, "report this as a bug, with the output of windrow check.")


def _best(*runs: Callable[[], object]) -> list[float]:
    """The shortest time of each, in seconds; runs alternate."""
    shortest = [float("inf")] * len(runs)
    for _ in range(_REPEATS):
        for r, run in enumerate(runs):
            began = perf_counter()
            run()
            shortest[r] = min(shortest[r], perf_counter() - began)
    return shortest


def _rate(rows: int, seconds: float) -> str:
    return f"{rows / seconds / 1e6:.3g} M"


def _line(name: str, cells: Sequence[str]) -> str:
    return f"{name:<20}" + "".join(f"{cell:>13}" for cell in cells)
