"""Measures what steps cost on Spark, by small jobs that differ in one step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import windrow as wr
from windrow.cli.calibration_here import KEYS, rows_to_measure, tiny
from windrow.spark.cores import cores_of

ROWS = 1_000_000
_FEW = 1000
_BATCHES = 4


class OnSpark:
    """Times of steps, in microseconds, from the best of a few runs of each job."""

    def __init__(self, spark: SparkSession, keep: float) -> None:
        self.spark, self.cores = spark, cores_of(spark)
        self.keep = keep
        """What the engine takes to keep a row, as it was measured without Spark."""

    def all(self) -> Iterator[tuple[str, float]]:
        """The constants by name, one after the other as they are measured."""
        rows = self._rows(ROWS)
        with TemporaryDirectory() as folder:
            path = str(Path(folder) / "rows")
            rows.write.parquet(path)
            files = self.spark.read.parquet(path)
            yield from self._fixed()
            yield from self._per_row(rows, files)
            yield "batch", self._batch(folder)
        rows.unpersist()

    def _rows(self, n: int) -> DataFrame:
        """Cached rows one microsecond apart, of keys in turn."""
        made = self.spark.range(n, numPartitions=self.cores).select(
            F.pmod("id", F.lit(KEYS)).alias("k"),
            F.timestamp_micros("id").alias("t"),
            F.rand(1).alias("x"),
            F.rand(2).alias("y"),
        )
        made = made.cache()
        made.count()
        return made

    def _fixed(self) -> Iterator[tuple[str, float]]:
        """A few rows: what is left is what a job, a stage and a task cost."""
        few = self.spark.createDataFrame(rows_to_measure(_FEW))
        windows: Any = wr.stream(few).key_by("k").event_time("t")
        counted = windows.window(wr.CountWindow(10))
        n, many = self.cores, 8 * self.cores
        one = self._best(lambda: counted_by(counted, wr.KeyFarm(n)))
        tasks = self._best(lambda: counted_by(counted, wr.KeyFarm(many))) - one
        task = tasks * self.cores / (many - n)
        two = self._best(lambda: counted_by(windows.window(TUMBLING), wr.PaneFarm(n, n))) - one
        stage = two - task
        self.fixed, self.stage, self.task = one, stage, task
        yield "task", task
        yield "stage", stage
        yield "job", one - stage - task

    def _per_row(self, rows: DataFrame, files: DataFrame) -> Iterator[tuple[str, float]]:
        grouped = self._best(lambda: finished(summed_by(rows, "k")))
        fewer = self._best(lambda: finished(summed_by(rows.limit(_FEW), "k")))
        yield "native_row", self._each(grouped - fewer)
        medians = rows.groupBy("k").agg(F.expr("percentile(x, 0.5D)"))
        yield "native_value", self._each(self._best(lambda: finished(medians)) - grouped)
        by_file = self._best(lambda: finished(summed_by(files, "k")))
        yield "native_read", self._each(by_file - grouped)
        pane = F.unix_micros("t") % (ROWS // 4)
        many = self._best(lambda: finished(summed_by(rows.withColumn("p", pane), "k", "p")))
        yield "native_group", self._each(many - grouped) * ROWS / (ROWS // 4)
        handed = self._best(lambda: finished(rows.mapInArrow(nothing, "n bigint")))
        none = self._best(lambda: finished(rows.limit(_FEW).mapInArrow(nothing, "n bigint")))
        yield "hand_over", self._each(handed - none)
        source: Any = wr.stream(files).source
        scanned = source.rows_on(self.spark, files.columns, None)
        read = self._best(lambda: finished(scanned.mapInArrow(nothing, "n bigint")))
        yield "read", self._each(read - none)
        windows: Any = wr.stream(files).key_by("k").event_time("t")
        few = tiny(windows.window(wr.CountWindow(ROWS))).using(wr.KeyFarm(self.cores))
        sent = self._best(lambda: finished(few.to_df()))
        read_and_kept = self._each(read - none) + self.keep
        yield "exchange", self._each(sent - self.fixed) - read_and_kept
        given = self._best(lambda: finished(self.spark.range(ROWS).mapInArrow(as_it_is, "id long")))
        yield "result", self._each(given - none - handed + none)

    def _batch(self, folder: str) -> float:
        """A micro-batch of few rows: what its stateful stage costs beside that of a bounded one."""
        path = Path(folder) / "stream"
        few = self.spark.createDataFrame(rows_to_measure(_FEW))
        for _ in range(_BATCHES):
            few.coalesce(1).write.mode("append").parquet(str(path))
        stream = self.spark.readStream.schema(few.schema).option("maxFilesPerTrigger", 1)
        rows: Any = wr.stream(stream.parquet(str(path))).key_by("k").event_time("t")
        df = tiny(rows.window(wr.CountWindow(10))).to_df()
        writer = df.writeStream.format("noop").option("checkpointLocation", f"{folder}/checkpoint")
        running = writer.trigger(availableNow=True).start()
        running.awaitTermination()
        took = [p.durationMs["triggerExecution"] for p in running.recentProgress if p.numInputRows]
        return float(min(took[1:])) * 1e3 - self.stage - self.task

    def _each(self, micros: float) -> float:
        """Of one row on one core."""
        return micros * self.cores / ROWS

    def _best(self, run: Callable[[], object], times: int = 2) -> float:
        """The best time, in microseconds, after one run that does not count."""
        run()
        found = []
        for _ in range(times):
            start = perf_counter()
            run()
            found.append(perf_counter() - start)
        return min(found) * 1e6


TUMBLING = wr.TimeWindow(100)


def counted_by(windows: Any, pattern: wr.Pattern) -> None:
    """Run a query that does next to nothing by this pattern."""
    decomposed = windows.decompose(
        partial=lambda w: {"n": len(w)},
        combine=lambda parts: {"r": sum(p["n"] for p in parts)},
        partial_returns="n bigint",
        returns="r bigint",
    )
    finished(decomposed.using(pattern).to_df())


def summed_by(df: DataFrame, *columns: str) -> DataFrame:
    """The sums of groups."""
    return df.groupBy(*columns).agg(F.sum("x"), F.count("*"))


def nothing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Take rows and give none."""
    n = sum(map(len, batches))
    yield pa.record_batch([pa.array([n])], names=["n"])


def as_it_is(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give the rows as they come."""
    yield from batches


def finished(df: DataFrame) -> None:
    """Compute all rows and forget them."""
    df.write.format("noop").mode("overwrite").save()
