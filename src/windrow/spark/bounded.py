"""Queries over bounded DataFrames: each stage a mapInArrow, packed messages exchanged between."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from windrow.core.models import DeltaWindow
from windrow.engine.columns.control import ARRIVAL, TIME
from windrow.engine.intake import needed_columns
from windrow.engine.stages.nodes import Collector, Emitter, Node, Stages, Workers
from windrow.engine.stages.routes import ByKey
from windrow.engine.window_query import ID, WindowQuery
from windrow.patterns import KeyFarm, Pattern
from windrow.patterns import workers as making
from windrow.patterns.windows import window_stages
from windrow.planner.choice import Choice, choose
from windrow.spark import native
from windrow.spark.cores import cores_of
from windrow.spark.native import column
from windrow.spark.tasks import (
    GREATEST,
    PACKED,
    Exchange,
    Intake,
    PieceIntake,
    StageTask,
    TupleIntake,
)
from windrow.spark.times import microseconds_of


@dataclass(frozen=True)
class Lowering:
    """How a query will run: its pattern and why, its stages, and what Spark itself computes."""

    choice: Choice
    stages: Stages
    native: str | None = None


def plan(query: WindowQuery, df: DataFrame, pattern: Pattern | None) -> Lowering:
    """What will run; the pattern is chosen if none is given."""
    if pattern is not None:
        return Lowering(Choice(pattern, "as given"), window_stages(query, pattern))
    choice = choose(query, cores_of(df.sparkSession))
    if native.is_wholly_native(query):
        return Lowering(choice, Stages(()), "windows")
    if native.has_native_panes(query):
        n = choice.pattern.n if isinstance(choice.pattern, KeyFarm) else 1
        return Lowering(choice, _over_panes(query, n), "panes")
    return Lowering(choice, window_stages(query, choice.pattern))


def _over_panes(query: WindowQuery, n: int) -> Stages:
    """Windows over panes that Spark has computed, each key on one of n workers."""
    make = making.window_level(query, making.windows_of_panes(query.model), 1, 1, 1)
    return Stages(((Emitter(ByKey(query.keys, n)),), (Workers("WLQ", make, n),)))


def to_df(
    query: WindowQuery,
    df: DataFrame,
    pattern: Pattern | None,
    *,
    ordered: bool,
    observation: Observation | None = None,
) -> DataFrame:
    """The results as a lazy DataFrame."""
    if observation is not None:
        df = _observed(query, df, observation)
    lowering = plan(query, df, pattern)
    rows = _tuples(query, df) if lowering.native is None else _native_input(query, df)
    if lowering.native == "windows":
        greatest = F.col(f"`{GREATEST}`") if GREATEST in rows.columns else None
        watermark = None if greatest is None else F.floor((greatest - query.delay) / 1000) * 1000
        results = native.windows(query, rows, watermark)
    elif lowering.native == "panes":
        pieces = native.panes(query, rows)
        results = _run(query, pieces, lowering.stages, df, PieceIntake)
    else:
        results = _run(query, rows, lowering.stages, df, TupleIntake)
    return results.orderBy(*(column(name) for name in (*query.keys, ID))) if ordered else results


def _observed(query: WindowQuery, df: DataFrame, observation: Observation) -> DataFrame:
    """The DataFrame, its rows without a time or delta attribute counted."""
    is_unknown = F.lit(False)
    if query.time is not None:
        is_unknown = is_unknown | column(query.time).isNull()
    if isinstance(query.model, DeltaWindow):
        attribute = column(query.model.on)
        is_unknown = is_unknown | attribute.isNull() | F.isnan(attribute.cast("double"))
    return df.observe(observation, F.count_if(is_unknown).alias("dropped"))


def _native_input(query: WindowQuery, df: DataFrame) -> DataFrame:
    """The columns the query needs, the order of rows, and the greatest time if it matters."""
    names = dict.fromkeys(needed_columns(query))
    if query.time is not None:
        names[query.time] = None
    arrival = F.monotonically_increasing_id().alias(ARRIVAL)
    return _with_greatest(query, df, df.select(*map(column, names), arrival))


def _tuples(query: WindowQuery, df: DataFrame) -> DataFrame:
    """The columns the query needs, time in microseconds, and the greatest if it matters."""
    columns = [column(name) for name in needed_columns(query)]
    if query.time is not None:
        # As a number it is handed to Python in half the time of a timestamp.
        time = microseconds_of(column(query.time), query.types[query.time], query.unit)
        columns.append(time.alias(TIME))
    # Rows without any column would be lost on their way to Python.
    return _with_greatest(query, df, df.select(*columns or [F.lit(True).alias(ARRIVAL)]))


def _with_greatest(query: WindowQuery, df: DataFrame, selected: DataFrame) -> DataFrame:
    if query.open_windows != "drop" or query.time is None:
        return selected
    time = microseconds_of(column(query.time), query.types[query.time], query.unit)
    return selected.crossJoin(F.broadcast(df.agg(F.max(time).alias(GREATEST))))


def _run(
    query: WindowQuery, rows: DataFrame, stages: Stages, df: DataFrame, intake: type[Intake]
) -> DataFrame:
    groups = list(stages.groups)
    while isinstance(groups[-1][0], Collector):
        groups.pop()
    first: tuple[Node, ...] = ()
    if isinstance(groups[0][0], Emitter):
        first = groups.pop(0)
    width = width_behind(first, 1)
    numbered = rows.toDF(*(f"c{i}" for i in range(len(rows.columns))))
    task = intake(query, tuple(rows.columns), first, _exchange(width, groups[0]))
    packed = numbered.mapInArrow(task, PACKED)
    results = result_fields(query)
    for i, group in enumerate(groups):
        here = _exchange(width, group)
        arrived = packed.repartition(here.width, "slot").sortWithinPartitions("low")
        width = width_behind(group, width)
        if i == len(groups) - 1:
            last = StageTask(query, group, None, results)
            return arrived.mapInArrow(last, schema_of(query, results, df))
        following = _exchange(width, groups[i + 1])
        packed = arrived.mapInArrow(StageTask(query, group, following, None), PACKED)
    raise AssertionError("a stage list has workers")


def _exchange(width: int, group: tuple[Node, ...]) -> Exchange:
    """The exchange before a group: a collector takes what several targets are sent."""
    fan_in = group[0].fan_in if isinstance(group[0], Collector) else 1
    return Exchange(width // fan_in, fan_in)


def width_behind(nodes: tuple[Node, ...], width: int) -> int:
    """How many indices there are behind these nodes."""
    for node in nodes:
        if isinstance(node, Emitter):
            width = width // node.fan_in * node.route.n
        elif isinstance(node, Collector):
            width //= node.fan_in
    return width


def result_fields(query: WindowQuery) -> pa.Schema:
    """The columns of the results but for the keys."""
    fields = query.output_schema({k: pa.null() for k in query.keys})
    return pa.schema([f for f in fields if f.name not in query.keys])


def schema_of(query: WindowQuery, results: pa.Schema, df: DataFrame) -> StructType:
    """Key columns as they come in, then the window's and the results' own."""
    fields = [df.schema[k] for k in query.keys]
    for field in results:
        kind = from_arrow_type(field.type, prefer_timestamp_ntz=True)
        fields.append(StructField(field.name, kind, field.nullable))
    return StructType(fields)
