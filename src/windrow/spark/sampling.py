"""What a sample of bounded input tells the planner, where it costs little.

Files that tasks read themselves are sampled on the driver, without a job. Of DataFrames, only those
are sampled whose rows are at hand or in files: local data, a range, what is cached, files that
Spark reads, and unions of these, maybe projected and filtered. One small job does it. Anything else
would have to be computed first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from windrow.core.errors import WindrowError
from windrow.core.statistics import UNKNOWN, Statistics
from windrow.engine.datasets.sampling import (
    sampled,
    some_rows,
    statistics_in,
    statistics_of_parts,
    worth_of,
)
from windrow.engine.intake import needed_columns
from windrow.engine.window_query import WindowQuery
from windrow.planner.function_cost import is_measurable, measured_cost
from windrow.planner.load import load_of
from windrow.planner.plans import Resources
from windrow.spark.few_rows import PARTITIONS, few_rows, limited, narrow_leaves, rows_by, unmoved
from windrow.spark.master import is_connect
from windrow.spark.plain_filters import kind_of
from windrow.spark.release import has_spark
from windrow.spark.rows import column
from windrow.spark.rows_in_files import rows_in_files
from windrow.spark.settings import MEASURE, SAMPLE, is_on
from windrow.spark.splits import SplitRows

LEAST_ROWS = 500_000
"""From so many rows on, a sample takes little of a query's time."""
MOST_ROWS = 100_000_000
"""A job that looks for a sample among more rows could take longer than two seconds."""
_ROWS = 131_072
_BYTES = 32 << 20
"""A sample has so many rows, and no more than about so many bytes."""
_EACH = 4096
"""So many rows of each of some partitions are read where Spark reads files."""


def statistics_of(
    query: WindowQuery, df: DataFrame | SplitRows, resources: Resources
) -> Statistics:
    """What a sample adds to the user's hints; nothing if only one plan is left to choose."""
    if resources.cores == 1 and resources.native is None:
        return UNKNOWN
    if not is_on(df.sparkSession, SAMPLE, by_default=True):
        return UNKNOWN
    try:
        found, rows = _of_files(query, df) if isinstance(df, SplitRows) else _of_frame(query, df)
    except _failures():
        # What is wrong with the rows, the query itself says when it runs.
        return UNKNOWN
    if rows is None or query.hints.cost is not None:
        return found
    if not is_on(df.sparkSession, MEASURE, by_default=True):
        return found
    return replace(found, cost=_cost(query, found, rows, resources))


def _failures() -> tuple[type[Exception], ...]:
    """What looking for a sample may fail with; mere clients of Spark Connect have no Py4J."""
    known = (PySparkException, pa.ArrowException, WindrowError)
    if not has_spark():
        return known
    from py4j.protocol import Py4JError

    return (*known, Py4JError)


def _of_files(query: WindowQuery, df: SplitRows) -> tuple[Statistics, pa.Table | None]:
    """What a few row groups tell, and rows for the function if it can be measured."""
    own = df.scan.columns if df.given is None else df.given.sources
    names = dict(zip(df.columns, own, strict=True))
    making = {}
    if df.given is not None:
        columns = zip(df.columns, df.given.made, strict=True)
        making = {name: made for name, made in columns if made.operations}
    pieces = [p for split in df.splits for p in split.pieces]
    found = sampled(query, df.scan, pieces, names, making=making)
    if found == UNKNOWN or not is_measurable(query):
        return found, None
    rows, handing = some_rows(df.scan, pieces), df.handing
    if rows is None:
        return found, None
    return found, pa.Table.from_batches([rows if handing is None else handing(rows)])


def _of_frame(query: WindowQuery, df: DataFrame) -> tuple[Statistics, pa.Table | None]:
    """What a sample tells of rows that are at hand or in files, and its rows."""
    spark = df.sparkSession
    if is_connect(spark):
        return UNKNOWN, None
    names = list(dict.fromkeys([*query.keys, *([query.time] if query.time else [])]))
    if is_measurable(query):
        names = needed_columns(query)
    selected = df.select(*map(column, names))
    # Optimised, the plan would have computed all rows of a local table.
    plan = selected._jdf.queryExecution().withCachedData()
    leaves = narrow_leaves(plan, spark)
    rows = [_rows_at_hand(leaf) or rows_in_files(leaf) for leaf in leaves]
    stored = sum(rows)
    if 0 in rows or stored < LEAST_ROWS / worth_of(query):
        return UNKNOWN, None
    plan, kinds = unmoved(plan, spark._jvm), {kind_of(leaf) for leaf in leaves}
    if kinds <= {"Range", "InMemoryRelation"}:
        return _at_random(query, rows_by(plan, spark), leaves, stored)
    most = _most(leaves, stored)
    if kinds == {"LocalRelation"}:
        # Nothing has to be read.
        some = limited(plan, most, spark).toArrow()
        return _of_first(query, [some], sum(min(n, most) for n in rows), stored)
    each = min(_EACH, most // PARTITIONS)
    found = few_rows(plan, each, spark)
    looked_at = min(stored, each * len(found.parts))
    return _of_first(query, found.parts, looked_at, stored, found.partitions)


def _most(leaves: list[Any], stored: int) -> int:
    """How many of the rows a sample may have."""
    return max(PARTITIONS, min(_ROWS, _BYTES * stored // sum(map(_bytes_of, leaves))))


def _at_random(
    query: WindowQuery, selected: DataFrame, leaves: list[Any], stored: int
) -> tuple[Statistics, pa.Table | None]:
    """What rows at random tell; all of them must be looked at."""
    if stored > MOST_ROWS:
        return UNKNOWN, None
    share = min(1.0, _most(leaves, stored) / stored)
    some = selected.sample(fraction=share, seed=1).toArrow()
    if len(some) == 0:
        return UNKNOWN, None
    return statistics_in(query, some, round(len(some) / share)), some


def _of_first(
    query: WindowQuery, parts: list[pa.Table], looked_at: int, stored: int, partitions: int = 1
) -> tuple[Statistics, pa.Table | None]:
    """What parts of some partitions tell: what has come of so many rows that were looked at."""
    rows = round(stored * min(1.0, sum(map(len, parts)) / looked_at))
    found = [(part, max(rows / partitions, len(part))) for part in parts if len(part)]
    if not found:
        return UNKNOWN, None
    return statistics_of_parts(query, found, rows), pa.concat_tables(t for t, _ in found)


def _rows_at_hand(node: Any) -> int:
    """How many rows a leaf has, if they cost little to read, else 0."""
    kind = kind_of(node)
    if kind == "InMemoryRelation" and not node.cacheBuilder().isCachedColumnBuffersLoaded():
        return 0
    if kind not in ("InMemoryRelation", "LocalRelation", "Range"):
        return 0
    rows = node.stats().rowCount()
    return int(str(rows.get())) if rows.isDefined() else 0


def _bytes_of(node: Any) -> int:
    return max(1, int(str(node.stats().sizeInBytes())))


def _cost(
    query: WindowQuery, found: Statistics, rows: pa.Table, resources: Resources
) -> float | None:
    """What the function costs, called as a copy: its own objects stay as they are."""
    load = load_of(query, query.hints.or_else(found), resources.constants)
    try:
        copied = cloudpickle.loads(cloudpickle.dumps(query.computation))  # type: ignore[no-untyped-call]
    except Exception:
        return None
    called = measured_cost(replace(query, computation=copied), rows, load)
    # A hint says what the function itself costs; to call it is part of what was measured.
    return None if called is None else max(0.0, called - resources.constants.call)
