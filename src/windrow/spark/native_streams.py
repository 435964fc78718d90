"""Windows on streams that Spark's own aggregation computes, if a setting says so.

Spark's rule for late rows is Windrow's: in a batch, a row is late for the windows that end at or
before the watermark of the batch before. Spark knows a window by a column of its grouping that has
Spark's mark, and takes the window as over once the watermark has reached that column. So here it is
the window's end that rows are grouped by. What Spark does otherwise is why this is no default: it
counts the late groups of a batch, not the late rows, and its first watermark is at 1970.

Of a query, Spark compares nothing with a checkpoint but the types of keys and of values. So the
values have columns whose types are a digest of the query, and nothing else: they are always null.
The query as data is in the metadata of the window's end, for ``check_checkpoint`` to read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField

from windrow.core.computation import Aggregation
from windrow.core.models import IntervalWindow
from windrow.engine.intake import needed_columns
from windrow.engine.stages.traffic import in_order
from windrow.engine.state.identity import describe
from windrow.engine.state.mismatch import digest
from windrow.engine.window_query import WindowQuery
from windrow.functions.mergeable import Mergeable
from windrow.functions.reducible import Reducible
from windrow.patterns import WinSeq
from windrow.spark import native
from windrow.spark.marks import LAG, SPARKS, WATERMARK, lag_of, marked, with_watermark
from windrow.spark.plans import nodes_of, watermarks_of
from windrow.spark.rows import column, result_fields, schema_of, time_of
from windrow.spark.settings import NATIVE_STREAMS, is_on
from windrow.spark.watermark import Watermark

_END = "windrow.end"
IDENTITY = "windrow.query"
"""The metadata of the window's end that describe the query."""
_DIGITS = 18
"""The most digits of a decimal that Spark keeps in eight bytes."""
_KINDS = [(p, s) for p in range(1, _DIGITS + 1) for s in range(p + 1)]
_MARKS = 3
"""So many columns tell queries apart: one of seven million has the types of another."""
_STATELESS = frozenset(
    [
        "Project", "Filter", "SubqueryAlias", "View", "Union", "EventTimeWatermark",
        "StreamingRelation", "StreamingRelationV2", "StreamingDataSourceV2Relation",
    ]
)  # fmt: skip
"""What may be on the way to the rows: behind another stateful operator watermarks differ."""


def is_native(query: WindowQuery, df: DataFrame) -> bool:
    """Whether Spark's own aggregation computes the windows, with the same results."""
    is_wanted = is_on(df.sparkSession, NATIVE_STREAMS, by_default=False)
    return (
        is_wanted
        and query.idle_timeout is None
        and native.is_wholly_native(query)
        and _are_merged(query)
        and _has_sparks_watermark(query, df)
        and _is_stateless(query, df)
    )


def _is_stateless(query: WindowQuery, df: DataFrame) -> bool:
    assert query.time is not None
    # A plan of nothing but a source would tell the source's name, not that of its node.
    return all(node.name in _STATELESS for node in nodes_of(df.select(column(query.time))))


def _are_merged(query: WindowQuery) -> bool:
    """Whether Spark keeps a few numbers of each function, and none depends on the order of rows."""
    computation = query.computation
    assert isinstance(computation, Aggregation)
    return all(
        isinstance(f, Reducible | Mergeable)
        and "{order}" not in (native.template_of(query, f) or "")
        for f in computation.functions.values()
    )


def _has_sparks_watermark(query: WindowQuery, df: DataFrame) -> bool:
    """Whether Spark's watermark is that of the query, in whole milliseconds."""
    assert query.time is not None
    if any(SPARKS in df.schema[name].metadata for name in needed_columns(query)):
        # A marked column beside the end of the window would be one mark too many.
        return False
    depth, field = watermarks_of(df), df.schema[query.time]
    if depth == 0:
        return query.delay % 1000 == 0
    return depth == 1 and lag_of(field) == 0 and LAG not in field.metadata


def identity_of(query: WindowQuery) -> dict[str, Any]:
    """What the state that Spark keeps depends on, as data; no pattern shares it out."""
    return {n: v for n, v in describe(query, WinSeq()).items() if n != "pattern"}


def _digest_columns(identity: dict[str, Any]) -> list[Column]:
    """Null columns whose types depend on the identity."""
    rest, columns = digest(identity), []
    for number in range(_MARKS):
        rest, at = divmod(rest, len(_KINDS))
        precision, scale = _KINDS[at]
        null = F.lit(None).cast(f"decimal({precision},{scale})")
        columns.append(F.max(null).alias(f"windrow.mark{number}"))
    return columns


def windows(query: WindowQuery, df: DataFrame, metrics: str, *, ordered: bool) -> DataFrame:
    """The results; the observed metrics count the rows without a time as dropped."""
    model = query.model
    assert isinstance(model, IntervalWindow)
    assert query.time is not None
    rows, _ = with_watermark(df, query.time, time_of(query), query.delay)
    is_own = WATERMARK in rows.columns
    mark = column(WATERMARK if is_own else query.time)
    needed = [column(name) for name in needed_columns(query)]
    placed = rows.select(*needed, mark).observe(metrics, F.count_if(mark.isNull()).alias("dropped"))
    # Filters of the column that has the watermark stay behind it, so that all rows move it.
    placed = placed.filter(mark.isNotNull())
    time = F.unix_micros(mark) if is_own else time_of(query)
    past = F.pmod(time - F.lit(model.origin), F.lit(model.slide))
    if model.slide > model.length:
        placed = placed.filter(past < model.length)
    end = F.timestamp_micros(time - past + model.length)
    identity = identity_of(query)
    metadata = {SPARKS: query.delay // 1000, IDENTITY: json.dumps(identity)}
    marked_end = end.alias(_END, metadata=metadata)
    keys = [column(k) for k in query.keys]
    grouped = placed.select(*needed, marked_end).groupBy(*keys, column(_END))
    found = grouped.agg(*native.function_columns(query), *_digest_columns(identity))
    for number in range(_MARKS):
        # Spark leaves out what nothing refers to.
        found = found.filter(column(f"windrow.mark{number}").isNull())
    since = F.unix_micros(column(_END)) - (model.length + model.origin)
    return _results(query, found.select(*keys, *native.window_columns(query, since)), df, ordered)


def _results(query: WindowQuery, found: DataFrame, df: DataFrame, ordered: bool) -> DataFrame:
    """The results with their marks, those of each batch in order if asked for."""
    schema = marked(schema_of(query, result_fields(query), df), query.result_lags(), Watermark())
    if ordered:
        numbered = found.toDF(*(f"c{i}" for i in range(len(found.columns)))).repartition(1)
        return numbered.mapInArrow(InOrder(query, tuple(found.columns)), schema)
    return found.select(*(_with_marks(column(f.name), f) for f in schema.fields))


def _with_marks(result: Column, field: StructField) -> Column:
    return result.alias(field.name, metadata=field.metadata) if field.metadata else result


@dataclass(frozen=True)
class InOrder:
    """Puts the results that are in a partition in the order of keys and windows."""

    query: WindowQuery
    columns: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = [pa.Table.from_batches([b]).rename_columns(self.columns) for b in batches]
        if tables:
            yield from in_order(self.query, tables).to_batches()
