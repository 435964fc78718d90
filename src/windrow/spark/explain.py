"""What a query over a DataFrame will do, in words."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.planner.decision import Decision
from windrow.spark import bounded, streaming
from windrow.spark.file_rows import FileRows
from windrow.spark.readers import reading_of
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

_STREAMED = (
    "as a stream, in Python, on rows packed as Arrow; the state of {workers} workers is in "
    "{partitions} partitions of Spark's state store"
)


def decision_of(
    query: WindowQuery, df: DataFrame | SplitRows | FileRows, pattern: Pattern | None
) -> Decision:
    """What will run and why."""
    if isinstance(df, FileRows) or (isinstance(df, DataFrame) and df.isStreaming):
        lowering = streaming.plan(query, df, pattern)
        stages = StagePlan.of(lowering.stages, query, is_stream=True)
        partitions = streaming.state_partitions(
            stages, df.sparkSession, is_given=pattern is not None
        )
        runs = _STREAMED.format(partitions=partitions, workers=stages.widest_state)
        reads = None if isinstance(df, DataFrame) else df.describe()
    else:
        rows, reads = df, None
        if isinstance(df, DataFrame):
            reading = reading_of(query, df, pattern)
            rows, reads = reading.rows, reading.reads
        elif isinstance(df, SplitRows):
            reads = df.describe()
        lowering = bounded.plan(query, rows, pattern)
        runs = _NATIVE[lowering.choice.native]
    return Decision(
        query,
        lowering.choice,
        lowering.stages,
        lowering.resources,
        runs,
        reads,
        lowering.sampled,
    )


def explain_lowering(
    query: WindowQuery, df: DataFrame | SplitRows | FileRows, pattern: Pattern | None
) -> str:
    """The window, what is computed, the pattern and its stages, and what runs where."""
    return decision_of(query, df, pattern).explain()
