"""Reads what a checkpoint holds of Windrow's workers; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame, SparkSession

from windrow.core.errors import WindrowError
from windrow.core.statistics import Statistics
from windrow.engine.state.contents import Contents
from windrow.spark.checkpoint import has_commits, operators_of, state_reader
from windrow.spark.stateful import BLOBS, HEADER

_UNEVEN = 2.0
"""From so many times its fair share on, a key is frequent."""


def contents_of(spark: SparkSession, location: str) -> tuple[dict[int, Contents], dict[int, str]]:
    """The state of our stages, by the number of their operator, and the other operators' names."""
    if not has_commits(spark, location):
        rule = "the folder is not the checkpoint of a streaming query that has ended a batch"
        raise WindrowError(rule, repr(location), "it is the checkpointLocation of the query.")
    ours: dict[int, Contents] = {}
    others: dict[int, str] = {}
    for operator, (name, variables) in operators_of(spark, location).items():
        if not {HEADER, BLOBS} <= variables:
            others[operator] = name
            continue
        stored = _stored(spark, location, operator, HEADER).select("key.slot", f"value.{HEADER}")
        headers = {slot: bytes(header) for slot, header in stored.collect()}
        if headers:
            ours[operator] = Contents(headers, _blobs(spark, location, operator))
    return ours, others


def statistics_of(spark: SparkSession, location: str) -> Statistics:
    """The keys that a stream has had, and the share of the most frequent if its state shows it.

    State that has as many rows of each key, such as that of windows by count or of partials, does
    not tell how frequent keys are. Neither does a stage that holds only hot keys.
    """
    ours, _ = contents_of(spark, location)
    keyed = [contents for contents in ours.values() if contents.keys]
    if not keyed:
        hint = "pass numbers to hint() instead."
        raise WindrowError("the checkpoint tells nothing of keys", location, hint)
    most = max(keyed, key=lambda contents: contents.keys)
    skew = max(held.greatest_share for held in keyed if held.keys > most.keys / 2)
    return Statistics(keys=most.keys, skew=skew if skew > _UNEVEN / most.keys else None)


def _blobs(spark: SparkSession, location: str, operator: int) -> Iterator[tuple[int, str, bytes]]:
    columns = "key.slot", "user_map_key.name", "user_map_value.blob"
    stored = _stored(spark, location, operator, BLOBS).select(*columns)
    for slot, name, blob in stored.toLocalIterator():
        yield slot, name, bytes(blob)


def _stored(spark: SparkSession, location: str, operator: int, variable: str) -> DataFrame:
    return state_reader(spark, operator).option("stateVarName", variable).load(location)
