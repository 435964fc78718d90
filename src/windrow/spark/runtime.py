"""The runtime: stages over packed rows, for windows and joins, bounded and streaming.

Both run the same stages. They differ in where workers come from and in who says how far time has
moved. On a bounded input a task makes its workers anew, and the rows themselves move time on. On a
stream workers live in Spark's state store, and Spark's watermark moves time on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from windrow.core.errors import WindrowError
from windrow.engine.window_query import WindowQuery
from windrow.spark.idleness import Idleness
from windrow.spark.packed import PACKED
from windrow.spark.reports import read_report, totals
from windrow.spark.results import Results, UnpackResults
from windrow.spark.stage_workers import StageWorkers
from windrow.spark.stages import Stage, StagePlan, StageTask
from windrow.spark.stateful import StatefulStage
from windrow.spark.watermark import Watermark

METRICS = "windrow"
"""The name of the observed metrics."""
KEEP_WORKERS = "spark.windrow.keepWorkers"
"""The setting that says whether Python processes keep workers in memory between batches."""


def dropped() -> Column:
    """The number of tuples dropped, to be observed over packed rows."""
    return F.coalesce(F.sum("dropped"), F.lit(0)).alias("dropped")


def metrics_name(observation: Observation | str | None) -> str:
    """The name under which a stream's progress reports have the number of rows dropped."""
    if observation is None:
        return METRICS
    if not isinstance(observation, str) or not observation:
        hint = 'for example to_df(observation="dropped").'
        raise WindrowError("on a stream observation takes a name", repr(observation), hint)
    return observation


def bounded_observation(observation: Observation | str | None) -> Observation | None:
    """What observes the number of rows dropped from a bounded input."""
    # Spark Connect has a class of its own.
    kind = type(observation)
    is_observation = kind.__name__ == "Observation" and kind.__module__.startswith("pyspark.")
    if observation is None or is_observation:
        return cast("Observation | None", observation)
    rule = "on a bounded DataFrame observation takes an Observation"
    hint = "make one with pyspark.sql.Observation()."
    raise WindrowError(rule, repr(observation), hint)


def run_bounded(
    packed: DataFrame,
    plan: StagePlan,
    results: Results,
    schema: StructType,
    delay: int | None = None,
) -> DataFrame:
    """The results of a bounded input; ``delay`` if only windows count that a stream had fired."""
    for stage in plan.stages[:-1]:
        packed = _arrived(packed, stage).mapInArrow(StageTask(stage, None, delay), PACKED)
    last = plan.stages[-1]
    return _arrived(packed, last).mapInArrow(StageTask(last, results, delay), schema)


def _arrived(packed: DataFrame, stage: Stage) -> DataFrame:
    """Rows at their workers, one partition per worker, in order of their first times."""
    return packed.repartition(stage.here.width, "slot").sortWithinPartitions("low")


@dataclass(frozen=True)
class StreamRuntime:
    """Runs the stages of a query over a stream."""

    plan: StagePlan
    identity: dict[str, Any]
    """What is computed, as data: the state of any other query is refused."""
    watermark: Watermark | None
    """What moves time on; None if tuples are in order of arrival."""
    idleness: Idleness | None = None

    def run(
        self,
        packed: DataFrame,
        results: Results,
        schema: StructType,
        metrics: str,
        order: WindowQuery | None = None,
        at_start: DataFrame | None = None,
    ) -> DataFrame:
        """The results of packed rows.

        ``order`` is the query if each batch's results are to be in order, ``at_start`` are bounded
        rows that are there before the stream begins.
        """
        number = 0
        for stage in self.plan.stages:
            if stage.holds_state:
                packed = self._stateful(packed, stage, number, at_start)
                number += 1
            else:
                arrived = packed.repartition(stage.here.width, "slot")
                packed = arrived.mapInArrow(StageTask(stage, reports=True), PACKED)
            at_start = None
        told = packed.withColumn("report", read_report(F.col("report")))
        observed = totals(self.plan.described(), F.col("report"), self._first_stateful())
        packed = told.observe(metrics, dropped(), *observed).select("message")
        if order is not None:
            packed = packed.repartition(1)
        return packed.mapInArrow(UnpackResults(results, order), schema)

    def _first_stateful(self) -> int:
        return next(stage.number for stage in self.plan.stages if stage.holds_state)

    def _stateful(
        self, packed: DataFrame, stage: Stage, number: int, at_start: DataFrame | None
    ) -> DataFrame:
        keeps_workers = packed.sparkSession.conf.get(KEEP_WORKERS, "true") == "true"
        workers = StageWorkers(
            stage, self.identity, number, self.watermark, self.idleness, keeps_workers
        )
        return packed.groupBy("slot").transformWithStateInPandas(
            StatefulStage(workers),
            PACKED,
            "Append",
            "EventTime" if workers.follows_spark else "None",
            None if at_start is None else at_start.groupBy("slot"),
        )
