"""Queries as a user builds them: immutable, and checked before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from json import dumps
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, Union, get_args

from windrow.api.missteps import not_a_step, warn_of_unit_in_name
from windrow.api.sources import Source, told_apart
from windrow.core.aggregate import Aggregate
from windrow.core.calls import checks_call
from windrow.core.checks import one_of, path_of
from windrow.core.computation import Aggregation, Apply, Computation, Decompose, Fold, Rows
from windrow.core.durations import Duration, TimeUnit, microseconds
from windrow.core.errors import WindrowError, near_names, received
from windrow.core.models import WindowModel, over_ranks
from windrow.core.statistics import UNKNOWN, Statistics, hinted
from windrow.core.types import is_comparable, is_plain, refused
from windrow.core.window import Window
from windrow.patterns import KeyFarm, Pattern, check_pattern

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, Observation, SparkSession
    from pyspark.sql.types import DataType

    from windrow.engine.window_query import OpenWindows, WindowQuery


Partial: TypeAlias = Callable[..., Mapping[str, Any]]
Combine: TypeAlias = Callable[[list[Mapping[str, Any]]], Rows]
Returns: TypeAlias = Union[str, "DataType"]
"""Names and types of fields: ``"a double, b int"``, or a ``StructType``."""


@dataclass(frozen=True)
class Query:
    """A window query; every step returns a new one and checks what is known so far."""

    source: Source = field(repr=False)
    keys: tuple[str, ...] = ()
    time: str | None = None
    delay: int = 0
    idle_timeout: int | None = None
    unit: TimeUnit = "us"
    ordered_by: tuple[str, ...] = ()
    ranked_by: str | None = None
    model: WindowModel | None = None
    open_windows: OpenWindows = "emit"
    computation: Computation | None = None
    pattern: Pattern | None = None
    is_ordered: bool = False
    hints: Statistics = UNKNOWN
    prefers_native: bool = field(default=False, repr=False)
    """Whether ``tune`` has found Spark's own aggregation to be the fastest."""
    tuning: pa.Table | None = field(default=None, repr=False, compare=False)
    """What ``tune`` has measured: the plans it tried, the fastest first."""

    def __getattr__(self, name: str) -> NoReturn:
        """Say which step comes nearest to what the query does not have."""
        steps = [n for n, step in vars(Query).items() if callable(step) and n[0] != "_"]
        raise not_a_step(name, steps)

    @checks_call
    def key_by(self, *columns: str | Column) -> Query:
        """Compute windows per key: per combination of these columns' values. Null is a key."""
        query, names = self._resolved("key_by", columns)
        for name in names:
            kind = query.source.types[name]
            if not is_comparable(kind):
                raise refused("a key must be of plain values, or of structs of them", kind, name)
        return replace(query, keys=names)._checked()

    @checks_call
    def event_time(
        self,
        column: str | Column,
        delay: Duration = 0,
        idle_timeout: Duration | None = None,
        unit: TimeUnit = "us",
    ) -> Query:
        """The column that says when a row happened.

        A row may arrive after rows that are up to ``delay`` newer; later than that it is late. If a
        stream receives nothing for ``idle_timeout``, the windows of its last row close; rows that
        arrive for them afterwards are late.

        A column of integers counts from 1970 in ``unit``: ``"s"``, ``"ms"``, ``"us"`` or
        ``"ns"``. Windrow works with whole microseconds: nanoseconds are rounded down, and rows
        within one microsecond are ordered by ``order_by`` and arrival.
        """
        query, (name,) = self._resolved("event_time", (column,))
        kind = query.source.types[name]
        if kind not in ("timestamp", "timestamp_ntz", "date", "bigint", "int"):
            raise WindrowError(
                "event_time takes a column of timestamps, dates or integers",
                f"{name!r} of {kind}",
                "convert it first, for example with to_timestamp().",
            )
        one_of(unit, get_args(TimeUnit), "event_time unit")
        if unit != "us" and kind not in ("bigint", "int"):
            rule = "only integer times can have a unit"
            got = f"{received('unit', unit)} for {name!r} of {kind}"
            raise WindrowError(rule, got, "leave unit out: the type tells it.")
        if unit == "us" and kind in ("bigint", "int"):
            warn_of_unit_in_name(name)
        micros = microseconds(delay, "event_time delay")
        if micros < 0:
            raise WindrowError("event_time delay must not be negative", received("delay", delay))
        idle = None if idle_timeout is None else microseconds(idle_timeout, "idle_timeout")
        if idle is not None and idle <= 0:
            raise WindrowError("idle_timeout must be positive", received("idle_timeout", idle))
        return replace(query, time=name, delay=micros, idle_timeout=idle, unit=unit)._checked()

    @checks_call
    def order_by(self, *columns: str | Column) -> Query:
        """Order rows with equal event time by these columns, ascending, then by arrival."""
        query, names = self._resolved("order_by", columns)
        for name in names:
            kind = query.source.types[name]
            if not is_plain(kind):
                raise refused("order_by takes columns of plain values", kind, name)
        return replace(query, ordered_by=names)._checked()

    @checks_call
    def rank_by(self, column: str | Column) -> Query:
        """The column that holds each row's rank within its key: 0, 1, 2, ... without gaps.

        Count windows then need no time and nobody to rank the rows. A row takes its place once all
        rows of lower ranks have come, however late they are, and a window fires when it is
        complete. A rank that comes twice is an error, and so is one that is missing at the end of
        bounded input. Other windows take the rank as they take ``order_by``: it orders rows with
        equal event time.
        """
        query, (name,) = self._resolved("rank_by", (column,))
        kind = query.source.types[name]
        if kind not in ("tinyint", "smallint", "int", "bigint"):
            rule = "rank_by takes a column of integers: 0, 1, 2, ... within a key"
            raise WindrowError(rule, f"{name!r} of {kind}", "cast it first.")
        return replace(query, ranked_by=name)._checked()

    @checks_call
    def window(self, model: WindowModel, open_windows: OpenWindows = "emit") -> Query:
        """The window model; ``open_windows="drop"`` gives only what a stream would have fired."""
        if not isinstance(model, WindowModel):
            hint = "for example wr.CountWindow(1000, slide=10)."
            raise WindrowError("window takes a window model", repr(model), hint)
        one_of(open_windows, ("emit", "drop"), "open_windows")
        query, names = self._resolved(type(model).__name__, model.columns, at_least=0)
        if names != model.columns:
            model = model.with_columns(names)
        model.check_types(query.source.types)
        return replace(query, model=model, open_windows=open_windows)._checked()

    @checks_call
    def agg(self, /, *unnamed: object, **functions: Aggregate[Any, Any, Any]) -> Query:
        """Aggregates of each window, by result name: ``agg(n=wf.count())``."""
        if unnamed:
            hint = "for example agg(total=wf.sum('price'))."
            raise WindrowError("agg takes functions by result name", repr(unnamed[0]), hint)
        Aggregation(functions)
        query, named = self, {}
        for name, function in functions.items():
            query, columns = query._resolved(name, function.columns, at_least=0)
            named[name] = function
            # Not compared: an expression would give another one.
            if any(own is not c for own, c in zip(columns, function.columns, strict=True)):
                named[name] = copy(function)
                named[name].columns = columns
        return query._computing(Aggregation(named))

    @checks_call
    def apply(self, function: Callable[[Window], Rows], returns: Returns) -> Query:
        """Any function of the whole window; it returns a dict or a list of dicts."""
        return self._computing(Apply(function, _ddl(returns)))

    @checks_call
    def fold(
        self, update: Callable[[Any, Mapping[str, Any]], Any], init: Any, returns: Returns
    ) -> Query:
        """Call ``update(acc, row)`` for each row of a window, oldest first, from ``init`` on."""
        return self._computing(Fold(update, init, _ddl(returns)))

    @checks_call
    def decompose(
        self,
        *,
        partial: Partial | list[Partial],
        combine: Combine | list[Combine],
        partial_returns: Returns | list[Returns],
        returns: Returns,
    ) -> Query:
        """Call ``partial`` on panes or parts of a window, then ``combine`` on the list of results.

        Lists of functions are rounds. From the second round on, ``partial`` is called with the part
        and with what ``combine`` returned in the round before. The last ``combine`` returns the
        result.
        """
        if isinstance(partial_returns, list):
            fields: Any = [_ddl(r) for r in partial_returns]
        else:
            fields = _ddl(partial_returns)
        return self._computing(Decompose.of(partial, combine, fields, _ddl(returns)))

    @checks_call
    def using(self, pattern: Pattern) -> Query:
        """Run with this parallel pattern."""
        if not isinstance(pattern, Pattern):
            raise WindrowError("using takes a pattern", repr(pattern), "for example wr.KeyFarm(4).")
        return replace(self, pattern=pattern, prefers_native=False)._checked()

    @checks_call
    def hint(
        self,
        *,
        keys: int | None = None,
        skew: float | None = None,
        rate: float | None = None,
        cost: Duration | None = None,
        hot_keys: Mapping[Any, float] | None = None,
    ) -> Query:
        """Tell the planner what it cannot see; hints change how a query runs, never its results.

        ``keys`` is the number of keys, ``skew`` the share of the rows that the most frequent key
        has, ``rate`` the rows per second of event time, and ``cost`` what the function costs per
        window. ``hot_keys`` names frequent keys with their shares: ``{"ACME": 0.5}``. What you
        leave out stays as it was hinted before.
        """
        hints = hinted(keys, skew, rate, cost, hot_keys).or_else(self.hints)
        return replace(self, hints=hints)._checked()

    @checks_call
    def hint_from(self, checkpoint: str | PathLike[str]) -> Query:
        """Tell the planner what the checkpoint of an earlier run knows: its keys and their skew.

        For a stream that starts with a new checkpoint, or for a bounded query over the same rows: a
        stream keeps its pattern as long as it has its checkpoint. Numbers that were hinted before
        stay.
        """
        from windrow.core.packages import require

        require("hint_from", "spark", "pyspark")
        from windrow.spark.checkpoint_contents import statistics_of
        from windrow.spark.given_session import session_of

        hint = "make one first, for example with wr.local_spark()."
        session = session_of(getattr(self.source, "session", None), "hint_from", hint)
        found = statistics_of(session, path_of(checkpoint, "checkpoint"))
        return replace(self, hints=self.hints.or_else(found))

    @checks_call
    def ordered(self) -> Query:
        """Give results in order of key and window id."""
        return replace(self, is_ordered=True)

    @checks_call
    def collect(self, threads: int | None = None) -> pa.Table:
        """Run in process and return the results; for queries over tables and datasets.

        At most ``threads`` threads work at a time, by default as many as this process may use
        cores. Functions of your own in Python are called in the calling thread only.
        """
        return self.source.collect(
            self._complete(), self.pattern, ordered=self.is_ordered, threads=threads
        )

    @checks_call
    def to_df(
        self,
        spark: SparkSession | Observation | str | None = None,
        observation: Observation | str | None = None,
    ) -> DataFrame:
        """The results as a lazy Spark DataFrame; for queries over DataFrames and datasets.

        A dataset is read by the tasks of the session ``spark``, by default the active one. A
        DataFrame has a session of its own.

        An ``observation``, which may also come first, counts the rows without a time or delta
        attribute as ``dropped``. On a stream it is a name, by default ``"windrow"``. Every progress
        report of the streaming query then shows, under this name, the number of rows dropped in
        its batch: rows without a time or delta attribute and rows that came too late for every
        window.
        """
        session, observed = told_apart(spark, observation)
        return self.source.to_df(
            self._complete(),
            self.pattern,
            session,
            ordered=self.is_ordered,
            observation=observed,
        )

    @checks_call
    def check_checkpoint(self, location: str | PathLike[str]) -> None:
        """Raise unless this query can continue from the checkpoint, or begin there as a new one.

        For queries over streams: the message says what the checkpoint was written by, what the
        query is, and what to do. Call it before ``start()``. Spark compares some parts of a stream
        with its checkpoint by itself, with messages that do not name the difference.
        """
        self.source.check_checkpoint(self._complete(), self.pattern, path_of(location, "location"))

    @checks_call
    def explain(self, mode: Literal["simple", "spark", "cost", "json"] = "simple") -> None:
        """Print what will run and why.

        ``mode="spark"`` appends Spark's own plan. ``"cost"`` prints the plans that were weighed,
        with their predicted throughput and what limits them. ``"json"`` prints all of it as data,
        with a version.
        """
        one_of(mode, ("simple", "spark", "cost", "json"), "mode")
        query = self._complete()
        if mode == "cost":
            print(self.source.decision(query, self.pattern).explain_cost())
        elif mode == "json":
            print(dumps(self.source.decision(query, self.pattern).as_data(), indent=2))
        else:
            self.source.explain(query, self.pattern, with_spark=mode == "spark")

    def _repr_html_(self) -> str | None:
        """What notebooks show: the decision and its plans; nothing of a query that lacks a step."""
        if self.model is None or self.computation is None:
            return None
        from windrow.planner.picture import as_html

        return as_html(self.source.decision(self._complete(), self.pattern))

    def _resolved(
        self, step: str, columns: tuple[Any, ...], at_least: int = 1
    ) -> tuple[Query, tuple[str, ...]]:
        """The names of columns or expressions, and the query over a source that has them."""
        if len(columns) < at_least:
            raise WindrowError(f"{step} needs the name of a column")
        source, names = self.source, []
        for given in columns:
            source, name = source.resolve(given, step)
            if name not in source.types:
                known = near_names(name, source.types)
                raise WindrowError(f"{step}: column not found: {name!r}", hint=known)
            names.append(name)
        if len(set(names)) < len(names) and step in ("key_by", "order_by"):
            raise WindrowError(f"{step} names a column twice", f"{names}")
        return replace(self, source=source), tuple(names)

    def _computing(self, computation: Computation) -> Query:
        return replace(self, computation=computation)._checked()

    def _checked(self) -> Query:
        """The query itself; raises if the parts known so far do not fit together."""
        if self.ranked_by is not None and self.ordered_by:
            rule = "rank_by tells the order of the rows of a key already"
            got = f"order_by of {list(self.ordered_by)}"
            raise WindrowError(rule, got, "leave one of them out.")
        if self.model is None or self.computation is None:
            return self
        if self.model.needs_event_time and self.time is None:
            raise WindrowError(
                f"{type(self.model).__name__} needs an event time",
                hint='call event_time("column") before the function.',
            )
        from windrow.api.checks import check_columns, check_hot_keys, check_result_names

        query = self.window_query()
        check_columns(query)
        check_result_names(query, is_case_sensitive=self.source.is_case_sensitive)
        if self.pattern is not None:
            check_pattern(self.pattern, self.model, self.computation)
        check_hot_keys(query, self.pattern)
        return self

    def _complete(self) -> WindowQuery:
        """The query to run; raises if it lacks what later steps could still have added."""
        query = self.window_query()
        if isinstance(self.pattern, KeyFarm) and not self.keys:
            raise WindrowError(
                "KeyFarm spreads keys over its workers, but the query has no keys",
                repr(self.pattern),
                "call key_by(), or use a WinFarm, a PaneFarm or a WinMapReduce.",
            )
        return query

    def window_query(self) -> WindowQuery:
        """The query as the engine sees it."""
        from windrow.engine.window_query import WindowQuery

        if self.model is None:
            raise WindrowError("the query has no window", hint="call window() first.")
        if self.computation is None:
            hint = "call agg(), fold(), apply() or decompose()."
            raise WindrowError("the query computes nothing", hint=hint)
        # Ranks alone place the rows of count windows, whatever their times are.
        rank = self.ranked_by if over_ranks(self.model) else None
        by_rank = () if rank or self.ranked_by is None else (self.ranked_by,)
        return WindowQuery(
            types=self.source.types,
            keys=self.keys,
            time=None if rank else self.time,
            delay=0 if rank else self.delay,
            order_by=self.ordered_by or by_rank,
            model=self.model,
            open_windows=self.open_windows,
            computation=self.computation,
            idle_timeout=None if rank else self.idle_timeout,
            rank=rank,
            unit=self.unit,
            hints=self.hints,
            prefers_native=self.prefers_native,
        )


def _ddl(returns: Returns) -> str:
    """The fields in Spark's DDL; parsing it refuses anything that is not valid."""
    return returns.simpleString() if hasattr(returns, "simpleString") else returns
