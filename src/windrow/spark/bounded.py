"""Queries over bounded DataFrames: one worker, all windows (WinSeq)."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

from windrow.core.errors import WindrowError
from windrow.engine.ddl import type_name
from windrow.engine.in_process import collect
from windrow.engine.spec import ID, WindowQuery
from windrow.patterns import WinSeq
from windrow.patterns.lowering import lower


def to_df(query: WindowQuery, df: DataFrame, *, ordered: bool) -> DataFrame:
    """The results as a lazy DataFrame."""
    if df.isStreaming:
        raise WindrowError(
            "to_df takes bounded DataFrames", "a streaming DataFrame", "read it with spark.read."
        )

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        received = list(batches)
        if received:
            table = pa.Table.from_batches(received)
            yield from collect(query, lower(query, WinSeq()), table, ordered=False).to_batches()

    results = df.repartition(1).mapInArrow(work, _schema(query, df))
    return results.orderBy(*query.keys, ID) if ordered else results


def _schema(query: WindowQuery, df: DataFrame) -> str:
    """Key columns as they come in, then the window's and the results' own, as DDL."""
    fields = [(k, df.schema[k].dataType.simpleString(), df.schema[k].nullable) for k in query.keys]
    for field in query.output_schema({k: pa.null() for k in query.keys}):
        if field.name not in query.keys:
            fields.append((field.name, type_name(field.type), field.nullable))
    return ", ".join(
        f"`{name.replace('`', '``')}` {kind}{'' if nullable else ' NOT NULL'}"
        for name, kind, nullable in fields
    )
