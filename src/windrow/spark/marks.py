"""Marks: columns of a stream that say how well they keep up with its watermark.

A mark is metadata of a column, so it stays with the column through ``select`` and ``alias``.
Spark's own mark says that the column is never behind the watermark. Windrow's mark says how far it
may be behind: the pairs of a join, for example, come when the watermark may have passed one row.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from windrow.core.computation import Aggregation
from windrow.core.errors import WindrowError
from windrow.core.models import Axis
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.window_query import END, WindowQuery
from windrow.functions.extremes import Max
from windrow.functions.position import Last
from windrow.spark.plans import watermarks_of
from windrow.spark.watermark import Watermark

SPARKS = "spark.watermarkDelayMs"
"""Spark's mark."""
LAG = "windrow.watermarkLag"
"""Windrow's mark: the microseconds that a column may be behind the watermark."""
_WATERMARK = "windrow_watermark"
_TIMES = ("timestamp", "timestamp_ntz")


def with_watermark(
    df: DataFrame, name: str, time: Column, delay: int, side: int = 0
) -> tuple[DataFrame, Watermark]:
    """The DataFrame with a watermark for the event time of this name, and what moves it.

    A watermark that is there is used if the event time keeps up with it. ``time`` is the column in
    microseconds, ``side`` that of a join.
    """
    depth = watermarks_of(df)
    if depth > 1:
        raise WindrowError(
            "a stream can have only one watermark",
            f"withWatermark over a stream that has one, before event_time({name!r})",
            "leave withWatermark out: results carry on the watermark of the first query.",
        )
    if depth == 0:
        milliseconds, rest = divmod(delay, 1000)
        # Watermarks are in whole milliseconds: the rest of the delay is taken off before.
        marked = df.withColumn(_WATERMARK, F.timestamp_micros(time - rest))
        return marked.withWatermark(_WATERMARK, f"{milliseconds} milliseconds"), Watermark()
    lag = lag_of(df.schema[name])
    if lag is not None:
        return df, Watermark(lag)
    others = [f.name for f in df.schema.fields if _is_marked_by_user(f)]
    if others:
        raise WindrowError(
            f"the event time, {name!r}, is not the column that has the watermark",
            f"a watermark on {others}",
            f"take {others[0]!r} as the event time, or set no watermark before.",
        )
    return df, Watermark(None, (side,), delay)


def lag_of(field: StructField) -> int | None:
    """How far a column may be behind the watermark; None if there is no limit."""
    lag = field.metadata.get(LAG)
    if lag is not None:
        return int(lag)
    return 0 if SPARKS in field.metadata and field.dataType.typeName() in _TIMES else None


def _is_marked_by_user(field: StructField) -> bool:
    """Whether it is a time with Spark's mark that no result of Windrow brought."""
    is_time = field.dataType.typeName() in _TIMES
    return is_time and SPARKS in field.metadata and LAG not in field.metadata


def marked(schema: StructType, lags: Mapping[str, int]) -> StructType:
    """The schema of results with the marks of these columns and no others.

    Spark takes one marked column, so only the first that is never behind gets Spark's mark.
    """
    fields = {
        f.name: StructField(
            f.name,
            f.dataType,
            f.nullable,
            {key: value for key, value in f.metadata.items() if key not in (SPARKS, LAG)},
        )
        for f in schema.fields
    }
    for name, lag in lags.items():
        fields[name].metadata[LAG] = lag
    told = [n for n, lag in lags.items() if not lag and fields[n].dataType.typeName() in _TIMES]
    for name in told[:1]:
        fields[name].metadata[SPARKS] = 0
    return StructType([fields[name] for name in schema.fieldNames()])


def lags_of_windows(query: WindowQuery, lag: int) -> dict[str, int]:
    """How far columns of a window query's results may be behind the watermark.

    Results come when the watermark reaches the end of their window, so the end has the lag of the
    query's own watermark. The time of a window's newest row may be older, as its model says.
    """
    lags = {END: lag} if query.model.axis is Axis.TIME else {}
    if query.model.newest_lag is None or not isinstance(query.computation, Aggregation):
        return lags
    for name, function in query.computation.functions.items():
        if isinstance(function, Max | Last) and tuple(function.columns) == (query.time,):
            lags[name] = lag + query.model.newest_lag
    return lags


def lags_of_join(query: JoinQuery, lag: int) -> dict[str, int]:
    """How far columns of a join's results may be behind the watermark.

    By time, a row waits for matches, or for the end of its window, as long as its window is. By
    count it may wait forever.
    """
    if query.time is None or query.by_count:
        return {}
    sides = zip(query.prefixes, query.time, query.lengths, strict=True)
    lags = {prefix + time: lag + length for prefix, time, length in sides}
    names = query.output_schema().names
    return {name: lag for name, lag in lags.items() if name in names}
