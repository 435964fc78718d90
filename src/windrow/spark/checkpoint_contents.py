"""What a checkpoint holds of Windrow's workers: whose state, how much of it, and of which keys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from windrow.core.errors import WindrowError
from windrow.core.watermark import BEGINNING
from windrow.engine.columns.control import CODE
from windrow.engine.columns.packed import unpack_tables
from windrow.engine.state.log import read_header
from windrow.spark.checkpoint import has_commits, operators_of
from windrow.spark.stateful import BLOBS, HEADER


@dataclass
class Contents:
    """The state of one stage, in all its workers."""

    operator: int
    header: dict[str, Any]
    """The header of one worker: all describe the same query."""
    workers: int = 0
    keys: int = 0
    rows: int = 0
    """Rows and partial results, as they are stored: some may not be needed any more."""
    bytes: int = 0
    dropped: int = 0
    watermark: int | None = None
    """The latest among the workers, in microseconds; None if there is none yet."""
    rows_by_key: Counter[tuple[Any, ...]] = field(default_factory=Counter)


def contents_of(spark: SparkSession, location: str) -> tuple[list[Contents], list[str]]:
    """The state of each of our stages, and the names of stateful operators that are not ours."""
    if not has_commits(spark, location):
        rule = "the folder is not the checkpoint of a streaming query that has ended a batch"
        raise WindrowError(rule, location, "it is the checkpointLocation of the query.")
    ours: list[Contents] = []
    others: list[str] = []
    for operator, (name, variables) in operators_of(spark, location).items():
        if {HEADER, BLOBS} <= variables:
            ours += _contents(spark, location, operator)
        else:
            others.append(name)
    return ours, others


def _contents(spark: SparkSession, location: str, operator: int) -> Iterator[Contents]:
    """The contents of an operator; none if no worker has stored anything yet."""
    rows = _stored(spark, location, operator, HEADER).select("key.slot", f"value.{HEADER}")
    headers = {slot: read_header(bytes(stored)) for slot, stored in rows.collect()}
    if not headers:
        return
    found = Contents(operator, next(iter(headers.values())), len(headers))
    for header in headers.values():
        scalars = header["scalars"]
        found.keys += header["n_keys"]
        found.dropped += scalars.get("dropped", 0)
        reached = scalars.get("watermark", BEGINNING)
        if reached > BEGINNING:
            found.watermark = max(reached, found.watermark or reached)
    names = [column["column"] for column in found.header["query"].get("keys", [])]
    columns = "key.slot", "user_map_key.name", "user_map_value.blob"
    held = {slot: _Held(names) for slot in headers}
    # One blob after the other: together they may be larger than the driver's memory.
    for slot, name, blob in (
        _stored(spark, location, operator, BLOBS).select(*columns).toLocalIterator()
    ):
        found.bytes += len(blob)
        found.rows += held[slot].take(name, unpack_tables(bytes(blob))[0])
    for worker in held.values():
        found.rows_by_key.update(worker.rows_by_key())
    yield found


def _stored(spark: SparkSession, location: str, operator: int, variable: str) -> Any:
    reader = spark.read.format("statestore").option("operatorId", operator)
    return reader.option("stateVarName", variable).load(location)


class _Held:
    """Counts the rows of a worker's keys as its blobs come, in any order."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.keys: dict[int, pa.Table] = {}
        self.by_code = np.zeros(0, np.int64)
        self.waiting: Counter[tuple[Any, ...]] = Counter()

    def take(self, name: str, tables: dict[str, pa.Table]) -> int:
        """Take the tables of a blob; return how many rows of data they have."""
        if record := re.fullmatch(r"record (\d+)", name):
            if "keys" in tables:
                self.keys[int(record[1])] = tables["keys"]
            return 0
        for table in tables.values():
            if CODE in table.column_names:
                counts = np.bincount(table[CODE].to_numpy(), minlength=len(self.by_code))
                counts[: len(self.by_code)] += self.by_code
                self.by_code = counts
            elif self.names and set(self.names) <= set(table.column_names):
                counted = table.group_by(self.names).aggregate([([], "count_all")])
                *keys, rows = (counted[n].to_pylist() for n in (*self.names, "count_all"))
                self.waiting.update(dict(zip(zip(*keys, strict=True), rows, strict=True)))
        return sum(map(len, tables.values()))

    def rows_by_key(self) -> Counter[tuple[Any, ...]]:
        """The rows of each key: those in their windows, and those that wait for the watermark."""
        counted = Counter(self.waiting)
        if self.keys and self.names:
            keys = pa.concat_tables(self.keys[number] for number in sorted(self.keys))
            codes = np.flatnonzero(self.by_code)
            known = keys.take(codes)
            rows = (known[name].to_pylist() for name in self.names)
            for key, n in zip(zip(*rows, strict=True), self.by_code[codes].tolist(), strict=True):
                counted[key] += n
        return counted
