"""What a query over a DataFrame will do, in words."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.planner.explain import explain
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


def explain_lowering(
    query: WindowQuery, df: DataFrame | SplitRows | FileRows, pattern: Pattern | None
) -> str:
    """The window, what is computed, the pattern and its stages, and what runs where."""
    reads = None if isinstance(df, DataFrame) else df.describe()
    if isinstance(df, SplitRows):
        lowering = bounded.plan(query, df, pattern)
        runs = _NATIVE[lowering.native]
    elif isinstance(df, FileRows) or df.isStreaming:
        lowering = streaming.plan(query, df, pattern)
        stages = StagePlan.of(lowering.stages, query, is_stream=True)
        partitions = streaming.state_partitions(
            stages, df.sparkSession, is_given=pattern is not None
        )
        runs = _STREAMED.format(partitions=partitions, workers=stages.widest_state)
    else:
        reading = reading_of(query, df, pattern)
        lowering, reads = bounded.plan(query, reading.rows, pattern), reading.reads
        runs = _NATIVE[lowering.native]
    choice = lowering.choice
    chosen = choice.pattern if lowering.native is None else None
    return explain(query, chosen, choice.why, lowering.stages, runs, reads)
