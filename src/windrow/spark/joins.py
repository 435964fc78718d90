"""Joins over DataFrames: bounded, streaming, or one of each."""

from __future__ import annotations

from functools import partial
from typing import Any

import pyspark
from pyspark.sql import DataFrame, Observation
from pyspark.sql.types import StructField, StructType

from windrow.core.errors import WindrowError
from windrow.engine.columns.control import TIME
from windrow.engine.joins.intake import join_tuples
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.stages.nodes import Stages
from windrow.spark.checkpoint import refuse_other_checkpoint
from windrow.spark.file_rows import FileRows
from windrow.spark.intake import Intake
from windrow.spark.marks import marked, with_watermark
from windrow.spark.plans import check_metrics
from windrow.spark.refusals import explained
from windrow.spark.release import is_at_least
from windrow.spark.results import Results
from windrow.spark.rows import column
from windrow.spark.runtime import (
    StreamRuntime,
    bounded_observation,
    dropped,
    metrics_name,
    run_bounded,
)
from windrow.spark.sending import check_can_be_sent
from windrow.spark.session import make_ready_for_streams
from windrow.spark.splits import ScannedRows
from windrow.spark.stages import StagePlan
from windrow.spark.streaming import state_partitions
from windrow.spark.times import microseconds_of
from windrow.spark.watermark import Watermark

Side = DataFrame | ScannedRows
"""The rows of a side: those of a DataFrame, or of files that tasks read."""
Sides = tuple[Side, Side]


def bounded_join(
    query: JoinQuery, stages: Stages, sides: Sides, observation: Observation | str | None
) -> DataFrame:
    """The results of a join of two bounded DataFrames."""
    check_can_be_sent(query)
    plan = StagePlan.of(stages, None)
    left, right = (_packed(query, plan, side, df) for side, df in enumerate(sides))
    packed = left.unionAll(right)
    if (observed := bounded_observation(observation)) is not None:
        packed = packed.observe(observed, dropped())
    return run_bounded(packed, plan, Results(query.output_schema()), _schema(query, sides))


def stream_join(
    query: JoinQuery,
    stages: Stages,
    identity: dict[str, Any],
    sides: Sides,
    *,
    is_given: bool,
    observation: Observation | str | None,
) -> DataFrame:
    """The results of a join of streams; a bounded side is there from the start."""
    check_can_be_sent(query)
    metrics = metrics_name(observation)
    frames = [df for df in sides if isinstance(df, DataFrame)]
    check_metrics(metrics, *(df for df in frames if df.isStreaming))
    taken = [_with_watermark(query, side, df) for side, df in enumerate(sides)]
    found = [watermark for _, watermark in taken if watermark is not None]
    watermark = Watermark.of_sides(found) if found else None
    plan = StagePlan.of(stages, None, is_stream=True)
    spark = sides[0].sparkSession
    make_ready_for_streams(spark, state_partitions(plan, spark, is_given))
    own = watermark.own if watermark is not None else ()
    packed = [
        _packed(query, plan, side, df, is_stream=True, is_told=side in own)
        for side, (df, _) in enumerate(taken)
    ]
    streams = [p for p in packed if p.isStreaming]
    at_start = next((p for p in packed if not p.isStreaming), None)
    if at_start is not None:
        _check_release()
    both = streams[0] if len(streams) == 1 else streams[0].unionAll(streams[1])
    schema = marked(_schema(query, sides), query.result_lags(), watermark)
    results = StreamRuntime(plan, identity, watermark).run(
        both, Results(query.output_schema()), schema, metrics, at_start=at_start
    )
    return explained(results, metrics, partial(refuse_other_checkpoint, identity=identity))


def _check_release() -> None:
    """Raise if Spark would not hand over the columns of rows that are there from the start."""
    if not is_at_least((4, 1), pyspark.__version__):
        rule = "a join of a stream with bounded rows needs PySpark 4.1 or newer"
        hint = "update PySpark, or read the bounded rows as a stream, too."
        raise WindrowError(rule, pyspark.__version__, hint)


def _packed(
    query: JoinQuery,
    plan: StagePlan,
    side: int,
    df: Side,
    *,
    is_stream: bool = False,
    is_told: bool = False,
) -> DataFrame:
    """The tuples of a side as packed rows.

    ``is_told``: workers are told their greatest time. That of a stream of files moves Spark's
    watermark.
    """
    is_of_files = isinstance(df, FileRows) and query.time is not None
    packed = Intake(
        take=partial(join_tuples, query, side),
        columns=tuple(df.columns),
        emitters=plan.emitters,
        exchange=plan.entry,
        is_stream=is_stream,
        greatest_of=TIME if is_told or is_of_files else None,
        side=side,
    ).over(df)
    if isinstance(df, FileRows) and is_of_files:
        return df.watermarked(packed, query.delay, side)
    return packed


def _with_watermark(query: JoinQuery, side: int, df: Side) -> tuple[Side, Watermark | None]:
    """A side with its watermark, and what moves it; a bounded side needs none."""
    if not df.isStreaming or query.time is None:
        return df, None
    if isinstance(df, ScannedRows):
        return df, Watermark()
    name = query.time[side]
    time = microseconds_of(column(name), df.schema[name].dataType.simpleString())
    rows, watermark = with_watermark(df, name, time, query.delay, side)
    return rows.select(*map(column, df.columns)), watermark


def _schema(query: JoinQuery, sides: Sides) -> StructType:
    """Columns as they come in, with their prefixes; null where nothing has matched."""
    fields = {
        query.prefixes[side] + f.name: f for side, df in enumerate(sides) for f in df.schema.fields
    }
    return StructType(
        [StructField(f.name, fields[f.name].dataType, f.nullable) for f in query.output_schema()]
    )
