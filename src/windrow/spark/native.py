"""Native compilation: what Spark's own aggregation does well is left to it.

Tumbling and hopping time windows become a ``groupBy`` of key and window if every function has a
native form. For overlapping ones, and for landmark windows, Spark computes the partials of panes if
they are counts, sums and extremes of numbers, and only those go to Python.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyspark
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.core.aggregate import Aggregate
from windrow.core.computation import Aggregation
from windrow.core.errors import WindrowError
from windrow.core.models import Axis, IntervalWindow
from windrow.core.watermark import final_watermark
from windrow.engine.columns.control import ARRIVAL, PIECE
from windrow.engine.columns.ddl import type_name
from windrow.engine.evaluate.partials import PartialColumns, lost_of
from windrow.engine.intake import needed_columns
from windrow.engine.window_query import END, ID, START, WindowQuery
from windrow.engine.workers.geometry import Geometry
from windrow.functions.reducible import Reducible, Reduction
from windrow.functions.types import is_numeric
from windrow.kernels.operators import identity
from windrow.planner.plans import Native
from windrow.spark.release import is_at_least
from windrow.spark.rows import column, quoted, time_of
from windrow.spark.times import timestamp_of

GREATEST = "windrow.greatest"
"""The column of the greatest time, where the final watermark matters."""
SINCE = "windrow.since"
"""The column of a row's time since the window's origin."""


def template_of(query: WindowQuery, function: Aggregate[Any, Any, Any]) -> str | None:
    """The template of the function's form in Spark; None if it has none."""
    if not is_at_least(function.native_since, pyspark.__version__):
        return None
    return function.native(*(query.types[c] for c in function.columns))


def _expression(query: WindowQuery, function: Aggregate[Any, Any, Any]) -> Column:
    """The function as Spark's own, its template filled in."""
    template = template_of(query, function)
    assert template is not None
    order = [SINCE, *query.order_by, ARRIVAL]
    order_struct = f"struct({', '.join(map(quoted, order))})"
    try:
        return F.expr(template.format(*map(quoted, function.columns), order=order_struct))
    except (IndexError, KeyError, ValueError) as e:
        raise WindrowError(
            f"native of {function!r} must be a template of its columns and {{order}}",
            repr(template),
            "write {0} for its first column, {{ and }} for braces.",
        ) from e


def native_part(query: WindowQuery) -> Native | None:
    """What Spark's own aggregation can compute of the query."""
    if is_wholly_native(query):
        return "windows"
    return "panes" if has_native_panes(query) else None


def is_wholly_native(query: WindowQuery) -> bool:
    """Whether windows share no tuples and Spark has every function."""
    model, computation = query.model, query.computation
    return (
        isinstance(model, IntervalWindow)
        and model.axis is Axis.TIME
        and not (model.every or model.shares_tuples)
        and isinstance(computation, Aggregation)
        and all(template_of(query, f) is not None for f in computation.functions.values())
    )


def has_native_panes(query: WindowQuery) -> bool:
    """Whether Spark can compute the partials of panes: counts, sums and extremes of numbers."""
    model = query.model
    is_paned = model.axis is Axis.TIME and model.pane_length is not None
    if not is_paned or not isinstance(query.computation, Aggregation):
        return False
    partials = PartialColumns(query)
    return all(
        isinstance(f, Reducible)
        and partials.is_reducible_in_panes(f)
        and all(_is_native(r, [query.types[c] for c in f.columns]) for r in f.reductions)
        for f in partials.functions.values()
    )


def _is_native(reduction: Reduction, types: list[str]) -> bool:
    if reduction.op == "count" or reduction.column is None:
        return True
    return is_numeric(types[reduction.column])


def has_no_place(query: WindowQuery) -> Column:
    """Whether a row has no time, and so belongs to no window."""
    assert query.time is not None
    return column(query.time).isNull()


