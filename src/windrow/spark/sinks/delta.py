"""Upserts into a Delta table, with its MERGE."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

from pyspark import StorageLevel
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from windrow.core.errors import WindrowError
from windrow.spark.sinks.batch import Batch, check_key, same_key_twice

_LACKS_DELTA = re.compile(r"DATA_SOURCE_NOT_FOUND.*delta|DELTA_CONFIGURE_SPARK_SESSION")


@dataclass
class DeltaUpsert:
    """Merges a batch into a Delta table, given by its path or its name in the catalog."""

    target: str
    key: tuple[str, ...]
    _exists: bool = field(default=False, init=False, repr=False)

    def __call__(self, batch: Batch, batch_id: int) -> None:
        """Upsert the rows of the batch."""
        check_key(batch, self.key)
        # MERGE reads its source twice, and the check reads it before. The stream computes it once.
        is_kept = batch.storageLevel != StorageLevel.NONE
        if not is_kept:
            batch.persist()
        try:
            if self._has_rows(batch):
                with _explained():
                    self._create(batch.sparkSession, batch.schema)
                    self._merge(batch)
        finally:
            if not is_kept:
                batch.unpersist()

    def _has_rows(self, batch: Batch) -> bool:
        """Whether there is anything to write; raises if rows have the same key."""
        per_key = batch.groupBy(*map(_column, self.key)).agg(F.count("*").alias("n"))
        most = per_key.agg(F.max("n")).collect()[0][0]
        if most is not None and most > 1:
            raise same_key_twice(self.key)
        return most is not None

    @property
    def _is_path(self) -> bool:
        return "/" in self.target

    def _create(self, spark: SparkSession, schema: StructType) -> None:
        """Create the table if it is missing."""
        if not self._exists:
            writer = spark.createDataFrame([], schema).write.format("delta").mode("ignore")
            if self._is_path:
                writer.save(self.target)
            else:
                writer.saveAsTable(self.target)
            self._exists = True

    def _merge(self, batch: Batch) -> None:
        source = f"windrow_{uuid4().hex}"
        target = f"delta.{quoted(self.target)}" if self._is_path else self.target
        # With the view goes what Spark has cached of the same rows: this column makes them others.
        batch.withColumn(source, F.lit(True)).createOrReplaceTempView(source)
        try:
            batch.sparkSession.sql(merge(target, source, batch.columns, self.key)).collect()
        finally:
            batch.sparkSession.catalog.dropTempView(source)


def quoted(name: str) -> str:
    """The name as an identifier of Spark's SQL, whatever it contains."""
    return "`" + name.replace("`", "``") + "`"


def merge(target: str, source: str, columns: list[str], key: tuple[str, ...]) -> str:
    """The statement; a null key equals a null key.

    >>> print(merge("trend", "batch", ["k", "n"], ("k",)))
    MERGE INTO trend AS t USING batch AS s ON t.`k` <=> s.`k`
    WHEN MATCHED THEN UPDATE SET t.`n` = s.`n`
    WHEN NOT MATCHED THEN INSERT (`k`, `n`) VALUES (s.`k`, s.`n`)
    """
    names = {column: quoted(column) for column in columns}
    same = " AND ".join(f"t.{names[k]} <=> s.{names[k]}" for k in key)
    changed = ", ".join(f"t.{n} = s.{n}" for column, n in names.items() if column not in key)
    update = f"WHEN MATCHED THEN UPDATE SET {changed}\n" if changed else ""
    listed, values = ", ".join(names.values()), ", ".join(f"s.{n}" for n in names.values())
    return (
        f"MERGE INTO {target} AS t USING {source} AS s ON {same}\n{update}"
        f"WHEN NOT MATCHED THEN INSERT ({listed}) VALUES ({values})"
    )


def _column(name: str) -> Column:
    return F.col(quoted(name))


@contextmanager
def _explained() -> Iterator[None]:
    """Say what to do if the session has no Delta Lake."""
    try:
        yield
    except Exception as e:  # Spark classic and Connect have nothing in common here
        if _LACKS_DELTA.search(str(e)):
            raise WindrowError(
                "upsert into Delta Lake needs a session with Delta Lake",
                "one without it",
                "start Spark with spark.jars.packages=io.delta:delta-spark_2.13:VERSION, the "
                "VERSION for your Spark, "
                "spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension and "
                "spark.sql.catalog.spark_catalog="
                "org.apache.spark.sql.delta.catalog.DeltaCatalog.",
            ) from e
        raise
