"""Upserts into a table of PostgreSQL, over Spark's own JDBC source and sink.

A batch goes through a staging table:

1. Spark's JDBC sink writes the batch to it, in parallel. The batch is computed once.
2. One statement merges it into the target, so readers see all of the batch or nothing of it.
3. It is dropped.

Spark has no API that runs a statement, but its JDBC source does so before it reads
(``sessionInitStatement``), with the driver and the credentials of the sink. So nothing is needed
but the JDBC driver, neither a Python driver on the executors nor access to the JVM. A statement
that a retried task runs twice has the effect of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType

from windrow.core.errors import WindrowError, near_names
from windrow.spark.master import is_connect
from windrow.spark.sinks import postgres_sql as sql
from windrow.spark.sinks.batch import Batch, check_key, same_key_twice

DRIVER = "org.postgresql.Driver"
_QUERY_ID = "sql.streaming.queryId"
"""Where Spark tells a thread which streaming query it works for."""
_UNREACHABLE = re.compile(r"PSQLException: ((?:Connection to|The connection|FATAL).*)")


@dataclass
class PostgresUpsert:
    """Merges a batch into a table of PostgreSQL."""

    url: str
    table: sql.Table
    key: tuple[str, ...]
    properties: Mapping[str, str] = field(repr=False)
    _casts: dict[str, str | None] | None = field(default=None, init=False, repr=False)
    _run: str = field(default_factory=lambda: uuid4().hex, init=False, repr=False)

    def __call__(self, batch: Batch, batch_id: int) -> None:
        """Upsert the rows of the batch."""
        check_key(batch, self.key)
        _check_types(batch)
        spark = batch.sparkSession
        staging = self._staging(spark)
        with self._explained():
            options = {**self._options, "dbtable": str(staging)}
            batch.write.format("jdbc").options(**options).mode("overwrite").save()
            if self._casts is None:
                self._casts = self._target(batch, staging)
            self._execute(spark, sql.insert(self.table, staging, self._casts, self.key))
            self._execute(spark, sql.drop(staging))

    @property
    def _options(self) -> dict[str, str]:
        return {"driver": DRIVER, **self.properties, "url": self.url}

    def _staging(self, spark: SparkSession) -> sql.Table:
        """A table of the query's own, the same one after a restart, which thus leaves none behind.

        Spark Connect does not tell which query it is. Then it is a table of this run.
        """
        query = None
        if not is_connect(spark):
            query = spark.sparkContext.getLocalProperty(_QUERY_ID)
        told = f"{query or self._run} {self.table}"
        return self.table.beside(f"windrow_staging_{sha256(told.encode()).hexdigest()[:16]}")

    def _target(self, batch: DataFrame, staging: sql.Table) -> dict[str, str | None]:
        """Create the target if it is missing; the columns to write, with the casts they need."""
        spark = batch.sparkSession
        types = self._types(spark)
        if not types:
            version = self._query(spark, sql.server_version())[0]["version"]
            self._execute(spark, sql.create(self.table, staging, self.key, version))
            types = self._types(spark)
        for name in batch.columns:
            if name not in types:
                rule = f"the columns of a batch must be columns of {self.table}"
                raise WindrowError(rule, name, near_names(name, types))
        indexed: dict[int, list[Row]] = {}
        for row in self._query(spark, sql.unique_columns_of(self.table)):
            indexed.setdefault(row["index"], []).append(row)
        sql.check_index(self.table, map(_index, indexed.values()), self.key)
        return {f.name: _cast(f.dataType, types[f.name]) for f in batch.schema.fields}

    def _types(self, spark: SparkSession) -> dict[str, str]:
        found = self._query(spark, sql.columns_of(self.table))
        return {row["name"]: row["type"] for row in found}

    def _query(self, spark: SparkSession, query: str, **options: str) -> list[Row]:
        reader = spark.read.format("jdbc").options(**{**self._options, **options})
        return reader.option("query", query).load().collect()

    def _execute(self, spark: SparkSession, statement: str) -> None:
        # With a fetch size, Spark would leave the commit to the close of the connection, whose
        # failure it only logs.
        self._query(spark, "SELECT 1 AS done", sessionInitStatement=statement, fetchsize="0")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what to do about the errors of the JDBC driver that have a remedy."""
        try:
            yield
        except WindrowError:
            raise
        except Exception as e:  # Spark classic and Connect have nothing in common here
            said = str(e)
            if "cannot affect row a second time" in said:
                raise same_key_twice(self.key) from e
            if f"ClassNotFoundException: {DRIVER}" in said:
                hint = (
                    "start Spark with the setting spark.jars.packages=org.postgresql:postgresql:"
                    "42.7.4, or a newer version."
                )
                raise WindrowError("upsert needs PostgreSQL's JDBC driver", hint=hint) from e
            if found := _UNREACHABLE.search(said):
                hint = "check the server, the address, and user and password in properties."
                got = f"{self.url.split('?')[0]}: {found[1]}"
                raise WindrowError("PostgreSQL must accept connections", got, hint) from e
            raise


def _index(rows: list[Row]) -> sql.UniqueIndex:
    """The index that has these columns."""
    holds = all(row["nulls_equal"] or row["not_null"] for row in rows)
    return sql.UniqueIndex(frozenset(row["name"] for row in rows), holds)


def _cast(source: DataType, target: str) -> str | None:
    """The type to cast to: text becomes text by itself, but neither jsonb nor uuid."""
    if isinstance(source, StringType) and not target.startswith(("text", "character")):
        return target
    return None


def _check_types(batch: Any) -> None:
    """Raise if a column has a type that JDBC does not know."""
    for column in batch.schema.fields:
        kind = column.dataType
        while isinstance(kind, ArrayType):
            kind = kind.elementType
        if isinstance(kind, StructType | MapType):
            raise WindrowError(
                "a table of PostgreSQL holds no structs and no maps",
                f"{column.name} {column.dataType.simpleString()}",
                f'select its fields, or write F.to_json("{column.name}") to a column of text or '
                "jsonb.",
            )