def _placed(query: WindowQuery, df: DataFrame, origin: int) -> DataFrame:
    """The rows that have a time: the columns the query needs, the order of rows, and SINCE."""
    assert query.time is not None
    names = dict.fromkeys([*needed_columns(query), query.time])
    arrival = F.monotonically_increasing_id().alias(ARRIVAL)
    rows = df.select(*map(column, names), arrival).filter(~has_no_place(query))
    return rows.withColumn(SINCE, time_of(query) - F.lit(origin))


def windows(query: WindowQuery, df: DataFrame) -> DataFrame:
    """The results, by ``groupBy`` of key and window alone."""
    model = query.model
    assert isinstance(model, IntervalWindow)
    placed = _placed(query, df, model.origin)
    since = column(SINCE)
    if model.slide > model.length:
        placed = placed.filter(F.pmod(since, F.lit(model.slide)) < model.length)
    # The window's start, not its id, is grouped by: it costs no division.
    start = since - F.pmod(since, F.lit(model.slide))
    keys = [column(k) for k in query.keys]
    grouped = placed.groupBy(*keys, start.alias("windrow.start")).agg(*function_columns(query))
    begin = column("windrow.start") + model.origin
    if query.open_windows == "drop":
        greatest = df.agg(F.max(time_of(query)).alias(GREATEST))
        watermark = final_watermark(column(GREATEST), query.delay, F.pmod)
        grouped = grouped.crossJoin(F.broadcast(greatest)).filter(begin + model.length <= watermark)
    return grouped.select(*keys, *window_columns(query, column("windrow.start")))


def function_columns(query: WindowQuery) -> list[Column]:
    """The functions as Spark's own, with the names of their results."""
    assert isinstance(query.computation, Aggregation)
    return [_expression(query, f).alias(name) for name, f in query.computation.functions.items()]


def window_columns(query: WindowQuery, since: Column) -> list[Column]:
    """What results have beside keys; ``since`` is the time from the origin to a window's start."""
    model = query.model
    assert isinstance(model, IntervalWindow)
    assert query.time is not None
    begin = since + model.origin
    id = F.call_function("div", since, F.lit(model.slide)).cast("bigint")
    bound = partial(timestamp_of, kind=query.types[query.time])
    # None of the bounds is ever null, which Spark does not see by itself.
    return [
        F.coalesce(id, F.lit(0)).alias(ID),
        F.coalesce(bound(begin), bound(F.lit(0))).alias(START),
        F.coalesce(bound(begin + model.length), bound(F.lit(0))).alias(END),
        *(column(f.name).cast(type_name(f.type)).alias(f.name) for f in query.result_schema()),
    ]


def panes(query: WindowQuery, df: DataFrame) -> DataFrame:
    """The partials of (key, pane): the key columns, the pane, the partial columns.

    Where the final watermark matters, the pane's greatest time is beside them.
    """
    geometry = Geometry.over_panes(query.model)
    placed = _placed(query, df, geometry.origin)
    length = geometry.pane
    pane = F.expr(f"(`{SINCE}` - pmod(`{SINCE}`, {length}L)) div {length}L")
    partials = PartialColumns(query)
    columns, schema = [], partials.schema
    for name, function in partials.functions.items():
        for i, reduction in enumerate(function.reductions):  # type: ignore[attr-defined]
            partial_name = f"{name}#{i}"
            value = _reduction(function, reduction, schema.field(partial_name).type)
            columns.append(value.alias(partial_name))
            if lost_of(partial_name) in schema.names:
                # Spark rounds its sums of floats and does not tell what that loses.
                columns.append(F.lit(0.0).alias(lost_of(partial_name)))
    keys = [column(k) for k in query.keys]
    if query.open_windows == "drop":
        columns.append((F.max(column(SINCE)) + geometry.origin).alias(GREATEST))
    return placed.groupBy(*keys, pane.alias(PIECE)).agg(*columns)


def _reduction(function: Any, reduction: Reduction, kind: pa.DataType) -> Column:
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
