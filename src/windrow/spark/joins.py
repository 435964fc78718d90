"""Joins over DataFrames: the stages of a join as tasks, or as workers of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from windrow.core.watermark import END_OF_STREAM
from windrow.engine.joins.intake import join_tuples
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.stages.messages import unpack
from windrow.engine.stages.nodes import Node, Stages, Workers
from windrow.engine.stages.traffic import Traffic
from windrow.engine.workers.worker import Worker
from windrow.spark.session import make_ready_for_streams
from windrow.spark.stream_plan import StreamPlan
from windrow.spark.streamed import STREAMED, Hop, StreamIntake, Ticks, to_table
from windrow.spark.streaming import METRICS, with_watermark

Sides = tuple[DataFrame, DataFrame]


def to_df(
    query: JoinQuery,
    stages: Stages,
    identity: dict[str, Any],
    sides: Sides,
    metrics: str = METRICS,
) -> DataFrame:
    """The results of a join as a lazy DataFrame, a streaming one if a side is a stream."""
    plan = StreamPlan(stages, identity, query.time is not None)
    if any(df.isStreaming for df in sides):
        packed = _streamed(query, plan, sides, metrics)
    else:
        packed = _bounded(query, plan, sides)
    return packed.mapInArrow(JoinResults(query.output_schema()), _schema(query, sides))


def _streamed(query: JoinQuery, plan: StreamPlan, sides: Sides, metrics: str) -> DataFrame:
    """A bounded side is there from the start."""
    make_ready_for_streams(sides[0].sparkSession, plan.partitions)
    packed = [_packed(query, plan, side, df) for side, df in enumerate(sides)]
    streams = [p for p in packed if p.isStreaming]
    at_start = next((p for p in packed if not p.isStreaming), None)
    both = streams[0] if len(streams) == 1 else streams[0].unionAll(streams[1])
    given = plan.run(both, at_start)
    return given.observe(metrics, F.coalesce(F.sum("dropped"), F.lit(0)).alias("dropped"))


def _bounded(query: JoinQuery, plan: StreamPlan, sides: Sides) -> DataFrame:
    left, right = (_packed(query, plan, side, df) for side, df in enumerate(sides))
    packed = left.unionAll(right)
    groups, hops = plan.groups, plan.hops
    for i, group in enumerate(groups[1:]):
        arrived = packed.repartition(hops[i].width, "slot").sortWithinPartitions("low")
        task = BoundedStage(group, hops[i + 1], is_in_order=plan.is_timed and i == 0)
        packed = arrived.mapInArrow(task, STREAMED)
    return packed


def _packed(query: JoinQuery, plan: StreamPlan, side: int, df: DataFrame) -> DataFrame:
    """The tuples of a side as packed rows."""
    names = df.columns
    if df.isStreaming and query.time is not None:
        time = query.time[side]
        df = with_watermark(df, time, df.schema[time].dataType.simpleString(), query.delay)
        df = df.select(*(F.col(f"`{name}`") for name in names))
    numbered = df.toDF(*(f"c{i}" for i in range(len(names))))
    taking = partial(join_tuples, query, side)
    intake = StreamIntake(taking, tuple(names), plan.groups[0], plan.hops[0], tells_greatest=False)
    return numbered.mapInArrow(intake, STREAMED)


@dataclass(frozen=True)
class BoundedStage:
    """Runs the workers of a stage over all they are sent.

    Messages that come in order of time let a worker move on, and forget, before all have come.
    """

    nodes: tuple[Node, ...]
    following: Hop
    is_in_order: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        node = self.nodes[0]
        assert isinstance(node, Workers)
        workers: dict[int, Worker] = {}
        for batch in batches:
            for row in batch.to_pylist():
                if row["message"] is None:
                    continue
                index = row["target"]
                if index not in workers:
                    workers[index] = node.make(index)
                if self.is_in_order:
                    yield from self._hand_on({index: workers[index].advance(row["low"])})
                workers[index].push(unpack(row["message"]))
        for index, worker in workers.items():
            yield from self._hand_on({index: worker.advance(END_OF_STREAM)})

    def _hand_on(self, traffic: Traffic) -> Iterator[pa.RecordBatch]:
        return iter(to_table(self.following.pack(self.nodes[1:], traffic, Ticks())).to_batches())


@dataclass(frozen=True)
class JoinResults:
    """Unpacks results."""

    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for message in batch["message"].to_pylist():
                if message is not None:
                    table = unpack(message).replace_schema_metadata(None).cast(self.schema)
                    yield from table.to_batches(max_chunksize=65_536)


def _schema(query: JoinQuery, sides: Sides) -> StructType:
    """Columns as they come in, with their prefixes; null where nothing has matched."""
    fields = {
        query.prefixes[side] + f.name: f for side, df in enumerate(sides) for f in df.schema.fields
    }
    return StructType(
        [StructField(f.name, fields[f.name].dataType, f.nullable) for f in query.output_schema()]
    )
