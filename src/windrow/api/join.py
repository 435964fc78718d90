"""Joins as a user builds them: immutable, and checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from json import dumps
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, get_args

from windrow.api.join_arguments import (
    AnyHow,
    check_is_grid,
    delay_of,
    how_of,
    lengths_of,
    predicate_of,
    prefixes_of,
    rates_of,
    times_of,
)
from windrow.api.missteps import not_a_step
from windrow.api.sources import Data, source_of, told_apart
from windrow.core.calls import checks_call
from windrow.core.checks import one_of, path_of
from windrow.core.durations import Duration
from windrow.core.errors import WindrowError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, Observation, SparkSession

    from windrow.api.datasets import DatasetSource
    from windrow.api.file_streams import FileStreamSource
    from windrow.api.query import Query
    from windrow.api.tables import TableSource
    from windrow.engine.datasets.steps import Step
    from windrow.engine.joins.join_query import JoinQuery
    from windrow.engine.joins.terms.predicate import Predicate
    from windrow.engine.joins.terms.term import Term
    from windrow.engine.stages.nodes import Stages
    from windrow.patterns.joins import Strategy
    from windrow.planner.join_decision import JoinDecision
    from windrow.planner.join_layout import GridChoice, Layout
    from windrow.spark.joins import Side, Sides
    from windrow.spark.source import DataFrameSource

    JoinSource: TypeAlias = TableSource | DatasetSource | FileStreamSource | DataFrameSource

ExplainMode: TypeAlias = Literal["simple", "spark", "cost", "json"]


@checks_call
def join(
    left: Data | Query,
    right: Data | Query,
    *,
    within: Duration | int | tuple[Duration | int, Duration | int],
    on: Predicate | Term,
    time: str | tuple[str, str] | None = None,
    delay: Duration = 0,
    how: AnyHow = "inner",
    layout: Layout | None = None,
    degree: int | None = None,
    partitions: int | None = None,
    strategy: Strategy = "grid",
    rates: tuple[float, float] | None = None,
    prefixes: tuple[str, str] = ("left_", "right_"),
) -> Join:
    """Join two streams over windows: pairs of rows near each other in time or in number of rows.

    A side is what ``stream`` takes, or ``scan(...)`` or ``scan_stream(...)`` without further steps.
    ``within`` is a duration for windows of time, or a number of rows for windows by count. A pair
    sets the left window and the right window separately. By time, (x, y) is a result iff the
    predicate ``on`` holds and ``time(x) >= time(y) - left length`` if x is older, ``time(y) >=
    time(x) - right length`` otherwise. By count, (x, y) is a result iff the predicate holds and one
    row sees the other: a right row sees the last ``left length`` left rows before it, a left row
    the last ``right length`` right rows before it. Rows are ordered by ``time``; at equal times
    left rows come first. Without ``time`` the rows of both sides alternate.

    ``how`` is inner, left_outer, right_outer, full_outer, semi or anti; Spark's other names for
    them are accepted too. Outer and anti joins give rows without a match, and semi joins give rows
    with a match, once the window of the row is over. Column names are prefixed by side. Semi and
    anti joins give only the left columns, also prefixed.

    ``layout`` is the grid of workers: ``(m, n)``, ``"linear"``, ``"rectangular"`` or ``"square"``.
    ``degree`` is the number of workers. ``partitions`` is the number of grids; a hash of the
    compared columns decides which grid a row goes to. ``rates`` are the rows per second of both
    sides, from which a layout is chosen and, for streams, the degree; for tables the default is
    their lengths. The strategies
    "centralised" and "handshake" are baselines for comparison, slower than "grid": a centralised
    join keeps both windows in one worker, and a handshake join runs all its segments in one worker.
    They have no grid, only a ``degree``.

    >>> import numpy as np
    >>> from windrow import band
    >>> asks = {"ts": np.array([0, 4, 9]), "price": np.array([10.0, 10.5, 30.0])}
    >>> bids = {"ts": np.array([3, 8]), "price": np.array([10.2, 10.4])}
    >>> pairs = join(asks, bids, within="5 us", on=band(price=0.25), time="ts").collect()
    >>> pairs.select(["left_ts", "right_ts"]).to_pylist()
    [{'left_ts': 0, 'right_ts': 3}, {'left_ts': 4, 'right_ts': 8}]
    """
    from windrow.engine.joins.checks import check
    from windrow.engine.joins.join_query import JoinQuery
    from windrow.patterns.joins import Strategy

    sources: list[Any] = [
        _source_of(left, "the left side of join"),
        _source_of(right, "the right side of join"),
    ]
    sources = _matched(sources, f"{type(left).__name__} and {type(right).__name__}")
    predicate = predicate_of(on)
    lengths, by_count = lengths_of(within)
    one_of(strategy, get_args(Strategy), "strategy")
    check_is_grid(strategy, layout=layout, partitions=partitions, rates=rates)
    times = times_of(time, by_count)
    for side in (0, 1):
        named = [name for term in predicate.terms for name in term.columns(side) or ()]
        sources[side] = sources[side].written_as([*named, times[side]] if times else named)
    schemas = sources[0].schema, sources[1].schema
    query = JoinQuery(
        schemas=schemas,
        on=predicate.bind(*schemas),
        lengths=lengths,
        by_count=by_count,
        time=times,
        delay=delay_of(delay),
        how=how_of(how),
        prefixes=prefixes_of(prefixes),
    )
    check(query, is_case_sensitive=all(source.is_case_sensitive for source in sources))
    made = Join(
        (sources[0], sources[1]), query, layout, degree, partitions, strategy, rates_of(rates)
    )
    made.choice()
    return made


@dataclass(frozen=True)
class Join:
    """A join of two streams."""

    sources: tuple[JoinSource, JoinSource] = field(repr=False)
    query: JoinQuery
    layout: Layout | None = None
    degree: int | None = None
    partitions: int | None = None
    strategy: Strategy = "grid"
    rates: tuple[float, float] | None = None

    def __getattr__(self, name: str) -> NoReturn:
        """Say what comes nearest to what the join does not have."""
        raise not_a_step(name, [n for n in vars(Join) if n[0] != "_"], "join")

    @property
    def _tables(self) -> tuple[pa.Table, pa.Table] | None:
        """Both sides if they are tables; None if they are not."""
        from windrow.api.tables import TableSource

        left, right = self.sources
        if isinstance(left, TableSource) and isinstance(right, TableSource):
            return left.table, right.table
        return None

    @property
    def _datasets(self) -> tuple[DatasetSource, DatasetSource] | None:
        """Both sides if they are datasets; None if they are not."""
        from windrow.api.datasets import DatasetSource

        left, right = self.sources
        if isinstance(left, DatasetSource) and isinstance(right, DatasetSource):
            return left, right
        return None

    @property
    def _needed(self) -> list[tuple[list[str], str | None]]:
        """The columns that are needed of each side, and the one of its times."""
        times = self.query.time or (None, None)
        return [(self.query.needed_columns(side), time) for side, time in enumerate(times)]

    @property
    def _session(self) -> SparkSession | None:
        """The session of a DataFrame or a stream among both sides; None if there is none."""
        known = (source.session for source in self.sources)
        return next((session for session in known if session is not None), None)

    def choice(self, spark: SparkSession | None = None) -> GridChoice:
        """The grid that runs, and why; joins without a session use one core."""
        from windrow.planner.join_layout import (
            choose_grid,
            choose_line,
            choose_stream_grid,
        )
        from windrow.planner.plans import STREAM_WORKERS

        rates, cores = self.rates or (1, 1), 1
        session = self._session or spark
        if session is not None:
            from windrow.spark.cores import cores_of

            cores = cores_of(session)
            if self._is_stream and not self._is_given:
                # The state must be the same on any number of cores.
                if self.strategy == "grid":
                    return choose_stream_grid(self.query, self.rates)
                cores = STREAM_WORKERS
        elif self.rates is None and (tables := self._tables) is not None:
            rates = len(tables[0]) or 1, len(tables[1]) or 1
        if self.strategy != "grid":
            return choose_line(self.degree, cores)
        given = self.layout, self.degree, self.partitions
        return choose_grid(self.query, *given, cores=cores, rates=rates)

    def stages(self, spark: SparkSession | None = None) -> Stages:
        """The emitters and workers that run."""
        from windrow.patterns.joins import join_stages

        return join_stages(self.query, self.choice(spark).grid, self.strategy)

    @checks_call
    def collect(self) -> pa.Table:
        """Run in process and return the results."""
        from windrow.engine.datasets.steps import Side, Step, join_steps
        from windrow.engine.joins.in_process import collect

        if (tables := self._tables) is not None:
            steps: Iterable[list[Step]] = [[Step(tables[0]), Step(tables[1], side=1)]]
        elif (datasets := self._datasets) is not None:
            left, right = (
                Side(source.reading(columns, time), source.pieces, time)
                for source, (columns, time) in zip(datasets, self._needed, strict=True)
            )
            steps = join_steps(left, right)
        else:
            rule = "collect runs joins of tables and datasets"
            raise WindrowError(rule, "rows on Spark", "call to_df() instead.")
        return collect(self.query, self.stages(), steps)

    @checks_call
    def to_df(
        self,
        spark: SparkSession | Observation | str | None = None,
        observation: Observation | str | None = None,
    ) -> DataFrame:
        """The results as a lazy DataFrame, which is streaming if a side is a stream.

        Datasets are read by the tasks of the session ``spark``, by default the active one. A
        DataFrame or a stream of files has a session of its own.

        An ``observation``, which may also come first, counts the rows without a time as
        ``dropped``. On a stream it is a name, by default ``"windrow"``. Every progress report then
        shows, under this name, the number of rows dropped in its batch: rows without a time and
        rows that came too late.
        """
        if self._tables is not None:
            rule = "to_df runs joins of Spark DataFrames and datasets"
            hint = "call collect() instead, or join pyarrow.dataset.dataset(table)."
            raise WindrowError(rule, "tables", hint)
        from windrow.spark.joins import bounded_join, stream_join

        given, observed = told_apart(spark, observation)
        session, sides = self._on_spark(given)
        if not self._is_stream:
            return bounded_join(self.query, self.stages(session), sides, observed)
        return stream_join(
            self.query,
            self.stages(session),
            self._identity(),
            sides,
            is_given=self._is_given,
            observation=observed,
        )

    @checks_call
    def check_checkpoint(self, location: str | PathLike[str]) -> None:
        """Raise unless this join can continue from the checkpoint, or begin there as a new one.

        See ``Query.check_checkpoint``.
        """
        if not self._is_stream:
            given = "bounded DataFrames" if self._tables is None else "tables"
            raise WindrowError("only a streaming query has a checkpoint", given)
        from windrow.spark.checkpoint import refuse_other_checkpoint

        assert self._session is not None
        refuse_other_checkpoint(self._session, path_of(location, "location"), self._identity())

    def _on_spark(self, spark: SparkSession | None) -> tuple[SparkSession, Sides]:
        """The session, and both sides as rows in it."""
        from windrow.engine.joins.checks import check_names
        from windrow.spark.given_session import check_session, is_case_sensitive, session_of

        session = self._session or session_of(spark)
        check_names(self.query, is_case_sensitive=is_case_sensitive(session))
        left, right = (self._rows(side, session) for side in (0, 1))
        for rows in (left, right):
            check_session(spark, rows)
        return session, (left, right)

    def _rows(self, side: int, session: SparkSession) -> Side:
        source: Any = self.sources[side]
        if self._is_stream and not source.is_stream:
            rows: Side = source.df
            return rows
        rows = source.rows_on(session, *self._needed[side])
        return rows

    def _reads(self, side: int, session: SparkSession) -> str:
        """Who reads the rows of a side, in words."""
        source: Any = self.sources[side]
        if self._is_stream and not source.is_stream:
            return "with Spark's reader: it is joined with a stream"
        words: str = source.reads_on(session, *self._needed[side])
        return words

    @property
    def _is_stream(self) -> bool:
        return any(source.is_stream for source in self.sources)

    @property
    def _is_given(self) -> bool:
        """Whether the user has set the number of workers."""
        return any(given is not None for given in (self.layout, self.degree, self.partitions))

    def _identity(self) -> dict[str, Any]:
        """Everything the meaning of stored state depends on, as data."""
        own = {"strategy": self.strategy, "grid": asdict(self.choice().grid)}
        return {**self.query.identity(), **own}

    @checks_call
    def explain(self, mode: ExplainMode = "simple") -> None:
        """Print what will run and why.

        ``mode="spark"`` appends Spark's own plan. ``"cost"`` prints the layouts that were weighed,
        with predictions and a sentence each. ``"json"`` prints all of it as data, with a version.
        """
        one_of(mode, get_args(ExplainMode), "mode")
        decision = self._decision()
        if mode == "cost":
            print(decision.explain_cost())
        elif mode == "json":
            print(dumps(decision.as_data(), indent=2))
        else:
            print(decision.explain())
        if mode == "spark":
            # A name that no query before it has taken.
            self.to_df("explained" if self._is_stream else None).explain()

    def _repr_html_(self) -> str:
        """What notebooks show: the decision and the layouts that were weighed."""
        return self._decision().as_html()

    def _decision(self) -> JoinDecision:
        from windrow.planner.join_decision import JoinDecision

        runs, reads, cores = "in this process", [], 1
        if (session := self._session) is not None:
            from windrow.spark.cores import cores_of

            kind = "as a stream, state in Spark's state store" if self._is_stream else "as tasks"
            runs = f"on Spark, {kind}, on rows packed as Arrow"
            reads = [self._reads(side, session) for side in (0, 1)]
            cores = cores_of(session)
        return JoinDecision(
            self.query,
            self.choice(),
            self.strategy,
            self.stages(),
            runs,
            tuple(reads),
            cores,
            self.rates,
            self._is_stream,
        )


def _source_of(data: object, step: str) -> Any:
    """The source of a side; a query that is nothing but its rows stands for them."""
    from windrow.api.query import Query

    if not isinstance(data, Query):
        return source_of(data, step)
    if data != Query(data.source):
        hint = "join its results: pass what its to_df() or collect() gives."
        raise WindrowError(f"{step} takes rows, not a query with further steps", repr(data), hint)
    return data.source


def _matched(sources: list[Any], got: str) -> list[Any]:
    """Both sides as sources that a join can run over; a table beside a dataset becomes one."""
    from windrow.api.datasets import DatasetSource
    from windrow.api.tables import TableSource

    kinds = set(map(type, sources))
    if DatasetSource in kinds and TableSource in kinds:
        import pyarrow.dataset as ds

        return [
            DatasetSource(ds.dataset(s.table)) if isinstance(s, TableSource) else s for s in sources
        ]
    if TableSource in kinds and len(kinds) > 1:
        rule = "both sides of a join must be DataFrames or datasets, or tables or datasets"
        hint = "a table becomes a DataFrame with spark.createDataFrame(table)."
        raise WindrowError(rule, got, hint)
    if DatasetSource in kinds and any(s.is_stream for s in sources):
        hint = "join the stream with spark.read.parquet(...)."
        raise WindrowError("a dataset cannot be joined with a stream", got, hint)
    return sources
