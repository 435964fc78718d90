"""A Spark DataFrame as the source of a query."""

from __future__ import annotations

from pyspark.sql import DataFrame

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

    @staticmethod
    def of(data: object) -> DataFrameSource:
        """The source over a DataFrame, classic or Connect."""
        if not isinstance(data, DataFrame):
            raise WindrowError("stream takes a DataFrame", type(data).__name__)
        return DataFrameSource(data)
