"""The cost of queries over Parquet files that tasks read themselves, compared with other ways.

Run with ``make bench-sources``, or ``python -m benchmarks.bench_sources [--rows N] [part ...]``;
the parts are ``time``, ``strings``, ``median``, ``count``, ``stream`` and ``process``. Every query
is checked on a small sample first, against Spark's own. A wrong result fails the benchmark; a
missed target does not.

DuckDB and Polars are compared if they are installed: ``pip install 'windrow[bench]'``.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from benchmarks import bench_stream
from benchmarks.bench_batch import COUNT, SLIDING, by_frame, by_window
from benchmarks.bench_kernels_ranges import best_of
from benchmarks.reporting import check, report, rows_of
from windrow import functions as wf
from windrow.core.models import WindowModel
from windrow.spark.settings import COLUMNAR_SCAN

REPEATS = 3
CORES = 2
FILES = 8
SAMPLE = 20_000
GROUP = 1_000_000
"""Rows per row group."""
FEW = 200_000
"""Rows for Spark's ``window``, which takes seconds for them; rates are compared."""
FRAMED = 2_000_000
"""Rows for Spark's frames."""


@dataclass(frozen=True)
class Files:
    """Tuples ``(k, t, x)`` in Parquet files, one every ``every`` microseconds."""

    folder: Path
    rows: int
    keys: int = 100
    every: int = 1
    has_names: bool = False
    """Whether keys are strings."""

    def __post_init__(self) -> None:
        if self.folder.exists():
            return
        self.folder.mkdir()
        rng = np.random.default_rng(1)
        names = pa.array([f"sensor {k}" for k in range(self.keys)])
        for i, part in enumerate(np.array_split(np.arange(self.rows), FILES)):
            keys = pa.array(rng.integers(0, self.keys, len(part)))
            table = pa.table(
                {
                    "k": names.take(keys) if self.has_names else keys,
                    "t": pa.array(part * self.every, pa.timestamp("us", "UTC")),
                    "x": rng.integers(0, 1000, len(part)),
                    "y": rng.random(len(part)),
                }
            )
            pq.write_table(table, self.folder / f"{i}.parquet", row_group_size=GROUP)

    @property
    def dataset(self) -> ds.Dataset:
        return ds.dataset(self.folder)

    @property
    def pattern(self) -> str:
        return f"{self.folder}/*.parquet"

    def df(self, spark: SparkSession) -> DataFrame:
        return spark.read.parquet(str(self.folder))


def query(data: Any, model: WindowModel) -> wr.Query:
    """The query whose throughput is measured."""
    functions = {"n": wf.count(), "s": wf.sum("x"), "m": wf.max("x")}
    return wr.stream(data).key_by("k").event_time("t").window(model).agg(**functions)


def rate_ratio(rows: int, seconds: float, fewer: int, theirs: float) -> float:
    """How much higher our rate is than that of another way, which was given fewer rows."""
    return rows / seconds / (fewer / theirs)


def report_subset(label: str, rows: int, seconds: float) -> None:
    """Print the rate of what was given only some of the rows."""
    report(f"  {label}, {rows / 1e6:g} M rows only", rows, seconds)


def noop(df: DataFrame) -> None:
    """Run a query on Spark and throw its results away."""
    df.write.format("noop").mode("overwrite").save()


def handed_over(spark: SparkSession, df: DataFrame, model: WindowModel) -> None:
    """Run a query over rows that Spark reads and hands over to Python."""
    spark.conf.set(COLUMNAR_SCAN, "false")
    try:
        noop(query(df, model).to_df())
    finally:
        spark.conf.unset(COLUMNAR_SCAN)


