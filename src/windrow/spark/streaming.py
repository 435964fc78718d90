"""Queries over streaming DataFrames: packed rows through transformWithState, keyed by worker.

The rows' watermark is Spark's. Emitters pack the tuples of each worker and batch into one binary
row, so that Spark drops none of them: which tuples are late is decided by the workers.
"""

from __future__ import annotations

from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from windrow.core.durations import TimeUnit
from windrow.core.errors import WindrowError
from windrow.core.models import Bounds
from windrow.engine.columns.control import ARRIVAL, TIME
from windrow.engine.intake import needed_columns, window_tuples
from windrow.engine.state.identity import signature
from windrow.engine.window_query import END, WindowQuery
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages
from windrow.planner.choice import Choice, choose
from windrow.spark.bounded import Lowering, result_fields, schema_of
from windrow.spark.cores import cores_of
from windrow.spark.idleness import Idleness
from windrow.spark.native import column
from windrow.spark.session import make_ready_for_streams
from windrow.spark.stream_plan import StreamPlan
from windrow.spark.streamed import STREAMED, ClockIntake, Hop, Results, StreamIntake
from windrow.spark.times import microseconds_of

METRICS = "windrow"
"""The name of the observed metrics."""
_WATERMARK = "windrow_watermark"
_DELAY = "spark.watermarkDelayMs"
"""Spark's metadata of a column that has a watermark."""


def plan(query: WindowQuery, df: DataFrame, pattern: Pattern | None) -> Lowering:
    """What will run; the pattern is chosen if none is given."""
    choice = Choice(pattern, "as given") if pattern else choose(query, cores_of(df.sparkSession))
    return Lowering(choice, window_stages(query, choice.pattern))


def partitions_of(query: WindowQuery, lowering: Lowering) -> int:
    """How many partitions the state is in."""
    return _stream_plan(query, lowering).partitions


def _stream_plan(query: WindowQuery, lowering: Lowering) -> StreamPlan:
    idleness = None
    if query.idle_timeout is not None:
        idleness = Idleness(query.model, -(-query.idle_timeout // 1000))
    words = signature(query, lowering.choice.pattern)
    return StreamPlan(lowering.stages, words, query.time is not None, query, idleness)


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
    spark = df.sparkSession
    stream = _stream_plan(query, lowering)
    make_ready_for_streams(spark, stream.partitions)
    packed = stream.run(_packed(query, stream, df))
    packed = packed.observe(metrics, F.coalesce(F.sum("dropped"), F.lit(0)).alias("dropped"))
    if ordered:
        packed = packed.repartition(1)
    fields = result_fields(query)
    return packed.mapInArrow(Results(query, fields, ordered), _schema(query, fields, df))


def _packed(query: WindowQuery, stream: StreamPlan, df: DataFrame) -> DataFrame:
    """The tuples of the stream as packed rows, and the clock's ticks if they are needed."""
    rows = _tuples(query, _with_watermark(query, df))
    numbered = rows.toDF(*(f"c{i}" for i in range(len(rows.columns))))
    hop, is_watched = stream.hops[0], query.idle_timeout is not None
    taking = partial(window_tuples, query)
    intake = StreamIntake(taking, tuple(rows.columns), stream.groups[0], hop, is_watched)
    packed = numbered.mapInArrow(intake, STREAMED)
    return packed.unionAll(_clock(df.sparkSession, hop)) if is_watched else packed


def _with_watermark(query: WindowQuery, df: DataFrame) -> DataFrame:
    if query.time is None:
        return df
    return with_watermark(df, query.time, query.types[query.time], query.delay, query.unit)


def with_watermark(
    df: DataFrame, name: str, kind: str, delay: int, unit: TimeUnit = "us"
) -> DataFrame:
    """The DataFrame with the watermark it has on the column, or else with one by the delay."""
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
    # Watermarks are of timestamps and in whole milliseconds: less than that is taken off before.
    time = microseconds_of(column(name), kind, unit) - rest
    marked_df = df.withColumn(_WATERMARK, F.timestamp_micros(time))
    return marked_df.withWatermark(_WATERMARK, f"{milliseconds} milliseconds")


def _tuples(query: WindowQuery, df: DataFrame) -> DataFrame:
    """The columns the query needs, and time in microseconds."""
    columns = [column(name) for name in needed_columns(query)]
    if query.time is not None:
        time = microseconds_of(column(query.time), query.types[query.time], query.unit)
        columns.append(time.alias(TIME))
    return df.select(*columns or [F.lit(True).alias(ARRIVAL)])


def _schema(query: WindowQuery, fields: pa.Schema, df: DataFrame) -> StructType:
    """The results' schema; windows that end at a time hand the watermark on with their end."""
    schema = schema_of(query, fields, df)
    if query.time is not None and query.model.bounds is Bounds.TIME:
        end = schema[END]
        if end.dataType.typeName() == "timestamp":
            end.metadata = {_DELAY: 0}
    return schema


def _clock(spark: SparkSession, hop: Hop) -> DataFrame:
    """Ticks of the clock, one a second."""
    rate = spark.readStream.format("rate").option("rowsPerSecond", 1)
    ticks = rate.option("numPartitions", 1).load()
    return ticks.select(F.unix_millis("timestamp")).mapInArrow(ClockIntake(hop), STREAMED)
