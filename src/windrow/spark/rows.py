"""Rows of a DataFrame: those that go to Python, and those that come back."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from windrow.engine.columns.control import ARRIVAL, TIME
from windrow.engine.intake import needed_columns
from windrow.engine.window_query import WindowQuery
from windrow.functions.types import quoted_field
from windrow.spark.splits import ScannedRows
from windrow.spark.times import microseconds_of


def column(name: str) -> Column:
    """A column by its exact name, dots and all."""
    return F.col(quoted(name))


def quoted(name: str) -> str:
    """A column's exact name in an expression."""
    return "`" + name.replace("`", "``") + "`"


def type_name_of(kind: DataType) -> str:
    """The DDL name of a type; unlike in Spark's own, special names of fields are quoted."""
    if isinstance(kind, ArrayType):
        return f"array<{type_name_of(kind.elementType)}>"
    if isinstance(kind, MapType):
        return f"map<{type_name_of(kind.keyType)},{type_name_of(kind.valueType)}>"
    if isinstance(kind, StructType):
        fields = (f"{quoted_field(f.name)}:{type_name_of(f.dataType)}" for f in kind.fields)
        return f"struct<{','.join(fields)}>"
    return kind.simpleString()


def time_of(query: WindowQuery) -> Column:
    """The event time in microseconds."""
    assert query.time is not None
    return microseconds_of(column(query.time), query.types[query.time], query.unit)


def tuples(query: WindowQuery, df: DataFrame) -> DataFrame:
    """The columns the query needs, and time in microseconds."""
    columns = [column(name) for name in needed_columns(query)]
    if query.time is not None:
        # As a number it is handed to Python in half the time of a timestamp.
        columns.append(time_of(query).alias(TIME))
    # Rows without any column would be lost on their way to Python.
    return df.select(*columns or [F.lit(True).alias(ARRIVAL)])


def result_fields(query: WindowQuery) -> pa.Schema:
    """The columns of the results but for the keys."""
    fields = query.output_schema({k: pa.null() for k in query.keys})
    return pa.schema([f for f in fields if f.name not in query.keys])


def schema_of(query: WindowQuery, results: pa.Schema, df: DataFrame | ScannedRows) -> StructType:
    """Key columns as they come in, then the window's and the results' own."""
    fields = [df.schema[k] for k in query.keys]
    for field in results:
        kind = from_arrow_type(field.type, prefer_timestamp_ntz=True)
        fields.append(StructField(field.name, kind, field.nullable))
    return StructType(fields)
