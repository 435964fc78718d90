"""A Spark DataFrame as the source of a query."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NoReturn

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from windrow.core.errors import WindrowError, unsampled
from windrow.core.names import check_names, same_name
from windrow.engine.joins.attributes import COLLATION
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.planner.decision import Decision
from windrow.spark import bounded, native_streams, streaming
from windrow.spark.arrow_types import arrow_schema
from windrow.spark.checkpoint import refuse_other_checkpoint, refuse_workers_checkpoint
from windrow.spark.cores import cores_of
from windrow.spark.explain import decision_of
from windrow.spark.file_rows import FileRows
from windrow.spark.given_session import check_session, is_case_sensitive
from windrow.spark.readers import reading_of, scan_of
from windrow.spark.rows import column as column_named
from windrow.spark.rows import type_name_of
from windrow.spark.runtime import bounded_observation, metrics_name
from windrow.spark.splits import SplitRows


class DataFrameSource:
    """A DataFrame: its queries run on Spark."""

    def __init__(
        self, df: DataFrame, is_case_sensitive: bool, made: Mapping[str, Column] | None = None
    ) -> None:
        check_names(df.schema.fieldNames(), is_case_sensitive=is_case_sensitive)
        self.df, self.is_case_sensitive = df, is_case_sensitive
        self.made = dict(made or {})
        """The columns that were made of expressions."""
        self.types = {f.name: type_name_of(f.dataType) for f in df.schema.fields}

    @property
    def schema(self) -> pa.Schema:
        """The columns as Arrow has them, with the collations of strings as metadata."""
        fields = [_arrow_field(f) for f in self.df.schema.fields]
        return pa.schema(fields)

    @property
    def is_stream(self) -> bool:
        return self.df.isStreaming

    @property
    def session(self) -> SparkSession:
        """The session in which queries run."""
        return self.df.sparkSession

    @staticmethod
    def of(data: object) -> DataFrameSource | None:
        """The source over a DataFrame, classic or Connect, else None."""
        if not isinstance(data, DataFrame):
            return None
        return DataFrameSource(data, is_case_sensitive(data.sparkSession))

    def collect(
        self, query: WindowQuery, pattern: Pattern | None, *, ordered: bool, threads: int | None
    ) -> NoReturn:
        """Refused: results stay on Spark until a user asks for them."""
        rule = "collect runs queries over tables"
        raise WindrowError(rule, "a Spark DataFrame", "call to_df() instead.")

    def to_df(
        self,
        query: WindowQuery,
        pattern: Pattern | None,
        spark: SparkSession | None,
        *,
        ordered: bool,
        observation: Observation | str | None,
    ) -> DataFrame:
        """The results as a lazy DataFrame, a streaming one if this one is."""
        check_session(spark, self.df)
        rows = reading_of(query, self.df, pattern).rows
        if isinstance(rows, FileRows) or (isinstance(rows, DataFrame) and rows.isStreaming):
            metrics = metrics_name(observation)
            return streaming.to_df(query, rows, pattern, ordered=ordered, metrics=metrics)
        observed = bounded_observation(observation)
        return bounded.to_df(query, rows, pattern, ordered=ordered, observation=observed)

    def check_checkpoint(self, query: WindowQuery, pattern: Pattern | None, location: str) -> None:
        """Raise unless a stream of this query can begin at, or continue from, the checkpoint."""
        if not self.df.isStreaming:
            rule = "only a streaming query has a checkpoint"
            raise WindrowError(rule, "a bounded DataFrame", "call to_df() without this check.")
        if streaming.plan(query, self.df, pattern).choice.native:
            own = native_streams.identity_of(query)
            refuse_workers_checkpoint(self.df.sparkSession, location, own)
            return
        identity = streaming.identity_of(query, self.df, pattern)
        refuse_other_checkpoint(self.df.sparkSession, location, identity)

    def rows_on(
        self, spark: SparkSession, columns: list[str], time: str | None
    ) -> DataFrame | SplitRows | FileRows:
        """The rows of a join: those of the DataFrame, or as the tasks read its files."""
        return scan_of(self.df, columns, time).rows

    def reads_on(self, spark: SparkSession, columns: list[str], time: str | None) -> str:
        """Who reads the rows of a join, in words."""
        return scan_of(self.df, columns, time).reads

    def explain(self, query: WindowQuery, pattern: Pattern | None, *, with_spark: bool) -> None:
        """Print what will run and why, then Spark's own plan if it is wanted."""
        print(self.decision(query, pattern).explain())
        if with_spark:
            # A name that no query before it has taken.
            observation = "explained" if self.df.isStreaming else None
            self.to_df(query, pattern, None, ordered=False, observation=observation).explain()

    def decision(self, query: WindowQuery, pattern: Pattern | None) -> Decision:
        """What will run and why, as it was decided."""
        return decision_of(query, self.df, pattern)

    def sample(self, rows: int) -> DataFrameSource:
        """A source over some of the rows, in as many partitions as there are cores."""
        if self.df.isStreaming:
            raise unsampled("a stream")
        some = self.df.limit(rows).repartition(cores_of(self.df.sparkSession))
        return DataFrameSource(some.localCheckpoint(), self.is_case_sensitive)

    def run(self, query: WindowQuery, pattern: Pattern | None) -> None:
        """Compute all results and forget them."""
        df = self.to_df(query, pattern, None, ordered=False, observation=None)
        df.write.format("noop").mode("overwrite").save()

    def written_as(self, names: Iterable[str]) -> DataFrameSource:
        """The source whose columns have these names, if only case tells theirs from them."""
        names, renamed = list(names), {}
        for name in names:
            known = same_name(name, self.types, is_case_sensitive=self.is_case_sensitive)
            if known is not None and known not in names:
                renamed[known] = name
        if not renamed:
            return self
        df = self.df.toDF(*(renamed.get(name, name) for name in self.types))
        return DataFrameSource(df, self.is_case_sensitive)

    def resolve(self, column: object, step: str) -> tuple[DataFrameSource, str]:
        """The name of a column, or of an expression, which becomes a column of the source."""
        if isinstance(column, str):
            found = same_name(column, self.types, is_case_sensitive=self.is_case_sensitive)
            return self, found or column
        if not isinstance(column, Column):
            rule = f"{step} takes names of columns or Column expressions"
            raise WindrowError(rule, repr(column))
        name, *others = self.df.select(column).columns
        if others:
            raise WindrowError(f"{step} takes expressions of one column", repr(column))
        same = same_name(name, self.types, is_case_sensitive=self.is_case_sensitive)
        if same is None:
            _check_unordered(column, step)
            df = self.df.withColumn(name, column)
            made = {**self.made, name: column}
            return DataFrameSource(df, self.is_case_sensitive, made), name
        known = self.made.get(same, column_named(same))
        if self.df.select(column).sameSemantics(self.df.select(known)):
            return self, same
        whose = "another expression" if same in self.made else "a column"
        rule = f"{step}: the expression has the name of {whose}, {same!r}"
        raise WindrowError(rule, repr(column), 'give it another with .alias("name").')


def _arrow_field(field: StructField) -> pa.Field:
    kind = field.dataType
    try:
        made = arrow_schema(StructType([field]), "UTC").field(0)
    except PySparkException:
        rule = f"Spark cannot hand a column of {kind.simpleString()} to Python"
        raise WindrowError(rule, repr(field.name), "cast the column, or leave it out.") from None
    if isinstance(kind, StringType) and kind != StringType():
        return made.with_metadata({COLLATION: kind.collation})
    return made


_SORT_ORDER = re.compile(r"(ASC|DESC) NULLS (FIRST|LAST)'>$")


def _check_unordered(column: Column, step: str) -> None:
    """Raise if the expression is a sort order, such as ``F.desc("t")``, not a value."""
    if (found := _SORT_ORDER.search(str(column))) is not None:
        hint = "rows are in ascending order, nulls first: pass the column itself"
        if found[1] == "DESC":
            hint += ', or -F.col("t") for descending numbers'
        raise WindrowError(f"{step} takes values, not a sort order", repr(column), f"{hint}.")
