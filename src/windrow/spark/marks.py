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

from windrow.core.errors import WindrowError
from windrow.spark.plans import watermarks_of
from windrow.spark.rows import quoted
from windrow.spark.watermark import Watermark

SPARKS = "spark.watermarkDelayMs"
"""Spark's mark."""
LAG = "windrow.watermarkLag"
"""Windrow's mark: the microseconds that a column may be behind the watermark."""
WATERMARK = "windrow.watermark"
"""The column that has a watermark of Windrow's own."""
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
        return with_sparks_watermark(df, time, delay), Watermark()
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


def with_sparks_watermark(df: DataFrame, time: Column, delay: int) -> DataFrame:
    """The DataFrame and a further column with Spark's watermark; ``time`` is in microseconds."""
    milliseconds, rest = divmod(delay, 1000)
    # Watermarks are in whole milliseconds: the rest of the delay is taken off before.
    marked = df.withColumn(WATERMARK, F.timestamp_micros(time - rest))
    return marked.withWatermark(quoted(WATERMARK), f"{milliseconds} milliseconds")


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


def marked(schema: StructType, lags: Mapping[str, int], watermark: Watermark | None) -> StructType:
    """The schema of results with the marks of these columns and no others.

    ``lags`` says how far columns may be behind the watermark of the query. Spark takes one marked
    column, so only the first that is never behind Spark's watermark gets Spark's mark.
    """
    base = None if watermark is None else watermark.result_lag
    known = {} if base is None else {name: base + lag for name, lag in lags.items()}
    fields = {f.name: _unmarked(f) for f in schema.fields}
    for name, lag in known.items():
        fields[name].metadata[LAG] = lag
    told = [n for n, lag in known.items() if not lag and fields[n].dataType.typeName() in _TIMES]
    for name in told[:1]:
        fields[name].metadata[SPARKS] = 0
    return StructType([fields[name] for name in schema.fieldNames()])


def _unmarked(field: StructField) -> StructField:
    kept = {key: value for key, value in field.metadata.items() if key not in (SPARKS, LAG)}
    return StructField(field.name, field.dataType, field.nullable, kept)
