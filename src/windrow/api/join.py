"""Building a join: immutable, and checked as it is built, before anything runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from windrow.api.sources import source_of
from windrow.core.durations import microseconds
from windrow.core.errors import WindrowError, received
from windrow.core.predicates import Predicate

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from windrow.engine.joins.join_query import JoinQuery
    from windrow.engine.stages.nodes import Stages
    from windrow.patterns.joins import Strategy
    from windrow.planner.join_layout import GridChoice

STRATEGIES = ("grid", "centralised", "handshake")
_LONGEST = 2**60


def join(
    left: object,
    right: object,
    *,
    within: object,
    on: Predicate,
    time: str | tuple[str, str] | None = None,
    delay: object = 0,
    how: str = "inner",
    layout: object = None,
    degree: int | None = None,
    partitions: int | None = None,
    strategy: str = "grid",
    rates: tuple[float, float] | None = None,
    prefixes: tuple[str, str] = ("left_", "right_"),
) -> Join:
    """The window join of two streams: pairs near each other in time, or in number of tuples.

    ``within`` is a duration for windows of time, or a number of tuples for windows by count; a
    pair is the left's and the right's window. By time, (x, y) is a result iff the predicate ``on``
    holds and ``time(x) >= time(y) - left length`` where x is older, ``time(y) >= time(x) - right
    length`` otherwise. By count, iff one sees the other: a right tuple the last ``left length``
    left tuples before it, a left tuple the last ``right length`` right ones. The order is by
    ``time``, of one time the left ones first; without ``time`` the tuples of both sides come in
    turn.

    ``how`` is inner, left_outer, right_outer, full_outer, semi or anti: what has not matched (semi:
    what has) comes once its window is over. Columns have the prefix of their side, also those of
    semi and anti joins, which are the left's only.

    ``layout=(m, n)``, ``"linear"``, ``"rectangular"`` or ``"square"`` is the grid of workers,
    ``degree`` their number, ``partitions`` how many grids there are, by hash of what the predicate
    compares. ``rates`` are how many tuples a second both sides bring, for the choice of a layout;
    of tables their lengths. ``strategy`` "centralised" and "handshake" are the baselines, slower
    than "grid".

    >>> import numpy as np
    >>> from windrow import band
    >>> asks = {"ts": np.array([0, 4, 9]), "price": np.array([10.0, 10.5, 30.0])}
    >>> bids = {"ts": np.array([3, 8]), "price": np.array([10.2, 10.4])}
    >>> pairs = join(asks, bids, within="5 us", on=band(price=0.25), time="ts").collect()
    >>> pairs.select(["left_ts", "right_ts"]).to_pylist()
    [{'left_ts': 0, 'right_ts': 3}, {'left_ts': 4, 'right_ts': 8}]
    """
    from windrow.engine.joins.join_query import HOWS, JoinQuery

    sources: Any = (
        source_of(left, "the left side of join"),
        source_of(right, "the right side of join"),
    )
    if type(sources[0]) is not type(sources[1]):
        rule = "both sides of a join must be DataFrames, or both tables"
        raise WindrowError(rule, f"{type(left).__name__} and {type(right).__name__}")
    schemas = sources[0].schema, sources[1].schema
    lengths, by_count = _lengths(within)
    if not isinstance(on, Predicate):
        hint = 'for example on=wr.equi("symbol") & wr.band(price=0.01).'
        raise WindrowError("on must be a predicate", received("on", on), hint)
    if how not in HOWS:
        raise WindrowError(f"how must be one of {HOWS}", received("how", how))
    if strategy not in STRATEGIES:
        raise WindrowError(f"strategy must be one of {STRATEGIES}", received("strategy", strategy))
    query = JoinQuery(
        schemas=schemas,
        on=on,
        lengths=lengths,
        by_count=by_count,
        time=_times(time, by_count),
        delay=_delay(delay),
        how=how,
        prefixes=_prefixes(prefixes),
    )
    from windrow.engine.joins.checks import check

    check(query)
    made = Join(sources, query, layout, degree, partitions, strategy, _rates(rates))  # type: ignore[arg-type]
    made.choice()
    return made


@dataclass(frozen=True)
class Join:
    """A join of two streams."""

    sources: tuple[Any, Any] = field(repr=False)
    query: JoinQuery
    layout: object = None
    degree: int | None = None
    partitions: int | None = None
    strategy: Strategy = "grid"
    rates: tuple[float, float] | None = None

    @property
    def _is_on_spark(self) -> bool:
        from windrow.api.tables import TableSource

        return not isinstance(self.sources[0], TableSource)

    def choice(self) -> GridChoice:
        """The grid that runs, and why; in process there is one core."""
        from windrow.planner.join_layout import choose_grid

        rates, cores = self.rates or (1, 1), 1
        if self._is_on_spark:
            from windrow.spark.cores import cores_of

            cores = cores_of(self.sources[0].df.sparkSession)
        elif self.rates is None:
            rates = len(self.sources[0].table) or 1, len(self.sources[1].table) or 1
        given = self.layout, self.degree, self.partitions
        return choose_grid(self.query, *given, cores=cores, rates=rates)

    def stages(self) -> Stages:
        """The emitters and workers that run."""
        from windrow.patterns.joins import join_stages

        return join_stages(self.query, self.choice().grid, self.strategy)

    def collect(self) -> pa.Table:
        """Run in process and return the results."""
        from windrow.engine.joins.in_process import collect

        if self._is_on_spark:
            rule = "collect runs joins of tables"
            raise WindrowError(rule, "Spark DataFrames", "call to_df() instead.")
        left, right = (source.table for source in self.sources)
        return collect(self.query, self.stages(), left, right)

    def to_df(self, observation: str = "windrow") -> DataFrame:
        """The results as a lazy DataFrame, a streaming one if a side is a stream.

        On a stream ``observation`` is the name under which progress reports have the number of
        tuples dropped.
        """
        if not self._is_on_spark:
            rule = "to_df runs joins of Spark DataFrames"
            raise WindrowError(rule, "tables", "call collect() instead.")
        from windrow.spark.joins import to_df

        sides = self.sources[0].df, self.sources[1].df
        return to_df(self.query, self.stages(), self._signature(), sides, observation)

    def _signature(self) -> str:
        query, grid = self.query, self.choice().grid
        columns = [f"{f.name} {f.type}" for schema in query.schemas for f in schema]
        return (
            f"join(within={query.lengths}, by_count={query.by_count}, on={query.on.describe()!r}, "
            f"time={query.time}, how={query.how!r}, strategy={self.strategy!r}) on {grid!r} "
            f"of {', '.join(columns)}"
        )

    def explain(self) -> None:
        """Print what will run and why."""
        from windrow.planner.explain_join import explain_join

        runs = "in this process"
        if self._is_on_spark:
            is_stream = any(source.df.isStreaming for source in self.sources)
            kind = "as a stream, state in Spark's state store" if is_stream else "as tasks"
            runs = f"on Spark, {kind}, on rows packed as Arrow"
        print(explain_join(self.query, self.choice(), self.strategy, self.stages(), runs))


def _lengths(within: object) -> tuple[tuple[int, int], bool]:
    """The left's and the right's window, and whether they are numbers of tuples."""
    both = within if isinstance(within, tuple) else (within, within)
    if len(both) != 2:
        hint = 'write within="5 minutes", or within=("5 minutes", "1 minute").'
        raise WindrowError("within is one length or a pair", received("within", within), hint)
    counts = [isinstance(w, int | np.integer) and not isinstance(w, np.timedelta64) for w in both]
    if counts[0] != counts[1]:
        rule = "both windows must be of time, or both of tuples"
        raise WindrowError(rule, received("within", within))
    lengths = [microseconds(w, "join within") for w in both]
    if min(lengths) <= 0:
        rule = "join within must be a positive duration or number of tuples"
        raise WindrowError(rule, received("within", within))
    if max(lengths) > _LONGEST:
        rule = "join within must be less than 30,000 years"
        raise WindrowError(rule, received("within", within))
    return (lengths[0], lengths[1]), counts[0]


def _times(time: Any, by_count: bool) -> tuple[str, str] | None:
    if time is None:
        if by_count:
            return None
        hint = 'pass time="column", or a number of tuples as within.'
        raise WindrowError("windows of time need an event time", hint=hint)
    both = time if isinstance(time, tuple) else (time, time)
    if len(both) != 2 or not all(isinstance(name, str) for name in both):
        rule = "join time must be the name of a column, or a pair of names"
        raise WindrowError(rule, received("time", time))
    return both


def _delay(delay: object) -> int:
    micros = microseconds(delay, "join delay")
    if micros < 0:
        raise WindrowError("join delay must not be negative", received("delay", delay))
    return micros


def _rates(rates: Any) -> tuple[float, float] | None:
    if rates is None:
        return None
    is_pair = isinstance(rates, tuple | list) and len(rates) == 2
    if not is_pair or not all(isinstance(r, int | float) and 0 < r < math.inf for r in rates):
        rule = "rates must be a pair of positive numbers"
        raise WindrowError(rule, received("rates", rates), "for example (1000, 50).")
    return float(rates[0]), float(rates[1])


def _prefixes(prefixes: Any) -> tuple[str, str]:
    is_pair = isinstance(prefixes, tuple | list) and len(prefixes) == 2
    if not is_pair or not all(isinstance(p, str) for p in prefixes):
        rule = "prefixes must be a pair of texts"
        raise WindrowError(rule, received("prefixes", prefixes), 'for example ("l_", "r_").')
    return prefixes[0], prefixes[1]
