"""Whether a stream can continue from a checkpoint, found out before Spark starts it.

Spark compares a stream with its checkpoint before any code of ours runs: the number of sources, the
stateful operators and their time mode. Its messages do not say what differs in the query, and it
gives no way to speak first. So this is a check to call before the start.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, cast

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrameReader, SparkSession
from pyspark.sql.types import StructType

from windrow.core.errors import WindrowError
from windrow.engine.state.log import read_header, refuse_other_query
from windrow.engine.state.mismatch import refuse_mismatch
from windrow.spark.native_streams import IDENTITY
from windrow.spark.settings import NATIVE_STREAMS
from windrow.spark.stateful import BLOBS, HEADER

_FOREIGN = "the checkpoint belongs to a streaming query without state of Windrow"
_NATIVE = "stateStoreSave"
"""The name of Spark's own streaming aggregation."""


def refuse_other_checkpoint(spark: SparkSession, location: str, identity: dict[str, Any]) -> None:
    """Raise unless the checkpoint is new or holds the state of the query with this identity.

    One streaming query may contain several queries of ours: one of them must be this one.
    """
    if not has_commits(spark, location):
        return
    operators = operators_of(spark, location)
    ours = [id for id, (_, variables) in operators.items() if {HEADER, BLOBS} <= variables]
    if not ours:
        hint = "start with a new checkpoint location."
        if any(name == _NATIVE for name, _ in operators.values()):
            hint = f"start with a new one, or set {NATIVE_STREAMS} if it was true at its start."
        raise WindrowError(_FOREIGN, _names(operators), hint)
    now = json.loads(json.dumps(identity))
    headers = map(read_header, _headers(spark, location, ours))
    _refuse_all(partial(refuse_other_query, header, now) for header in headers)


def refuse_workers_checkpoint(spark: SparkSession, location: str, identity: dict[str, Any]) -> None:
    """Raise unless the checkpoint is new or Spark's own aggregation has begun it for this query."""
    if not has_commits(spark, location):
        return
    operators = operators_of(spark, location)
    native = [id for id, (name, _) in operators.items() if name == _NATIVE]
    if not native:
        raise WindrowError(
            "the checkpoint does not hold the state of Spark's own aggregation",
            _names(operators),
            f"start with a new one, or set {NATIVE_STREAMS} to false if it was so at its start.",
        )
    described = _native_identities(spark, location, native)
    if not described:
        raise WindrowError(_FOREIGN, _names(operators), "start with a new checkpoint location.")
    now = json.loads(json.dumps(identity))
    _refuse_all(partial(refuse_mismatch, was, now) for was in described)


def _refuse_all(comparisons: Iterable[Callable[[], None]]) -> None:
    """Raise the first error unless one comparison raises none, or there are none."""
    refused: WindrowError | None = None
    for compare in comparisons:
        try:
            compare()
        except WindrowError as error:
            refused = refused or error
        else:
            return
    if refused is not None:
        raise refused


def _native_identities(
    spark: SparkSession, location: str, operators: list[int]
) -> list[dict[str, Any]]:
    """The queries of Windrow that these aggregations of Spark have begun the checkpoint for."""
    found = []
    for operator in operators:
        state = state_reader(spark, operator).load(location)
        keys = cast(StructType, state.schema["key"].dataType)
        found += [json.loads(f.metadata[IDENTITY]) for f in keys if IDENTITY in f.metadata]
    return found


def _names(operators: dict[int, tuple[str, set[str]]]) -> str:
    return ", ".join(name for name, _ in operators.values()) or "no stateful operator"


def has_commits(spark: SparkSession, location: str) -> bool:
    """Whether a batch has ended, so that there is state to continue from."""
    try:
        return bool(spark.read.text(f"{location}/commits").limit(1).collect())
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            return False
        raise


def operators_of(spark: SparkSession, location: str) -> dict[int, tuple[str, set[str]]]:
    """The name and the state variables of each stateful operator, by its number."""
    described = spark.read.format("state-metadata").load(location)
    found = described.select("operatorId", "operatorName", "operatorProperties").collect()
    return {row[0]: (row[1], _variables(row[2])) for row in found}


def _variables(properties: str | None) -> set[str]:
    told = json.loads(properties) if properties else {}
    return {variable["stateName"] for variable in told.get("stateVariables", [])}


def state_reader(spark: SparkSession, operator: int) -> DataFrameReader:
    """Reads what an operator has stored.

    Before the first stream of a session, Spark 4.1 cannot: what it asks starts with the session's
    manager of streams.
    """
    _ = spark.streams
    return spark.read.format("statestore").option("operatorId", operator)


def _headers(spark: SparkSession, location: str, operators: list[int]) -> Iterator[bytes]:
    """A header of each operator; all its workers describe the same query."""
    for operator in operators:
        state = state_reader(spark, operator).option("stateVarName", HEADER)
        rows = state.load(location).select(f"value.{HEADER}")
        yield from (bytes(header) for (header,) in rows.limit(1).collect())
