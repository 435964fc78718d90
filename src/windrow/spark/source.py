"""A Spark DataFrame as the source of a query."""

from __future__ import annotations

from typing import NoReturn

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from windrow.core.errors import WindrowError, check_distinct
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.spark import bounded, streaming
from windrow.spark.explain import explain_lowering
from windrow.spark.given_session import check_session
from windrow.spark.readers import reading_of, scan_of
from windrow.spark.runtime import bounded_observation, metrics_name
from windrow.spark.splits import SplitRows


class DataFrameSource:
    """A DataFrame: its queries run on Spark."""

    def __init__(self, df: DataFrame) -> None:
        check_distinct(df.schema.fieldNames())
        self.df = df
        self.types = {f.name: f.dataType.simpleString() for f in df.schema.fields}

    @property
    def schema(self) -> pa.Schema:
        """The columns as Arrow has them."""
        return to_arrow_schema(self.df.schema, timezone="UTC")

    @property
    def is_stream(self) -> bool:
        return self.df.isStreaming

    @staticmethod
    def of(data: object) -> DataFrameSource | None:
        """The source over a DataFrame, classic or Connect, else None."""
        return DataFrameSource(data) if isinstance(data, DataFrame) else None

    def collect(self, query: WindowQuery, pattern: Pattern | None, *, ordered: bool) -> NoReturn:
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
        if self.df.isStreaming:
            metrics = metrics_name(observation)
            return streaming.to_df(query, self.df, pattern, ordered=ordered, metrics=metrics)
        observed = bounded_observation(observation)
        rows = reading_of(query, self.df, pattern).rows
        return bounded.to_df(query, rows, pattern, ordered=ordered, observation=observed)

    def rows_on(
        self, spark: SparkSession, columns: list[str], time: str | None
    ) -> DataFrame | SplitRows:
        """The rows of a join: those of the DataFrame, or as the tasks read its files."""
        return scan_of(self.df, columns, time).rows

    def reads_on(self, spark: SparkSession, columns: list[str], time: str | None) -> str:
        """Who reads the rows of a join, in words."""
        return scan_of(self.df, columns, time).reads

    def explain(self, query: WindowQuery, pattern: Pattern | None, *, with_spark: bool) -> None:
        """Print what will run and why, then Spark's own plan if it is wanted."""
        print(explain_lowering(query, self.df, pattern))
        if with_spark:
            self.to_df(query, pattern, None, ordered=False, observation=None).explain()

    def resolve(self, column: object, step: str) -> tuple[DataFrameSource, str]:
        """The name of a column, or of an expression, which becomes a column of the source."""
        if isinstance(column, str):
            return self, column
        if not isinstance(column, Column):
            rule = f"{step} takes names of columns or Column expressions"
            raise WindrowError(rule, repr(column))
        name = self.df.select(column).columns[0]
        # Spark does not tell names apart by case unless told to.
        same = next((known for known in self.types if known.casefold() == name.casefold()), None)
        if same is not None:
            if _is_plain(column, name):
                return self, same
            rule = f"{step}: the expression has the name of a column, {same!r}"
            raise WindrowError(rule, repr(column), 'give it another with .alias("name").')
        return DataFrameSource(self.df.withColumn(name, column)), name


def _is_plain(column: Column, name: str) -> bool:
    """Whether it is just the column of that name."""
    return str(column) in (f"Column<'{name}'>", f"Column<'`{name}`'>")
