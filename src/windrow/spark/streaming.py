"""Window queries over streaming DataFrames.

The rows' watermark is Spark's. Emitters pack the tuples of each worker and batch into one binary
row, so Spark drops none of them: the workers decide which tuples are late.
"""

from __future__ import annotations

from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from windrow.core.errors import WindrowError
from windrow.core.models import Axis
from windrow.engine.columns.control import TIME
from windrow.engine.intake import window_tuples
from windrow.engine.state.identity import describe
from windrow.engine.window_query import END, WindowQuery
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages
from windrow.planner.choice import Choice, choose_for_stream
from windrow.spark.bounded import Lowering
from windrow.spark.cores import cores_of
from windrow.spark.idleness import Idleness
from windrow.spark.intake import ClockIntake, Intake
from windrow.spark.packed import PACKED, Exchange
from windrow.spark.results import Results
from windrow.spark.rows import result_fields, schema_of, time_of, tuples
from windrow.spark.runtime import METRICS, StreamRuntime
from windrow.spark.session import make_ready_for_streams
from windrow.spark.stages import StagePlan

_WATERMARK = "windrow_watermark"
_DELAY = "spark.watermarkDelayMs"
"""Spark's metadata of a column that has a watermark."""


def plan(query: WindowQuery, df: DataFrame, pattern: Pattern | None) -> Lowering:
    """What will run; the pattern is chosen if none is given."""
    if pattern is not None:
        choice = Choice(pattern, "as given")
    else:
        choice = choose_for_stream(query, cores_of(df.sparkSession))
    return Lowering(choice, window_stages(query, choice.pattern))


def to_df(
    query: WindowQuery,
    df: DataFrame,
    pattern: Pattern | None,
    *,
    ordered: bool,
    metrics: str = METRICS,
) -> DataFrame:
    """The results as a streaming DataFrame, in append mode."""
    lowering = plan(query, df, pattern)
    stages = StagePlan.of(lowering.stages, query, is_stream=True)
    make_ready_for_streams(
        df.sparkSession, state_partitions(stages, df.sparkSession, is_given=pattern is not None)
    )
    idleness = None
    if query.idle_timeout is not None:
        idleness = Idleness(query.model, -(-query.idle_timeout // 1000))
    identity = describe(query, lowering.choice.pattern)
    fields = result_fields(query)
    return StreamRuntime(stages, identity, query.time is not None, idleness).run(
        _packed(query, stages, df),
        Results(fields),
        _schema(query, fields, df),
        metrics,
        query if ordered else None,
    )


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


def _packed(query: WindowQuery, stages: StagePlan, df: DataFrame) -> DataFrame:
    """The tuples of the stream as packed rows, and the clock's ticks if they are needed."""
    is_watched = query.idle_timeout is not None
    rows = tuples(query, _with_watermark(query, df))
    intake = Intake(
        take=partial(window_tuples, query),
        columns=tuple(rows.columns),
        emitters=stages.emitters,
        exchange=stages.entry,
        is_stream=True,
        greatest_of=TIME if is_watched else None,
    )
    packed = intake.over(rows)
    return packed.unionAll(_clock(df.sparkSession, stages.entry)) if is_watched else packed


def _with_watermark(query: WindowQuery, df: DataFrame) -> DataFrame:
    if query.time is None:
        return df
    return with_watermark(df, query.time, time_of(query), query.delay)


def with_watermark(df: DataFrame, name: str, time: Column, delay: int) -> DataFrame:
    """The DataFrame with the watermark it has on the column, or else with one by the delay.

    ``time`` is the column in microseconds.
    """
    marked = [f.name for f in df.schema.fields if _DELAY in f.metadata]
    if name in marked:
        return df
    if marked:
        raise WindrowError(
            f"the event time, {name!r}, is not the column that has the watermark",
            f"a watermark on {marked}",
            f"take {marked[0]!r} as the event time, or set no watermark before.",
        )
    milliseconds, rest = divmod(delay, 1000)
    # Watermarks are timestamps in whole milliseconds: the rest of the delay is taken off before.
    marked_df = df.withColumn(_WATERMARK, F.timestamp_micros(time - rest))
    return marked_df.withWatermark(_WATERMARK, f"{milliseconds} milliseconds")


def _schema(query: WindowQuery, fields: pa.Schema, df: DataFrame) -> StructType:
    """The results' schema; windows that end at a time hand the watermark on with their end."""
    schema = schema_of(query, fields, df)
    if query.time is not None and query.model.axis is Axis.TIME:
        end = schema[END]
        if end.dataType.typeName() == "timestamp":
            end.metadata = {_DELAY: 0}
    return schema


def _clock(spark: SparkSession, entry: Exchange) -> DataFrame:
    """Ticks of the clock, one per second."""
    rate = spark.readStream.format("rate").option("rowsPerSecond", 1)
    ticks = rate.option("numPartitions", 1).load()
    return ticks.select(F.unix_millis("timestamp")).mapInArrow(ClockIntake(entry), PACKED)
