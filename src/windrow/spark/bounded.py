"""Queries over bounded DataFrames: each stage a mapInArrow, packed messages exchanged between."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.core.errors import WindrowError
from windrow.engine.control import ARRIVAL
from windrow.engine.ddl import parse_type, type_name
from windrow.engine.intake import needed_columns
from windrow.engine.spec import ID, WindowQuery
from windrow.engine.stages import Collect, Emit, Node, Stages
from windrow.patterns import Pattern
from windrow.patterns.lowering import lower
from windrow.spark.tasks import GREATEST, PACKED, Exchange, IntakeTask, StageTask
from windrow.spark.times import microseconds_of


def to_df(query: WindowQuery, df: DataFrame, pattern: Pattern, *, ordered: bool) -> DataFrame:
    """The results as a lazy DataFrame."""
    if df.isStreaming:
        raise WindrowError(
            "to_df takes bounded DataFrames", "a streaming DataFrame", "read it with spark.read."
        )
    results = _run(query, _input(query, df), lower(query, pattern), _key_types(query, df), df)
    return (
        results.orderBy(*(F.col(f"`{name}`") for name in (*query.keys, ID))) if ordered else results
    )


def _input(query: WindowQuery, df: DataFrame) -> DataFrame:
    """The columns the query needs, the order of rows, and the greatest time if it matters."""
    names = needed_columns(query)
    if query.time is not None and query.time not in names:
        names = [*names, query.time]
    columns = [F.col(f"`{name}`") for name in names]
    arrival = F.monotonically_increasing_id().alias(ARRIVAL)
    selected = df.select(*columns, arrival)
    if query.partial == "drop" and query.time is not None:
        time = microseconds_of(F.col(f"`{query.time}`"), query.types[query.time])
        selected = selected.crossJoin(F.broadcast(df.agg(F.max(time).alias(GREATEST))))
    return selected


def _run(
    query: WindowQuery,
    rows: DataFrame,
    stages: Stages,
    key_types: dict[str, pa.DataType],
    df: DataFrame,
) -> DataFrame:
    groups = list(stages.groups)
    while isinstance(groups[-1][0], Collect):
        groups.pop()
    first: tuple[Node, ...] = ()
    if isinstance(groups[0][0], Emit):
        first = groups.pop(0)
    width = _width(first, 1)
    exchange = Exchange(width, _fan_in(groups[0]))
    numbered = rows.toDF(*(f"c{i}" for i in range(len(rows.columns))))
    intake = IntakeTask(query, tuple(rows.columns), first, _shrunk(exchange))
    packed = numbered.mapInArrow(intake, PACKED)
    schema = query.output_schema(key_types)
    for i, group in enumerate(groups):
        here = _shrunk(Exchange(width, _fan_in(group)))
        arrived = packed.repartition(here.width, "slot").sortWithinPartitions("low")
        width = _width(group, width)
        if i == len(groups) - 1:
            return arrived.mapInArrow(
                StageTask(query, group, None, schema), _ddl(query, schema, df)
            )
        following = _shrunk(Exchange(width, _fan_in(groups[i + 1])))
        packed = arrived.mapInArrow(StageTask(query, group, following, None), PACKED)
    raise AssertionError("a stage list has workers")


def _fan_in(group: tuple[Node, ...]) -> int:
    return group[0].fan_in if isinstance(group[0], Collect) else 1


def _shrunk(exchange: Exchange) -> Exchange:
    """The exchange as seen by what comes behind it: its indices, each of fan_in targets."""
    return Exchange(exchange.width // exchange.fan_in, exchange.fan_in)


def _width(nodes: tuple[Node, ...], width: int) -> int:
    """How many indices there are behind these nodes."""
    for node in nodes:
        if isinstance(node, Emit):
            width = width // node.fan_in * node.route.n
        elif isinstance(node, Collect):
            width //= node.fan_in
    return width


def _key_types(query: WindowQuery, df: DataFrame) -> dict[str, pa.DataType]:
    return {k: parse_type(query.types[k]) for k in query.keys}


def _ddl(query: WindowQuery, schema: pa.Schema, df: DataFrame) -> str:
    """Key columns as they come in, then the window's and the results' own."""
    nullable = {k: df.schema[k].nullable for k in query.keys}
    fields = []
    for field in schema:
        required = "" if nullable.get(field.name, field.nullable) else " NOT NULL"
        kind = query.types[field.name] if field.name in query.keys else type_name(field.type)
        fields.append(f"`{field.name.replace('`', '``')}` {kind}{required}")
    return ", ".join(fields)
