"""A Spark DataFrame as the source of a query."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from windrow.core.errors import WindrowError


class DataFrameSource:
    """A DataFrame: its queries run on Spark."""

    def __init__(self, df: DataFrame) -> None:
        self.df = df
        self.types = {f.name: f.dataType.simpleString() for f in df.schema.fields}
        if len(self.types) < len(df.schema.fields):
            names = df.schema.fieldNames()
            twice = sorted({n for n in names if names.count(n) > 1})
            raise WindrowError("the columns of a stream must have distinct names", f"{twice} twice")

    @property
    def schema(self) -> pa.Schema:
        """The columns as Arrow has them."""
        return to_arrow_schema(self.df.schema, timezone="UTC")

    @staticmethod
    def of(data: object) -> DataFrameSource:
        """The source over a DataFrame, classic or Connect."""
        if not isinstance(data, DataFrame):
            raise WindrowError("stream takes a DataFrame", type(data).__name__)
        return DataFrameSource(data)

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