def bench_time(spark: SparkSession, files: Files, small: Files) -> None:
    """Overlapping time windows: a dataset, a DataFrame, and Spark's own tumbling windows."""
    expected = rows_of(by_window("1 second", "10 milliseconds")(small.df(spark)))
    check(
        "time windows of a dataset", rows_of(query(small.dataset, SLIDING).to_df(spark)), expected
    )
    check("time windows of a DataFrame", rows_of(query(small.df(spark), SLIDING).to_df()), expected)
    tumbling, expanding = by_window("10 seconds"), by_window("1 second", "10 milliseconds")
    few = replace(files, folder=files.folder.parent / "few", rows=FEW)
    ours, plain, frame, theirs, expanded = best_of(
        REPEATS,
        lambda: noop(query(files.dataset, SLIDING).to_df(spark)),
        lambda: noop(query(files.df(spark), SLIDING).to_df()),
        lambda: handed_over(spark, files.df(spark), SLIDING),
        lambda: noop(tumbling(files.df(spark))),
        lambda: noop(expanding(few.df(spark))),
    )
    report("on Spark, 1 s, 10 ms: Spark's tumbling window, 10 s", files.rows, theirs)
    report("  Windrow over the DataFrame", files.rows, plain, theirs / plain, ">= 1.7")
    report("  the same with Spark's reader", files.rows, frame, theirs / frame)
    report("  Windrow over the dataset", files.rows, ours, theirs / ours, ">= 1.7")
    report("    against Spark's reader", files.rows, ours, frame / ours, ">= 2.5")
    report_subset("Spark's window() of the same windows", few.rows, expanded)
    ratio = rate_ratio(files.rows, ours, few.rows, expanded)
    report("    against it, by their rates", files.rows, ours, ratio, ">= 200")


def bench_strings(spark: SparkSession, files: Files, small: Files) -> None:
    """The same overlapping time windows with 1000 strings as keys."""
    named = replace(files, folder=files.folder.parent / "named", keys=1000, has_names=True)
    tiny = replace(small, folder=files.folder.parent / "tiny named", has_names=True)
    expected = rows_of(by_window("1 second", "10 milliseconds")(tiny.df(spark)))
    check("windows of strings", rows_of(query(tiny.dataset, SLIDING).to_df(spark)), expected)
    tumbling, expanding = by_window("10 seconds"), by_window("1 second", "10 milliseconds")
    few = replace(named, folder=files.folder.parent / "few named", rows=FEW)
    ours, frame, theirs, expanded = best_of(
        REPEATS,
        lambda: noop(query(named.dataset, SLIDING).to_df(spark)),
        lambda: handed_over(spark, named.df(spark), SLIDING),
        lambda: noop(tumbling(named.df(spark))),
        lambda: noop(expanding(few.df(spark))),
    )
    report("on Spark, 1 s, 10 ms, 1000 strings: Spark's tumbling", named.rows, theirs)
    report("  Windrow with Spark's reader", named.rows, frame, theirs / frame)
    report("  Windrow over the dataset", named.rows, ours, theirs / ours, ">= 0.85")
    report("    against Spark's reader", named.rows, ours, frame / ours, ">= 1.25")
    report_subset("Spark's window() of the same windows", few.rows, expanded)
    ratio = rate_ratio(named.rows, ours, few.rows, expanded)
    report("    against it, by their rates", named.rows, ours, ratio, ">= 100")


def median_of(data: Any) -> wr.Query:
    """Exact medians of overlapping windows."""
    windows = wr.stream(data).key_by("k").event_time("t").window(wr.TimeWindow("1 s", "100 ms"))
    return windows.agg(m=wf.median("x"))


def spark_median(df: DataFrame) -> DataFrame:
    """The same with Spark's ``window`` and ``median``."""
    grouped = df.groupBy("k", F.window("t", "1 second", "100 milliseconds").alias("w"))
    return grouped.agg(F.median("x").alias("m")).select("k", "w.start", "w.end", "m")


def bench_median(spark: SparkSession, files: Files, small: Files) -> None:
    """Exact medians; Spark, which is slow, gets fewer rows."""
    expected = rows_of(spark_median(small.df(spark)))
    check("medians", rows_of(median_of(small.dataset).to_df(spark)), expected)
    fewer = Files(files.folder.parent / "fewer", 400_000)
    ours, theirs = best_of(
        REPEATS,
        lambda: noop(median_of(files.dataset).to_df(spark)),
        lambda: noop(spark_median(fewer.df(spark))),
    )
    report_subset("on Spark, median, 1 s, 100 ms: Spark's", fewer.rows, theirs)
    ratio = rate_ratio(files.rows, ours, fewer.rows, theirs)
    report("  Windrow over the dataset, by their rates", files.rows, ours, ratio, ">= 50")


