"""PyArrow datasets as sources of queries, which run in this process or on Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NoReturn

import pyarrow as pa
import pyarrow.dataset as ds

from windrow.api.checks import check_result_names
from windrow.api.in_threads import FEW_BYTES, InThreads
from windrow.api.sources import not_a_name
from windrow.core.errors import WindrowError
from windrow.core.names import check_names
from windrow.core.packages import require
from windrow.engine.columns.ddl import type_name
from windrow.engine.datasets.pieces import FilePiece, Piece, filter_of, pieces_of
from windrow.engine.datasets.scan import Scan, int96_columns
from windrow.engine.datasets.splits import splits_of
from windrow.engine.datasets.steps import Side, Unread, window_steps
from windrow.engine.datasets.types import is_nanoseconds
from windrow.engine.intake import needed_columns
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.planner.decision import Decision

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

    from windrow.spark.splits import SplitRows


class DatasetSource:
    """A dataset: its queries run in process, batch by batch, or on Spark, whose tasks read it."""

    is_case_sensitive = True
    is_stream = False
    session = None

    def __init__(self, dataset: ds.Dataset) -> None:
        check_names(dataset.schema.names, is_case_sensitive=self.is_case_sensitive)
        self.dataset = dataset
        declared = dataset.schema.remove_metadata()
        int96 = frozenset[str]()
        if any(f.type == pa.timestamp("ns") for f in declared):
            int96 = int96_columns(self.pieces, declared)
        self.scan = Scan(declared, tuple(declared.names), filter_of(dataset), int96)
        known = {f.name: self.scan.type_of(f.name) for f in declared}
        self.types = {
            f.name: str(f.type) if (kind := known[f.name]) is None else type_name(kind)
            for f in declared
        }

    @property
    def pieces(self) -> list[Piece]:
        """The files and tables of the dataset as they are now."""
        return pieces_of(self.dataset)

    @property
    def schema(self) -> pa.Schema:
        """All columns with the types that Spark's reader gives; an error if it cannot read one."""
        for name in self.types:
            self._check(name, "join")
        return self.scan.schema

    def resolve(self, column: object, step: str) -> tuple[DatasetSource, str]:
        """The name of a column that can be read; datasets do not support expressions."""
        if not isinstance(column, str):
            raise not_a_name(column, step)
        if column in self.types:
            self._check(column, step)
        return self, column

    def written_as(self, names: Iterable[str]) -> DatasetSource:
        """The source itself: in datasets case matters."""
        return self

    def _check(self, name: str, step: str) -> None:
        kind = self.scan.declared.field(name).type
        if self.scan.type_of(name) is None:
            rule = f"{step}: Spark has no type for column {name!r}"
            raise WindrowError(rule, str(kind), "convert the column before you write the files.")
        is_exact = not is_nanoseconds(kind) or name in self.scan.int96
        if step in ("key_by", "order_by") and not is_exact:
            rule = f"{step}: column {name!r} must not have nanoseconds, which are rounded down"
            raise WindrowError(rule, str(kind), "convert the column before you write the files.")

    def reading(self, columns: list[str], time: str | None) -> Scan:
        """The scan of these columns and the time."""
        if time is not None:
            columns = [*columns, time]
        return self.scan.only(*dict.fromkeys(columns))

    def collect(
        self, query: WindowQuery, pattern: Pattern | None, *, ordered: bool, threads: int | None
    ) -> pa.Table:
        """The results, computed in this process."""
        scan, pieces = self.reading(needed_columns(query), query.time), self.pieces
        running = InThreads.of(query, pattern, threads, is_small=_are_small(pieces))
        side = Side(scan, pieces, query.time, query.unit, use_threads=running.threads > 1)
        return running.collect(self.steps(query, side), scan.schema, ordered=ordered)

    def steps(self, query: WindowQuery, side: Side) -> Iterator[Unread]:
        """The rows of this side, batch by batch."""
        return iter(window_steps(side, query.order_by))

    def rows_on(self, spark: SparkSession, columns: list[str], time: str | None) -> SplitRows:
        """The rows as Spark's tasks read them."""
        from windrow.spark.cores import cores_of
        from windrow.spark.splits import SplitRows

        scan = self.reading(columns, time)
        return SplitRows(spark, scan, tuple(splits_of(scan, self.pieces, cores_of(spark))))

    def reads_on(self, spark: SparkSession, columns: list[str], time: str | None) -> str:
        """Who reads the rows on Spark, in words."""
        return self.rows_on(spark, columns, time).describe()

    def to_df(
        self,
        query: WindowQuery,
        pattern: Pattern | None,
        spark: SparkSession | None,
        *,
        ordered: bool,
        observation: Observation | str | None,
    ) -> DataFrame:
        """The results as a lazy DataFrame of the session, by default the active one."""
        require("to_df", "spark", "pyspark")
        from windrow.spark import bounded
        from windrow.spark.given_session import is_case_sensitive, session_of
        from windrow.spark.runtime import bounded_observation

        session = session_of(spark)
        check_result_names(query, is_case_sensitive=is_case_sensitive(session))
        rows = self.rows_on(session, needed_columns(query), query.time)
        observed = bounded_observation(observation)
        return bounded.to_df(query, rows, pattern, ordered=ordered, observation=observed)

    def check_checkpoint(
        self, query: WindowQuery, pattern: Pattern | None, location: str
    ) -> NoReturn:
        """Always raises: a query over a dataset has no checkpoint."""
        raise WindrowError("only a streaming query has a checkpoint", "a dataset")

    def explain(self, query: WindowQuery, pattern: Pattern | None, *, with_spark: bool) -> None:
        """Print what will run and why: on the active Spark session, or else in process."""
        spark = _active_session()
        if spark is None and with_spark:
            rule = 'explain("spark") needs an active Spark session'
            raise WindrowError(rule, hint="make one, for example with wr.local_spark().")
        print(self.decision(query, pattern).explain())
        if with_spark:
            self.to_df(query, pattern, spark, ordered=False, observation=None).explain()

    def decision(self, query: WindowQuery, pattern: Pattern | None) -> Decision:
        """What will run and why: on the active Spark session, or else in process."""
        spark = _active_session()
        if spark is not None:
            from windrow.spark.explain import decision_of

            return decision_of(
                query, self.rows_on(spark, needed_columns(query), query.time), pattern
            )
        return self.decision_in_process(query, pattern)

    def decision_in_process(self, query: WindowQuery, pattern: Pattern | None) -> Decision:
        """What ``collect`` does and why."""
        pieces = self.pieces
        reads = self.reading(needed_columns(query), query.time).describe(pieces)
        running = InThreads.of(query, pattern, None, is_small=_are_small(pieces))
        return running.decision(f"{reads}, batch by batch")

    def sample(self, rows: int) -> DatasetSource:
        """A source over the first rows."""
        return DatasetSource(ds.dataset(self.dataset.head(rows)))

    def run(self, query: WindowQuery, pattern: Pattern | None) -> None:
        """Compute all results and forget them: on the active Spark session, or in process."""
        spark = _active_session()
        if spark is None:
            self.collect(query, pattern, ordered=False, threads=None)
            return
        df = self.to_df(query, pattern, spark, ordered=False, observation=None)
        df.write.format("noop").mode("overwrite").save()

    @staticmethod
    def of(data: object) -> DatasetSource:
        """The source for a dataset."""
        assert isinstance(data, ds.Dataset)
        return DatasetSource(data)


def _are_small(pieces: Iterable[Piece]) -> bool:
    """Whether there are few rows to read."""
    sizes = (p.stamp.size if isinstance(p, FilePiece) else p.table.nbytes for p in pieces)
    return sum(sizes) < FEW_BYTES


def _active_session() -> SparkSession | None:
    """The active session, if there may be one: PySpark is not imported to find none."""
    import sys

    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()
