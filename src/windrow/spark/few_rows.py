"""The first rows of a few partitions of a DataFrame, in one small job.

The DataFrame must be narrow: projections, filters and unions of rows that are at hand or in files.
Sorts and repartitions do not matter for a sample, and are left out. Then each partition can be
computed alone. The limit is put where rows are read, below all filters, so that no task reads far.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Timer
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from windrow.spark.arrow_types import arrow_schema
from windrow.spark.plain_filters import children, kind_of

if TYPE_CHECKING:
    from pyspark import SparkContext

_PASSED = frozenset(["Project", "Filter", "SubqueryAlias", "View", "Union"])
_MOVING = frozenset(["Repartition", "RepartitionByExpression", "RebalancePartitions", "Sort"])
"""Nodes that put rows elsewhere or into another order, which does not matter for a sample."""
_CALLING = ("PYTHON_UDF", "SCALA_UDF", "PLAN_EXPRESSION", "GENERATOR")
"""What a plan may not have: code of the user's, queries within expressions, more rows."""
_REFLECTION = ("reflect(", "java_method(")
PARTITIONS = 8
"""Of so many partitions, rows are read at most."""
_SECONDS = 2.0
"""How long the job may take."""


@dataclass(frozen=True)
class FewRows:
    """The first rows of some partitions, and how many partitions there are."""

    parts: list[pa.Table]
    partitions: int


def narrow_leaves(plan: Any, spark: SparkSession) -> list[Any]:
    """What a plan reads row by row; nothing if it must compute rows from several others."""
    jvm: Any = spark._jvm
    patterns = jvm.org.apache.spark.sql.catalyst.trees.TreePattern
    if any(plan.containsPattern(getattr(patterns, name)()) for name in _CALLING):
        return []
    leaves, waiting = [], [plan]
    while waiting:
        node = waiting.pop()
        if not (below := children(node)):
            leaves.append(node)
        elif kind_of(node) not in _PASSED | _MOVING or any(
            t in node.toString() for t in _REFLECTION
        ):
            return []
        waiting.extend(below)
    return leaves


def unmoved(plan: Any, jvm: Any) -> Any:
    """The plan without what puts rows elsewhere."""
    below = [unmoved(child, jvm) for child in children(plan)]
    if kind_of(plan) in _MOVING:
        return below[0]
    return plan.withNewChildren(jvm.PythonUtils.toSeq(below)) if below else plan


def rows_by(plan: Any, spark: SparkSession) -> DataFrame:
    """The rows that a plan gives."""
    jvm: Any = spark._jvm
    dataset = jvm.org.apache.spark.sql.classic.Dataset
    return DataFrame(dataset.ofRows(spark._jsparkSession, plan), spark)


def limited(plan: Any, each: int, spark: SparkSession) -> DataFrame:
    """The rows that come of so many rows of each partition; of a local table, of so many in all."""
    return rows_by(_limited(plan, each, spark._jvm), spark)


def few_rows(plan: Any, each: int, spark: SparkSession) -> FewRows:
    """The rows that come of the first rows of some partitions, so many of each."""
    made = limited(plan, each, spark)
    batches = made._jdf.toArrowBatchRdd().toJavaRDD()
    n = batches.getNumPartitions()
    chosen = sorted({i * (n - 1) // (PARTITIONS - 1) for i in range(PARTITIONS)}) if n else []
    gateway: Any = spark.sparkContext._gateway
    numbers = gateway.new_array(gateway.jvm.int, len(chosen))
    for place, partition in enumerate(chosen):
        numbers[place] = partition
    schema = arrow_schema(made.schema, str(spark.conf.get("spark.sql.session.timeZone")))
    with _in_time(spark.sparkContext):
        found = batches.collectPartitions(numbers)
    parts = [[pa.ipc.read_record_batch(pa.py_buffer(b), schema) for b in part] for part in found]
    return FewRows([pa.Table.from_batches(part, schema) for part in parts], n)


@contextmanager
def _in_time(context: SparkContext) -> Iterator[None]:
    """Cancel the job that runs meanwhile if it takes too long."""
    tag = f"windrow-{uuid4()}"
    timer = Timer(_SECONDS, context.cancelJobsWithTag, [tag])
    context.addJobTag(tag)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        context.removeJobTag(tag)


def _limited(node: Any, each: int, jvm: Any) -> Any:
    """The plan with a limit on what each partition reads of its leaves."""
    if below := children(node):
        new = [_limited(child, each, jvm) for child in below]
        return node.withNewChildren(jvm.PythonUtils.toSeq(new))
    catalyst, types = jvm.org.apache.spark.sql.catalyst, jvm.org.apache.spark.sql.types.DataTypes
    number = catalyst.expressions.Literal(each, types.IntegerType)
    first = catalyst.plans.logical.LocalLimit(number, node)
    # Spark drops the other rows of a local table only if the limit is for all partitions.
    is_local = kind_of(node) == "LocalRelation"
    return catalyst.plans.logical.GlobalLimit(number, first) if is_local else first