def bench_count(spark: SparkSession, files: Files, small: Files) -> None:
    """Count windows: a dataset, a DataFrame, and Spark's frames."""
    spark.conf.set("spark.sql.window.segmentTree.enabled", "true")
    expected = rows_of(query(small.df(spark), COUNT).to_df())
    full = [row for row in expected if row[3] == COUNT.length]
    check("frames", full, rows_of(by_frame(small.df(spark))))
    check("count windows of a dataset", rows_of(query(small.dataset, COUNT).to_df(spark)), expected)
    few = replace(files, folder=files.folder.parent / "framed", rows=FRAMED)
    ours, frame, theirs = best_of(
        REPEATS,
        lambda: noop(query(files.dataset, COUNT).to_df(spark)),
        lambda: handed_over(spark, files.df(spark), COUNT),
        lambda: noop(by_frame(few.df(spark))),
    )
    report("on Spark, count 1000, 10: Windrow with Spark's reader", files.rows, frame)
    target = ">= 4, or 8 M rows/s"
    report("  Windrow over the dataset", files.rows, ours, frame / ours, target)
    report_subset("Spark's frame with the segment tree", few.rows, theirs)
    ratio = rate_ratio(files.rows, ours, few.rows, theirs)
    report("    against it, by their rates", files.rows, ours, ratio, ">= 12")


def bench_stream_of_files(spark: SparkSession, files: Files, small: Files) -> None:
    """The median batch of a stream of files: files that tasks read, and Spark's reader."""
    streams = bench_stream.Streams(spark, files.folder.parent)
    windows = bench_stream.count_sum_max
    found, expected = (
        rows_of(windows(made(20_000, 3, 3), SLIDING)) for made in (streams.scanned, streams)
    )
    check("time windows of a stream of files", found, expected)
    for rows, target in ((1_000_000, ">= 1.8"), (4_000_000, ">= 3")):
        ours, frame = (
            statistics.median(bench_stream.batch_seconds(windows(made(rows, 9, 100), SLIDING), 4))
            for made in (streams.scanned, streams)
        )
        bench_stream.report(f"a stream, {rows:,} rows per batch: Spark's reader", rows, frame)
        bench_stream.report("  files that tasks read", rows, ours, frame / ours, target)


def duckdb_panes(files: Files) -> dict[str, Any]:
    """Panes of 10 ms and a frame over them, by hand; exact where no key is silent for 10 ms."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {CORES}; SET TimeZone = 'UTC'")
        return connection.execute(
            f"""
            WITH panes AS (
                SELECT k, epoch_us(t) // 10000 AS pane, count(*) AS n, sum(x) AS s, max(x) AS m
                FROM '{files.pattern}' GROUP BY ALL
            ), instants AS (
                SELECT k, unnest(range(min(pane) - 99, max(pane) + 1)) AS pane FROM panes GROUP BY k
            ), framed AS (
                SELECT k, pane AS first, sum(n) OVER w AS n, sum(s) OVER w AS s, max(m) OVER w AS m
                FROM instants LEFT JOIN panes USING (k, pane)
                WINDOW w AS (
                    PARTITION BY k ORDER BY pane ROWS BETWEEN CURRENT ROW AND 99 FOLLOWING
                )
            )
            SELECT k, first, n::BIGINT AS n, s::BIGINT AS s, m FROM framed WHERE n IS NOT NULL
            """
        ).fetchnumpy()


def polars_dynamic(files: Files) -> Any:
    """Polars' own sliding windows."""
    import polars as pl

    return (
        pl.scan_parquet(files.pattern)
        .group_by_dynamic("t", every="10ms", period="1s", group_by="k", closed="left")
        .agg(pl.len().alias("n"), pl.sum("x").alias("s"), pl.max("x").alias("m"))
        .collect(engine="streaming")
    )


def polars_rolling(files: Files) -> Any:
    """Full windows of the last 1000 rows of each key, at every tenth row."""
    import polars as pl

    rolled = (
        pl.scan_parquet(files.pattern)
        .sort("t", maintain_order=True)
        .select(
            "k",
            pl.int_range(1, pl.len() + 1).over("k").alias("end"),
            pl.col("x").rolling_sum(COUNT.length).over("k").alias("s"),
            pl.col("x").rolling_max(COUNT.length).over("k").alias("m"),
        )
        .filter((pl.col("end") >= COUNT.length) & (pl.col("end") % COUNT.slide == 0))
    )
    return rolled.collect()


def as_spark(value: Any) -> Any:
    """A value as Spark's rows have it: times are local."""
    return value.astimezone().replace(tzinfo=None) if isinstance(value, datetime) else value


