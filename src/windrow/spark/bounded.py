"""Window queries over bounded rows: in Spark's own aggregation, or in stages of tasks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from windrow.core.computation import Aggregation
from windrow.core.statistics import UNKNOWN, Statistics
from windrow.engine.columns.control import TIME
from windrow.engine.evaluate.pane_reduction import ReducedToPanes
from windrow.engine.intake import window_tuples
from windrow.engine.stages.nodes import Emitter, Stages
from windrow.engine.window_query import ID, WindowQuery
from windrow.patterns import Pattern
from windrow.patterns.windows import stages_over_panes, window_stages
from windrow.planner.choice import Choice, choose
from windrow.planner.plans import Resources
from windrow.spark import native
from windrow.spark.cores import cores_of
from windrow.spark.intake import Intake
from windrow.spark.results import Results
from windrow.spark.rows import column, result_fields, schema_of, tuples
from windrow.spark.runtime import dropped, run_bounded
from windrow.spark.sampling import statistics_of
from windrow.spark.sending import check_can_be_sent
from windrow.spark.splits import SplitRows
from windrow.spark.stages import StagePlan


@dataclass(frozen=True)
class Lowering:
    """How a query will run: its pattern and why, its stages, and what Spark itself computes."""

    choice: Choice
    stages: Stages
    resources: Resources
    sampled: Statistics = UNKNOWN
    """What a sample of the input has told."""


def plan(query: WindowQuery, df: DataFrame | SplitRows, pattern: Pattern | None) -> Lowering:
    """What will run; the pattern is chosen if none is given."""
    resources = resources_of(query, df)
    if pattern is not None:
        return Lowering(
            Choice(pattern, "as given"), window_stages(query, pattern, "tasks"), resources
        )
    statistics = statistics_of(query, df, resources)
    choice = choose(query, resources, statistics)
    stages = Stages(())
    if choice.native == "panes":
        stages = stages_over_panes(query, resources.cores if query.keys else 1)
    elif choice.native is None:
        stages = window_stages(query, choice.pattern, "tasks")
    return Lowering(choice, stages, resources, statistics)


def resources_of(query: WindowQuery, df: DataFrame | SplitRows) -> Resources:
    """What a query over these rows runs on."""
    cores = cores_of(df.sparkSession)
    if isinstance(df, SplitRows):
        # Its rows are in Python already, unless they are those of a DataFrame that Spark can read.
        own = None if df.origin is None else native.native_part(query)
        return Resources(cores, reads_files=True, native=own)
    return Resources(cores, native=native.native_part(query))


def to_df(
    query: WindowQuery,
    df: DataFrame | SplitRows,
    pattern: Pattern | None,
    *,
    ordered: bool,
    observation: Observation | None = None,
) -> DataFrame:
    """The results as a lazy DataFrame."""
    check_can_be_sent(query)
    lowering = plan(query, df, pattern)
    if isinstance(df, SplitRows) and df.origin is not None and lowering.choice.native:
        df = df.origin
    if isinstance(df, SplitRows):
        results = _run(query, df, lowering, df, observation)
    elif lowering.choice.native is None:
        results = _run(query, df, lowering, tuples(query, df), observation)
    else:
        if observation is not None:
            df = df.observe(observation, F.count_if(native.has_no_place(query)).alias("dropped"))
        if lowering.choice.native == "windows":
            results = native.windows(query, df)
        else:
            results = _run(query, df, lowering, native.panes(query, df))
    return results.orderBy(*(column(name) for name in (*query.keys, ID))) if ordered else results


def _run(
    query: WindowQuery,
    df: DataFrame | SplitRows,
    lowering: Lowering,
    rows: DataFrame | SplitRows,
    observation: Observation | None = None,
) -> DataFrame:
    """The results of the stages over tuples, or over the partials of panes."""
    stages = StagePlan.of(lowering.stages, query)
    delay = query.delay if query.open_windows == "drop" else None
    is_paned = lowering.choice.native == "panes"
    greatest = native.GREATEST if is_paned else TIME
    if isinstance(rows, SplitRows):
        greatest = query.time or TIME
        rows = rows.encoding(_numbered_keys(query, stages))
    intake = Intake(
        take=_take_pieces if is_paned else partial(window_tuples, query),
        columns=tuple(rows.columns),
        emitters=stages.emitters,
        exchange=stages.entry,
        is_stream=False,
        greatest_of=greatest if delay is not None and query.time is not None else None,
        unit=query.unit if isinstance(rows, SplitRows) else "us",
    )
    packed = intake.over(rows)
    if observation is not None:
        packed = packed.observe(observation, dropped())
    fields = result_fields(query)
    return run_bounded(packed, stages, Results(fields), schema_of(query, fields, df), delay)


def _numbered_keys(query: WindowQuery, stages: StagePlan) -> list[str]:
    """The keys of which emitters need only the numbers: they send partials instead of tuples."""
    first = stages.emitters[0] if stages.emitters else None
    if not isinstance(first, Emitter) or not isinstance(first.route, ReducedToPanes):
        return []
    assert isinstance(query.computation, Aggregation)
    others = {query.time, *query.order_by, *query.computation.columns, *query.model.columns}
    return [key for key in query.keys if key not in others] if len(query.keys) == 1 else []


def _take_pieces(rows: pa.Table, arrived: int) -> tuple[pa.Table, int]:
    """The partials of panes as they come."""
    is_extra = native.GREATEST in rows.column_names
    return rows.drop_columns([native.GREATEST]) if is_extra else rows, 0
