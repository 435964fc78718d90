"""Native compilation: what Spark's own aggregation does well is left to it.

Tumbling and hopping time windows of built-in functions become a ``groupBy`` of key and window. Of
overlapping ones, and of landmark windows, the partials of panes do, and only pane results go to
Python.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.core.aggregate import Aggregate
from windrow.core.computation import Aggregation
from windrow.core.models import LandmarkWindow, TimeWindow
from windrow.engine.columns.control import ARRIVAL, PIECE
from windrow.engine.columns.ddl import type_name
from windrow.engine.evaluate.partials import PartialColumns
from windrow.engine.window_query import END, ID, START, WindowQuery
from windrow.functions.count import Count
from windrow.functions.count_distinct import CountDistinct
from windrow.functions.extremes import Max, Min
from windrow.functions.mean import Mean
from windrow.functions.mode import Mode
from windrow.functions.position import First, Last
from windrow.functions.quantile import Median, Quantile
from windrow.functions.sum import Sum
from windrow.functions.types import is_numeric
from windrow.functions.variance import Stddev, Var
from windrow.kernels.operators import identity
from windrow.spark.tasks import GREATEST
from windrow.spark.times import microseconds_of, timestamp_of

SINCE = "windrow.since"
"""The column of a row's time since the window's origin."""

Expression = Callable[[WindowQuery, Any], Column]


def column(name: str) -> Column:
    """A column by its exact name, dots and all."""
    return F.col("`" + name.replace("`", "``") + "`")


def _values(function: Aggregate[Any, Any, Any]) -> list[Column]:
    return [column(c) for c in function.columns]


def _doubles(function: Aggregate[Any, Any, Any]) -> Column:
    return column(function.columns[0]).cast("double")


def _count(query: WindowQuery, function: Count) -> Column:
    return F.count(*_values(function)) if function.columns else F.count(F.lit(1))


def _place(query: WindowQuery) -> Column:
    assert query.time is not None
    time = microseconds_of(column(query.time), query.types[query.time], query.unit)
    return F.struct(time, *map(column, query.order_by), column(ARRIVAL))


_EXPRESSIONS: dict[type, Expression] = {
    Count: _count,
    Sum: lambda query, f: F.sum(*_values(f)),
    Mean: lambda query, f: F.avg(_doubles(f)),
    Min: lambda query, f: F.min(*_values(f)),
    Max: lambda query, f: F.max(*_values(f)),
    Var: lambda query, f: F.var_samp(_doubles(f)),
    Stddev: lambda query, f: F.stddev_samp(_doubles(f)),
    Quantile: lambda query, f: F.percentile(_doubles(f), f.q),
    Median: lambda query, f: F.percentile(_doubles(f), f.q),
    Mode: lambda query, f: F.mode(column(f.columns[0]), deterministic=True),
    CountDistinct: lambda query, f: F.count_distinct(*_values(f)),
    First: lambda query, f: F.min_by(column(f.columns[0]), _place(query)),
    Last: lambda query, f: F.max_by(column(f.columns[0]), _place(query)),
}


def _has_expression(function: Aggregate[Any, Any, Any]) -> bool:
    is_positional = isinstance(function, First | Last)
    return type(function) in _EXPRESSIONS and not (is_positional and function.skips_nulls)


def is_wholly_native(query: WindowQuery) -> bool:
    """Whether windows share no tuples and Spark has every function."""
    model, computation = query.model, query.computation
    return (
        isinstance(model, TimeWindow)
        and model.slide >= model.length
        and isinstance(computation, Aggregation)
        and all(_has_expression(f) for f in computation.functions.values())
    )


def has_native_panes(query: WindowQuery) -> bool:
    """Whether Spark can compute the partials of panes: counts, sums and extremes of numbers."""
    is_paned = isinstance(query.model, TimeWindow | LandmarkWindow)
    if not is_paned or not isinstance(query.computation, Aggregation):
        return False
    partials = PartialColumns(query)
    return all(
        partials.is_reducible(f)
        and (isinstance(f, Count) or all(is_numeric(query.types[c]) for c in f.columns))
        for f in partials.functions.values()
    )


def windows(query: WindowQuery, rows: DataFrame, watermark: Column | None) -> DataFrame:
    """The results, by ``groupBy`` of key and window alone."""
    model, computation = query.model, query.computation
    assert isinstance(model, TimeWindow)
    assert isinstance(computation, Aggregation)
    assert query.time is not None
    time = microseconds_of(column(query.time), query.types[query.time], query.unit)
    since = time - F.lit(model.origin)
    placed = rows.filter(column(query.time).isNotNull()).withColumn(SINCE, since)
    since = column(SINCE)
    if model.slide > model.length:
        placed = placed.filter(F.pmod(since, F.lit(model.slide)) < model.length)
    # The window's start, not its id, is grouped by: it costs no division.
    start = since - F.pmod(since, F.lit(model.slide))
    keys = [column(k) for k in query.keys]
    functions = [
        _EXPRESSIONS[type(f)](query, f).alias(name) for name, f in computation.functions.items()
    ]
    extra = [] if watermark is None else [F.first(watermark).alias("windrow.watermark")]
    grouped = placed.groupBy(*keys, start.alias("windrow.start")).agg(*functions, *extra)
    begin = column("windrow.start") + model.origin
    if watermark is not None:
        grouped = grouped.filter(begin + model.length <= column("windrow.watermark"))
    id = F.expr(f"`windrow.start` div {model.slide}").cast("bigint")
    bound = partial(timestamp_of, kind=query.types[query.time])
    # None of the bounds is ever null, which Spark does not see by itself.
    results = [column(f.name).cast(type_name(f.type)).alias(f.name) for f in query.result_schema()]
    return grouped.select(
        *keys,
        F.coalesce(id, F.lit(0)).alias(ID),
        F.coalesce(bound(begin), bound(F.lit(0))).alias(START),
        F.coalesce(bound(begin + model.length), bound(F.lit(0))).alias(END),
        *results,
    )


def panes(query: WindowQuery, rows: DataFrame) -> DataFrame:
    """The partials of (key, pane): the key columns, the pane, the partial columns."""
    model = query.model
    assert isinstance(model, TimeWindow | LandmarkWindow)
    assert query.time is not None
    time = microseconds_of(column(query.time), query.types[query.time], query.unit)
    since = time - F.lit(model.origin)
    placed = rows.filter(column(query.time).isNotNull()).withColumn(SINCE, since)
    length = model.pane_length
    assert length is not None
    pane = F.expr(f"(`{SINCE}` - pmod(`{SINCE}`, {length}L)) div {length}L")
    partials = PartialColumns(query)
    columns = []
    kinds = iter(partials.schema.types)
    for name, function in partials.functions.items():
        for i, reduction in enumerate(function.reductions):  # type: ignore[attr-defined]
            value = _reduction(function, reduction, next(kinds))
            columns.append(value.alias(f"{name}#{i}"))
    keys = [column(k) for k in query.keys]
    if GREATEST in rows.columns:
        columns.append(F.first(column(GREATEST)).alias(GREATEST))
    return placed.groupBy(*keys, pane.alias(PIECE)).agg(*columns)


def _reduction(function: Any, reduction: Any, kind: pa.DataType) -> Column:
    """A partial of a pane; where no value is known, what changes no other partial."""
    if reduction.column is None:
        return F.count(F.lit(1))
    value = column(function.columns[reduction.column])
    if reduction.as_float:
        value = value.cast("double")
    found: Column = getattr(F, reduction.op)(value)
    if reduction.op == "count":
        return found
    nothing = (
        0
        if reduction.op == "sum"
        else identity(reduction.op, np.dtype(kind.to_pandas_dtype())).item()
    )
    return F.coalesce(found.cast(type_name(kind)), F.lit(nothing).cast(type_name(kind)))
