"""Queries over streaming DataFrames: packed rows through transformWithState, keyed by worker.

The rows' watermark is Spark's. Emitters pack the tuples of each worker and batch into one binary
row, so that Spark drops none of them: which tuples are late is decided by the workers.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from windrow.core.errors import WindrowError
from windrow.core.models import Bounds
from windrow.engine.control import ARRIVAL, TIME
from windrow.engine.intake import needed_columns
from windrow.engine.signature import signature
from windrow.engine.spec import END, WindowQuery
from windrow.engine.stages import Collect, Emit, Node, Work
from windrow.patterns import Pattern
from windrow.patterns.lowering import lower
from windrow.planner.choice import Choice, choose
from windrow.spark.bounded import Lowering, result_fields, schema_of, width_behind
from windrow.spark.idleness import Idleness
from windrow.spark.native import column
from windrow.spark.session import cores_of, make_ready_for_streams
from windrow.spark.stateful import StatefulStage
from windrow.spark.streamed import (
    STREAMED,
    ClockIntake,
    Hop,
    Results,
    StatelessStage,
    StreamIntake,
)
from windrow.spark.times import microseconds_of

METRICS = "windrow"
"""The name of the observed metrics."""
CACHE_SETTING = "spark.windrow.keepWorkers"
"""Whether Python processes keep workers in memory between batches."""
_WATERMARK = "windrow_watermark"
_DELAY = "spark.watermarkDelayMs"
"""Spark's metadata of a column that has a watermark."""


def plan(query: WindowQuery, df: DataFrame, pattern: Pattern | None) -> Lowering:
    """What will run; the pattern is chosen if none is given."""
    choice = Choice(pattern, "as given") if pattern else choose(query, cores_of(df.sparkSession))
    return Lowering(choice, lower(query, choice.pattern))


def partitions_of(query: WindowQuery, lowering: Lowering) -> int:
    """How many partitions the state is in."""
    return _Stages(query, lowering).partitions


def to_df(
    query: WindowQuery,
    df: DataFrame,
    pattern: Pattern | None,
    *,
    ordered: bool,
    metrics: str = METRICS,
) -> DataFrame:
    """The results as a streaming DataFrame, in append mode."""
    lowering = plan(query, df, pattern)
    spark = df.sparkSession
    stages = _Stages(query, lowering)
    make_ready_for_streams(spark, stages.partitions)
    packed = stages.run(_tuples(query, _with_watermark(query, df)))
    packed = packed.observe(metrics, F.coalesce(F.sum("dropped"), F.lit(0)).alias("dropped"))
    if ordered:
        packed = packed.repartition(1)
    fields = result_fields(query)
    return packed.mapInArrow(Results(query, fields, ordered), _schema(query, fields, df))


def _with_watermark(query: WindowQuery, df: DataFrame) -> DataFrame:
    """The DataFrame with the watermark it has, or else with one by the query's delay."""
    if query.time is None:
        return df
    marked = [f.name for f in df.schema.fields if _DELAY in f.metadata]
    if query.time in marked:
        return df
    if marked:
        raise WindrowError(
            f"event_time({query.time!r}) is not the column that has the watermark",
            f"a watermark on {marked}",
            f"take event_time({marked[0]!r}), or set no watermark before.",
        )
    milliseconds, rest = divmod(query.delay, 1000)
    # Watermarks are of timestamps and in whole milliseconds: less than that is taken off before.
    time = microseconds_of(column(query.time), query.types[query.time]) - rest
    marked_df = df.withColumn(_WATERMARK, F.timestamp_micros(time))
    return marked_df.withWatermark(_WATERMARK, f"{milliseconds} milliseconds")


def _tuples(query: WindowQuery, df: DataFrame) -> DataFrame:
    """The columns the query needs, and time in microseconds."""
    columns = [column(name) for name in needed_columns(query)]
    if query.time is not None:
        columns.append(microseconds_of(column(query.time), query.types[query.time]).alias(TIME))
    return df.select(*columns or [F.lit(True).alias(ARRIVAL)])


def _schema(query: WindowQuery, fields: pa.Schema, df: DataFrame) -> StructType:
    """The results' schema; windows that end at a time hand the watermark on with their end."""
    schema = schema_of(query, fields, df)
    if query.time is not None and query.model.bounds is Bounds.TIME:
        end = schema[END]
        if end.dataType.typeName() == "timestamp":
            end.metadata = {_DELAY: 0}
    return schema


@dataclass(frozen=True)
class _Stages:
    """The stages of a query over a stream."""

    query: WindowQuery
    lowering: Lowering

    @property
    def groups(self) -> list[tuple[Node, ...]]:
        groups = list(self.lowering.stages.groups)
        while isinstance(groups[-1][0], Collect):
            groups.pop()
        if not isinstance(groups[0][0], Emit):
            groups.insert(0, ())
        return groups

    @property
    def hops(self) -> list[Hop]:
        """Where rows go behind each group."""
        hops, width = [], 1
        for group, following in zip(self.groups, [*self.groups[1:], ()], strict=True):
            width = width_behind(group, width)
            first = following[0] if following else None
            fan_in = first.fan_in if isinstance(first, Collect) else 1
            wide = width // fan_in
            partitions = self.partitions if _holds_state(following) else wide
            hops.append(Hop(self.query, wide, partitions, fan_in))
        return hops

    @property
    def partitions(self) -> int:
        """As many as the widest stage of stateful workers has."""
        return max(group[0].n for group in self.groups if _holds_state(group))  # type: ignore[union-attr]

    def run(self, rows: DataFrame) -> DataFrame:
        query, groups, hops = self.query, self.groups, self.hops
        numbered = rows.toDF(*(f"c{i}" for i in range(len(rows.columns))))
        is_watched = query.idle_timeout is not None
        intake = StreamIntake(query, tuple(rows.columns), groups[0], hops[0], is_watched)
        packed = numbered.mapInArrow(intake, STREAMED)
        if is_watched:
            packed = packed.unionAll(_clock(rows.sparkSession, hops[0]))
        for i, group in enumerate(groups[1:]):
            here, following = hops[i], hops[i + 1]
            if _holds_state(group):
                packed = self._stateful(packed, i, group, here, following)
            else:
                arrived = packed.repartition(here.width, "slot")
                packed = arrived.mapInArrow(StatelessStage(group, here, following), STREAMED)
        return packed

    def _stateful(
        self, packed: DataFrame, number: int, group: tuple[Node, ...], here: Hop, following: Hop
    ) -> DataFrame:
        query = self.query
        is_timed = query.time is not None
        idleness = None
        if query.idle_timeout is not None:
            idleness = Idleness(query.model, -(-query.idle_timeout // 1000))
        stage = StatefulStage(
            signature(query, self.lowering.choice.pattern),
            number,
            group,
            here,
            following,
            is_timed,
            idleness,
            packed.sparkSession.conf.get(CACHE_SETTING, "true") == "true",
        )
        return packed.groupBy("slot").transformWithStateInPandas(
            stage, STREAMED, "Append", "EventTime" if is_timed else "None"
        )


def _clock(spark: SparkSession, hop: Hop) -> DataFrame:
    """Ticks of the clock, one a second."""
    rate = spark.readStream.format("rate").option("rowsPerSecond", 1)
    ticks = rate.option("numPartitions", 1).load()
    return ticks.select(F.unix_millis("timestamp")).mapInArrow(ClockIntake(hop), STREAMED)


def _holds_state(group: tuple[Node, ...]) -> bool:
    return bool(group) and isinstance(group[0], Work) and group[0].make(0).holds_state