def check_others(small: Files, windows: list[Any], has: set[str]) -> None:
    """Compare what DuckDB and Polars give with windows (key, start, end, n, s, m)."""
    if "duckdb" in has:
        columns = duckdb_panes(small)
        rows = zip(*(columns[name].tolist() for name in "knsm"), strict=True)
        check("DuckDB", sorted(rows), sorted((w[0], *w[3:]) for w in windows))
    if "polars" in has:
        found = Counter(polars_dynamic(small).select("k", "n", "s", "m").rows())
        # Polars leaves out windows that begin before the first row.
        both = found & Counter((w[0], *w[3:]) for w in windows)
        check("Polars' group_by_dynamic", sorted(found.elements()), sorted(both.elements()))
        counted = query(small.dataset, COUNT).collect().to_pylist()
        full = sorted((r["k"], r["s"], r["m"]) for r in counted if r["n"] == COUNT.length)
        check("Polars' rolling", sorted(polars_rolling(small).select("k", "s", "m").rows()), full)


def ordered(data: Any) -> wr.Query:
    """Count windows of rows in the order of a column, without event time."""
    functions = {"n": wf.count(), "s": wf.sum("x"), "m": wf.max("x")}
    return wr.stream(data).key_by("k").order_by("t").window(COUNT).agg(**functions)


def tuples(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of results, sorted, without window ids."""
    kept = table.drop_columns("window_id")
    return sorted(tuple(map(as_spark, row.values())) for row in kept.to_pylist())


def bench_process(spark: SparkSession, files: Files, small: Files) -> None:
    """In this process, reading included: time windows and count windows."""
    expected = rows_of(by_window("1 second", "10 milliseconds")(small.df(spark)))
    check("time windows in process", tuples(query(small.dataset, SLIDING).collect()), expected)
    has = {name for name in ("duckdb", "polars") if importlib.util.find_spec(name)}
    check_others(small, expected, has)
    in_order = tuples(ordered(small.dataset).collect())
    check("ordered by a column", in_order, tuples(query(small.dataset, COUNT).collect()))
    table = files.dataset.to_table()
    timed, counted = query(files.dataset, SLIDING), query(files.dataset, COUNT)
    runs: dict[str, Callable[[], Any]] = {
        "1 s, 10 ms": lambda: timed.collect(CORES),
        "1 s, 10 ms, one thread": lambda: timed.collect(1),
        "1 s, 10 ms, a table": lambda: query(table, SLIDING).collect(CORES),
        "count 1000, 10": lambda: counted.collect(CORES),
        "count 1000, 10, order_by": lambda: counted.order_by("x").collect(CORES),
        "count 1000, 10, one thread": lambda: counted.collect(1),
        "count 1000, 10, a table": lambda: query(table, COUNT).collect(CORES),
        "count 1000, 10, a table, order_by": lambda: (
            query(table, COUNT).order_by("x").collect(CORES)
        ),
        "count 1000, 10, order_by and no event time": lambda: ordered(files.dataset).collect(CORES),
    }
    if "duckdb" in has:
        runs["DuckDB's panes, by hand"] = lambda: duckdb_panes(files)
    if "polars" in has:
        runs["Polars' rolling"] = lambda: polars_rolling(files)
    seconds = dict(zip(runs, best_of(REPEATS, *runs.values()), strict=True))
    if "polars" in has:
        # The same rows, but it takes so long that one run has to do.
        (seconds["Polars' group_by_dynamic"],) = best_of(1, lambda: polars_dynamic(files))
    against = {
        "DuckDB's panes, by hand": ("1 s, 10 ms", ">= 1.5"),
        "Polars' group_by_dynamic": ("1 s, 10 ms", ">= 15"),
        "Polars' rolling": ("count 1000, 10, order_by", ">= 1"),
    }
    for name, each in seconds.items():
        report(f"in process: {name}", files.rows, each)
        if name in against:
            ours, target = against[name]
            ratio = each / seconds[ours]
            report(f"  Windrow, {ours}", files.rows, seconds[ours], ratio, target)


PARTS = {
    "time": bench_time,
    "strings": bench_strings,
    "median": bench_median,
    "count": bench_count,
    "stream": bench_stream_of_files,
    "process": bench_process,
}


def main() -> None:
    """Check and time the named parts, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--rows", type=int, default=10_000_000)
    given = parser.parse_args()
    pa.set_cpu_count(CORES)
    os.environ["POLARS_MAX_THREADS"] = str(CORES)  # Polars reads it when it is imported
    spark = wr.local_spark(cores=CORES)
    print(f"{CORES} cores, best of {REPEATS}, {given.rows:,} rows: count, sum, max", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        files = Files(Path(folder) / "files", given.rows)
        small = Files(Path(folder) / "small", SAMPLE, keys=3, every=100)
        for part in given.parts or PARTS:
            PARTS[part](spark, files, small)
    spark.stop()


if __name__ == "__main__":
    main()
