"""Window queries over streaming DataFrames.

The rows' watermark is Spark's. Emitters pack the tuples of each worker and batch into one binary
row, so Spark drops none of them: the workers decide which tuples are late.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.engine.columns.control import TIME
from windrow.engine.intake import window_tuples
from windrow.engine.stages.nodes import Stages
from windrow.engine.state.identity import describe
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages
from windrow.planner.choice import Choice, choose
from windrow.planner.plans import STREAM_WORKERS, Resources
from windrow.spark import native_streams
from windrow.spark.bounded import Lowering
from windrow.spark.checkpoint import refuse_other_checkpoint, refuse_workers_checkpoint
from windrow.spark.cores import cores_of
from windrow.spark.file_rows import FileRows
from windrow.spark.idleness import Idleness
from windrow.spark.intake import ClockIntake, Intake
from windrow.spark.marks import marked, with_watermark
from windrow.spark.packed import PACKED, Exchange
from windrow.spark.plans import check_metrics
from windrow.spark.refusals import explained
from windrow.spark.results import Results
from windrow.spark.rows import result_fields, schema_of, time_of, tuples
from windrow.spark.runtime import METRICS, StreamRuntime
from windrow.spark.sending import check_can_be_sent
from windrow.spark.session import make_ready_for_streams
from windrow.spark.stages import StagePlan
from windrow.spark.watermark import Watermark


def plan(query: WindowQuery, df: DataFrame | FileRows, pattern: Pattern | None) -> Lowering:
    """What will run; the pattern is chosen if none is given."""
    resources = Resources(cores_of(df.sparkSession), is_stream=True)
    if pattern is not None:
        return Lowering(Choice(pattern, "as given"), window_stages(query, pattern), resources)
    choice = choose(query, resources)
    if isinstance(df, DataFrame) and native_streams.is_native(query, df):
        return Lowering(replace(choice, native="windows"), Stages(()), resources)
    return Lowering(choice, window_stages(query, choice.pattern), resources)


def to_df(
    query: WindowQuery,
    df: DataFrame | FileRows,
    pattern: Pattern | None,
    *,
    ordered: bool,
    metrics: str = METRICS,
) -> DataFrame:
    """The results as a streaming DataFrame, in append mode."""
    check_can_be_sent(query)
    rows, watermark = df, None
    if isinstance(df, DataFrame):
        check_metrics(metrics, df)
    lowering = plan(query, df, pattern)
    if lowering.choice.native and isinstance(df, DataFrame):
        partitions = partitions_for(STREAM_WORKERS, cores_of(df.sparkSession))
        make_ready_for_streams(df.sparkSession, partitions)
        found = native_streams.windows(query, df, metrics, ordered=ordered)
        own = native_streams.identity_of(query)
        return explained(found, metrics, partial(refuse_workers_checkpoint, identity=own))
    if query.time is not None:
        watermark = Watermark()
        if isinstance(df, DataFrame):
            rows, watermark = with_watermark(df, query.time, time_of(query), query.delay)
    stages = StagePlan.of(lowering.stages, query, is_stream=True)
    make_ready_for_streams(
        df.sparkSession, state_partitions(stages, df.sparkSession, is_given=pattern is not None)
    )
    idleness = None
    if query.idle_timeout is not None:
        idleness = Idleness(query.model, -(-query.idle_timeout // 1000))
    identity = _identity(query, lowering)
    fields = result_fields(query)
    is_told = watermark is not None and bool(watermark.own)
    results = StreamRuntime(stages, identity, watermark, idleness).run(
        _packed(query, stages, rows, is_told),
        Results(fields),
        marked(schema_of(query, fields, df), query.result_lags(), watermark),
        metrics,
        query if ordered else None,
    )
    check = partial(refuse_other_checkpoint, identity=identity)
    return explained(results, metrics, check, tells_windows=True)


def identity_of(
    query: WindowQuery, df: DataFrame | FileRows, pattern: Pattern | None
) -> dict[str, Any]:
    """What state depends on, as data."""
    return _identity(query, plan(query, df, pattern))


def _identity(query: WindowQuery, lowering: Lowering) -> dict[str, Any]:
    chained = lowering.stages.chained_states
    own = {"stored_together": chained} if chained else {}
    return {**describe(query, lowering.choice.pattern), **own}


def state_partitions(stages: StagePlan, spark: SparkSession, is_given: bool) -> int:
    """How many partitions the state should be in.

    A pattern that was given has one partition per worker. One that was chosen has the same number
    of workers on any number of cores, so that a stream can go on with more or fewer cores; its
    workers share about as many partitions as there are cores.
    """
    if is_given:
        return stages.widest_state
    return partitions_for(stages.widest_state, cores_of(spark))


def partitions_for(workers: int, cores: int) -> int:
    """Partitions that spread workers, a power of two of them, evenly over the cores.

    >>> [partitions_for(8, cores) for cores in (1, 2, 3, 8, 64)]
    [1, 2, 4, 8, 8]
    """
    return min(workers, 1 << (cores - 1).bit_length())


def _packed(
    query: WindowQuery, stages: StagePlan, df: DataFrame | FileRows, is_told: bool
) -> DataFrame:
    """The tuples of the stream as packed rows, and the clock's ticks if they are needed.

    ``is_told``: workers are told the greatest time. That of files moves Spark's watermark.
    """
    is_watched = query.idle_timeout is not None
    is_scanned = isinstance(df, FileRows)
    rows = df if isinstance(df, FileRows) else tuples(query, df)
    greatest = query.time if is_scanned else TIME
    intake = Intake(
        take=partial(window_tuples, query),
        columns=tuple(rows.columns),
        emitters=stages.emitters,
        exchange=stages.entry,
        is_stream=True,
        greatest_of=greatest if is_watched or is_told or is_scanned else None,
        unit=query.unit if is_scanned else "us",
    )
    packed = intake.over(rows)
    if isinstance(df, FileRows) and query.time is not None:
        packed = df.watermarked(packed, query.delay)
    return packed.unionAll(_clock(df.sparkSession, stages.entry)) if is_watched else packed


def _clock(spark: SparkSession, entry: Exchange) -> DataFrame:
    """Ticks of the clock, one per second."""
    rate = spark.readStream.format("rate").option("rowsPerSecond", 1)
    ticks = rate.option("numPartitions", 1).load()
    return ticks.select(F.unix_millis("timestamp")).mapInArrow(ClockIntake(entry), PACKED)
