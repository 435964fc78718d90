"""Sources: where a query's rows come from, and how queries over them run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union

from windrow.core.errors import WindrowError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.dataset import Dataset
    from pyspark.sql import DataFrame, Observation, SparkSession

    from windrow.engine.window_query import WindowQuery
    from windrow.patterns import Pattern
    from windrow.planner.decision import Decision

Data: TypeAlias = Union["DataFrame", "pa.Table", "pa.RecordBatch", "Dataset", Mapping[str, Any]]
"""A Spark DataFrame, a PyArrow table, record batch or dataset, or a dict of arrays by name."""


class Source(Protocol):
    """Rows with named columns of known types; a source raises an error for what it cannot do."""

    types: dict[str, str]
    is_case_sensitive: bool
    """Whether two columns of a result may have names that differ only in case."""

    @property
    def schema(self) -> pa.Schema:
        """The columns as an Arrow schema."""

    def resolve(self, column: object, step: str) -> tuple[Source, str]:
        """A source that has the column or expression, and its name there."""

    def written_as(self, names: Iterable[str]) -> Source:
        """The source whose columns have these names, if only case tells theirs from them."""

    def collect(
        self, query: WindowQuery, pattern: Pattern | None, *, ordered: bool, threads: int | None
    ) -> pa.Table:
        """The results, computed in this process, in at most as many threads."""

    def to_df(
        self,
        query: WindowQuery,
        pattern: Pattern | None,
        spark: SparkSession | None,
        *,
        ordered: bool,
        observation: Observation | str | None,
    ) -> DataFrame:
        """The results as a lazy Spark DataFrame, in ``spark`` or the session that there is."""

    def check_checkpoint(self, query: WindowQuery, pattern: Pattern | None, location: str) -> None:
        """Raise unless a stream of this query can begin at, or continue from, the checkpoint."""

    def explain(self, query: WindowQuery, pattern: Pattern | None, *, with_spark: bool) -> None:
        """Print what will run and why; ``with_spark`` adds Spark's own plan."""

    def decision(self, query: WindowQuery, pattern: Pattern | None) -> Decision:
        """What will run and why, as it was decided."""

    def sample(self, rows: int) -> Source:
        """A source over so many of its rows; raises if it has no end."""

    def run(self, query: WindowQuery, pattern: Pattern | None) -> None:
        """Compute all results and forget them."""


def source_of(data: object, step: str) -> Source:
    """The source for data of any supported type; ``step`` names the caller in errors."""
    found: Source | None
    if type(data).__module__.startswith("pyspark."):
        from windrow.spark.release import check_pyspark

        check_pyspark()
        from windrow.spark.source import DataFrameSource

        found = DataFrameSource.of(data)
    elif _is_dataset(data):
        from windrow.api.datasets import DatasetSource

        found = DatasetSource.of(data)
    else:
        from windrow.api.tables import TableSource

        found = TableSource.of(data)
    if found is None:
        raise WindrowError(
            f"{step} takes a Spark DataFrame, a PyArrow table or dataset, or a dict of "
            "NumPy arrays",
            repr(data) if isinstance(data, str) else type(data).__name__,
            _way_in(data),
        )
    return found


def _way_in(data: object) -> str:
    """How to get rows of this kind into a query."""
    if isinstance(data, str | PathLike):
        return "files are read by wr.scan(path), Spark's tables by spark.table(name)."
    if isinstance(data, list):
        return "rows become a table with pyarrow.Table.from_pylist(rows)."
    if type(data).__name__ == "RecordBatchReader":
        return "its rows can be read only once: take them into memory with reader.read_all()."
    library = type(data).__module__.split(".")[0]
    if library == "polars":
        return "a Polars frame becomes a table with df.to_arrow(); collect() a lazy one before."
    if library == "pandas":
        return "a pandas DataFrame becomes a table with pyarrow.Table.from_pandas(df)."
    if library == "pyspark":
        return "pass a DataFrame: keys are named by key_by(), functions by agg()."
    return 'for example wr.stream({"price": [1.0, 2.0]}), or wr.scan(path) for files.'


def not_a_name(column: object, step: str) -> WindrowError:
    """The error for what is no name of a column of a table or dataset."""
    hint = "a column is named by a string, for example 'price'."
    if isinstance(column, list | tuple) and all(isinstance(name, str) for name in column):
        hint = f"pass them one by one: {', '.join(map(repr, column))}."
    got = repr(column) if isinstance(column, str | int | list | tuple) else type(column).__name__
    return WindrowError(f"{step} takes names of columns", got, hint)


def told_apart(
    spark: SparkSession | Observation | str | None, observation: Observation | str | None
) -> tuple[SparkSession | None, Observation | str | None]:
    """The session and the observation: ``to_df`` takes either as its only argument."""
    # By name: there are two such classes, one of them in Spark Connect.
    is_observation = isinstance(spark, str) or type(spark).__name__ == "Observation"
    given: Any = spark
    return (None, given) if is_observation and observation is None else (given, observation)


def _is_dataset(data: object) -> bool:
    """Whether it is a PyArrow dataset; nobody has one without its module."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(data, module.Dataset)
