"""What a query over a DataFrame will do, in words."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.planner.decision import Decision
from windrow.spark import bounded, streaming
from windrow.spark.file_rows import FileRows
from windrow.spark.readers import Reading, by_spark, reading_of
from windrow.spark.settings import NATIVE_STREAMS
from windrow.spark.splits import SplitRows
from windrow.spark.stages import StagePlan

_NATIVE = {
    "windows": (
        "wholly in Spark, as groupBy(key, window): windows share no tuples and Spark has "
        "every function"
    ),
    "panes": (
        "panes in Spark, as groupBy(key, pane), windows over panes in Python: Spark has the "
        "counts, sums and extremes"
    ),
    None: "in Python, on rows packed as Arrow; Spark exchanges them between the stages",
}

_NATIVE_STREAM = (
    f"as a stream, wholly in Spark, as groupBy(key, window): {NATIVE_STREAMS} is true; dropped "
    "counts rows without a time, Spark's numRowsDroppedByWatermark counts late ones by group"
)
_STREAMED = (
    "as a stream, in Python, on rows packed as Arrow; the state of {workers} workers is in "
    "{partitions} partitions of Spark's state store"
)


def decision_of(
    query: WindowQuery, df: DataFrame | SplitRows | FileRows, pattern: Pattern | None
) -> Decision:
    """What will run and why."""
    if isinstance(df, DataFrame):
        reading = reading_of(query, df, pattern)
    else:
        reading = Reading(df, df.describe())
    rows = reading.rows
    if isinstance(rows, FileRows) or (isinstance(rows, DataFrame) and rows.isStreaming):
        lowering = streaming.plan(query, rows, pattern)
        is_native = lowering.choice.native is not None
        runs = _NATIVE_STREAM if is_native else _streamed(query, rows, lowering, pattern)
    else:
        lowering = bounded.plan(query, rows, pattern)
        runs = _NATIVE[lowering.choice.native]
        if lowering.choice.native and isinstance(rows, SplitRows):
            reading = by_spark(rows, "its own aggregation takes the rows")
    return Decision(
        query,
        lowering.choice,
        lowering.stages,
        lowering.resources,
        runs,
        reading.reads,
        lowering.sampled,
    )


def _streamed(
    query: WindowQuery,
    rows: DataFrame | FileRows,
    lowering: bounded.Lowering,
    pattern: Pattern | None,
) -> str:
    stages = StagePlan.of(lowering.stages, query, is_stream=True)
    partitions = streaming.state_partitions(stages, rows.sparkSession, is_given=pattern is not None)
    return _STREAMED.format(partitions=partitions, workers=stages.widest_state)
