"""Building a query: immutable, and checked as it is built, before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from windrow.core.aggregate import Aggregate
from windrow.core.computation import Aggregation, Apply, Computation, Decompose, Fold, Rows
from windrow.core.durations import Duration, microseconds
from windrow.core.errors import WindrowError, near_names, received
from windrow.core.models import WindowModel
from windrow.core.window import Window
from windrow.patterns import Pattern, WinSeq, check_pattern

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, Observation

    from windrow.engine.window_query import OpenWindows, WindowQuery


Partial: TypeAlias = Callable[..., Mapping[str, Any]]
Combine: TypeAlias = Callable[[list[Mapping[str, Any]]], Any]


class Source(Protocol):
    """Tuples with named columns of known types."""

    types: dict[str, str]

    def resolve(self, column: object, step: str) -> tuple[Source, str]:
        """The name of a column or an expression, of a source that has it."""


def stream(data: object) -> Query:
    """A query over a Spark DataFrame, a PyArrow table, or a dict of NumPy arrays.

    >>> import numpy as np
    >>> from windrow import functions as wf, CountWindow
    >>> q = stream({"x": np.arange(5)}).window(CountWindow(2)).agg(total=wf.sum("x"))
    >>> q.collect()["total"].to_pylist()
    [1, 5, 4]
    """
    if type(data).__module__.startswith("pyspark."):
        from windrow.spark.source import DataFrameSource

        return Query(DataFrameSource.of(data))
    from windrow.engine.source import TableSource

    source = TableSource.of(data)
    if source is None:
        raise WindrowError(
            "stream takes a Spark DataFrame, a PyArrow table or a dict of NumPy arrays",
            type(data).__name__,
            "a pandas DataFrame becomes a table with pyarrow.Table.from_pandas(df).",
        )
    return Query(source)


@dataclass(frozen=True)
class Query:
    """A window query; every step returns a new one and checks all that is known so far."""

    source: Source = field(repr=False)
    keys: tuple[str, ...] = ()
    time: str | None = None
    delay: int = 0
    idle_timeout: int | None = None
    ordered_by: tuple[str, ...] = ()
    model: WindowModel | None = None
    open_windows: OpenWindows = "emit"
    computation: Computation | None = None
    pattern: Pattern | None = None
    is_ordered: bool = False

    def key_by(self, *columns: str | Column) -> Query:
        """Windows are per key: a tuple of these columns' values. Null is a key."""
        query, names = self._resolved("key_by", columns)
        for name in names:
            kind = query.source.types[name]
            if kind.startswith(("map", "array")):
                raise WindrowError("a key cannot be a map or an array", f"{name!r} of {kind}")
        return replace(query, keys=names)._checked()

    def event_time(
        self, column: str | Column, delay: Duration = 0, idle_timeout: Duration | None = None
    ) -> Query:
        """When a tuple happened, and how late after it tuples may still come.

        On a stream that has brought nothing for ``idle_timeout``, the windows of its last tuple
        close; tuples that come for them later are late.
        """
        query, (name,) = self._resolved("event_time", (column,))
        kind = query.source.types[name]
        if kind not in ("timestamp", "timestamp_ntz", "date", "bigint", "int"):
            raise WindrowError(
                "event_time takes a column of timestamps, dates or integer microseconds",
                f"{name!r} of {kind}",
                "convert it first, for example with to_timestamp().",
            )
        micros = microseconds(delay, "event_time delay")
        if micros < 0:
            raise WindrowError("event_time delay must not be negative", received("delay", delay))
        idle = None if idle_timeout is None else microseconds(idle_timeout, "idle_timeout")
        if idle is not None and idle <= 0:
            raise WindrowError("idle_timeout must be positive", received("idle_timeout", idle))
        return replace(query, time=name, delay=micros, idle_timeout=idle)._checked()

    def order_by(self, *columns: str | Column) -> Query:
        """Breaks ties of event time, ascending; arrival breaks the rest."""
        query, names = self._resolved("order_by", columns)
        for name in names:
            kind = query.source.types[name]
            if kind.startswith(("map", "array", "struct")):
                raise WindrowError("order_by takes columns of plain values", f"{name!r} of {kind}")
        return replace(query, ordered_by=names)._checked()

    def window(self, model: WindowModel, open_windows: OpenWindows = "emit") -> Query:
        """The window model; ``open_windows="drop"`` keeps only what a stream would have fired."""
        if not isinstance(model, WindowModel):
            hint = "for example wr.CountWindow(1000, slide=10)."
            raise WindrowError("window takes a window model", repr(model), hint)
        if open_windows not in ("emit", "drop"):
            raise WindrowError(
                'open_windows must be "emit" or "drop"', received("open_windows", open_windows)
            )
        self._resolved(type(model).__name__, model.columns, at_least=0)
        model.check_types(self.source.types)
        return replace(self, model=model, open_windows=open_windows)._checked()

    def agg(self, **functions: Aggregate[Any, Any, Any]) -> Query:
        """Aggregates of each window, by result name."""
        Aggregation(functions)
        query, named = self, {}
        for name, function in functions.items():
            query, columns = query._resolved(name, function.columns, at_least=0)
            named[name] = function
            if any(not isinstance(c, str) for c in function.columns):
                named[name] = copy(function)
                named[name].columns = columns
        return query._computing(Aggregation(named))

    def apply(self, function: Callable[[Window], Rows], returns: str) -> Query:
        """Any function of the whole window, giving a dict or a list of dicts."""
        return self._computing(Apply(function, returns))

    def fold(
        self, update: Callable[[Any, Mapping[str, Any]], Any], init: Any, returns: str
    ) -> Query:
        """``update(acc, row)`` over the window's tuples, oldest first, from ``init``."""
        return self._computing(Fold(update, init, returns))

    def decompose(
        self,
        *,
        partial: Partial | list[Partial],
        combine: Combine | list[Combine],
        partial_returns: str | list[str],
        returns: str,
    ) -> Query:
        """``partial`` on panes or parts of a window, ``combine`` on the list of their results.

        Lists of them are rounds: from the second on ``partial`` is called with the window's part
        and with what ``combine`` returned in the round before; the last ``combine`` gives the
        result.
        """
        decompose = Decompose.of(partial, combine, partial_returns, returns)
        return self._computing(decompose)

    def using(self, pattern: Pattern) -> Query:
        """The parallel pattern to run with."""
        if not isinstance(pattern, Pattern):
            raise WindrowError("using takes a pattern", repr(pattern), "for example wr.KeyFarm(4).")
        return replace(self, pattern=pattern)._checked()

    def ordered(self) -> Query:
        """Results in order of key and window id."""
        return replace(self, is_ordered=True)

    def collect(self) -> pa.Table:
        """Run in process and return the results; for queries over tables."""
        from windrow.engine.in_process import collect
        from windrow.engine.source import TableSource
        from windrow.patterns.windows import window_stages

        if not isinstance(self.source, TableSource):
            raise WindrowError(
                "collect runs queries over tables", "a Spark DataFrame", "call to_df() instead."
            )
        query = self.window_query()
        stages = window_stages(query, self.pattern or WinSeq(), in_one_process=True)
        return collect(query, stages, self.source.table, ordered=self.is_ordered)

    def to_df(self, observation: Observation | str | None = None) -> DataFrame:
        """The results as a lazy Spark DataFrame; for queries over DataFrames, bounded or not.

        An ``observation`` counts, as ``dropped``, the rows without a time or delta attribute. On
        a stream it is a name, ``"windrow"`` if not given, under which every progress report of
        the streaming query has the rows dropped in its batch: those, and those that came too
        late for every window.
        """
        from windrow.engine.source import TableSource

        if isinstance(self.source, TableSource):
            raise WindrowError(
                "to_df runs queries over Spark DataFrames", "a table", "call collect() instead."
            )
        from windrow.spark import bounded, streaming

        query, df = self.window_query(), self.source.df  # type: ignore[attr-defined]
        if df.isStreaming:
            name = observation or streaming.METRICS
            if not isinstance(name, str):
                hint = 'for example to_df(observation="dropped").'
                raise WindrowError("on a stream observation takes a name", repr(name), hint)
            return streaming.to_df(query, df, self.pattern, ordered=self.is_ordered, metrics=name)
        if isinstance(observation, str):
            raise WindrowError(
                "on a bounded DataFrame observation takes an Observation",
                repr(observation),
                "make one with pyspark.sql.Observation().",
            )
        return bounded.to_df(
            query, df, self.pattern, ordered=self.is_ordered, observation=observation
        )

    def explain(self, mode: Literal["simple", "spark"] = "simple") -> None:
        """Print what will run and why; ``mode="spark"`` appends Spark's own plan."""
        from windrow.engine.source import TableSource
        from windrow.patterns.windows import window_stages
        from windrow.planner.explain import explain

        if mode not in ("simple", "spark"):
            raise WindrowError('mode must be "simple" or "spark"', received("mode", mode))
        query = self.window_query()
        if isinstance(self.source, TableSource):
            pattern = self.pattern or WinSeq()
            why = "as given" if self.pattern else "in process there is one core"
            stages = window_stages(query, pattern, in_one_process=True)
            print(explain(query, pattern, why, stages, "in this process"))
            return
        from windrow.spark.explain import explain_lowering

        print(explain_lowering(query, self.source.df, self.pattern))  # type: ignore[attr-defined]
        if mode == "spark":
            self.to_df().explain()

    def _resolved(
        self, step: str, columns: tuple[Any, ...], at_least: int = 1
    ) -> tuple[Query, tuple[str, ...]]:
        """The names of columns or expressions, of a query whose source has them all."""
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
        """Itself, if all that is known of it so far fits together."""
        if self.model is None or self.computation is None:
            return self
        if self.model.needs_event_time and self.time is None:
            raise WindrowError(
                f"{type(self.model).__name__} needs an event time",
                hint='call event_time("column") before the function.',
            )
        query = self.window_query()
        self._check_result_names(query)
        is_agg = isinstance(self.computation, Aggregation)
        for name in self.computation.columns if is_agg else query.types:  # type: ignore[attr-defined]
            query.arrow_type(name)
        if self.pattern is not None:
            check_pattern(self.pattern, self.model, self.computation)
        return self

    def _check_result_names(self, query: WindowQuery) -> None:
        from windrow.engine.window_query import CONTROL_COLUMNS

        taken = {name.casefold(): name for name in (*self.keys, *CONTROL_COLUMNS)}
        if len(taken) < len(self.keys) + len(CONTROL_COLUMNS):
            rule = f"a key column must not be named {CONTROL_COLUMNS}"
            raise WindrowError(rule, f"{list(self.keys)}", "rename it first.")
        if isinstance(self.computation, Decompose):
            for r in self.computation.rounds:
                clash = [n for n in _partial_names(r.partial_returns) if n in self.keys]
                if clash:
                    rule = "fields of partial_returns must differ from the key columns"
                    raise WindrowError(rule, f"{clash}", "choose another name.")
        for name in query.result_schema().names:
            if name.casefold() in taken:
                raise WindrowError(
                    "result names must differ from the key columns, the window's columns "
                    "and each other",
                    f"{name!r}, which is {taken[name.casefold()]!r} already",
                    "choose another name.",
                )
            taken[name.casefold()] = name

    def window_query(self) -> WindowQuery:
        """The query as the engine sees it."""
        from windrow.engine.window_query import WindowQuery

        if self.model is None:
            raise WindrowError("the query has no window", hint="call window() first.")
        if self.computation is None:
            hint = "call agg(), fold(), apply() or decompose()."
            raise WindrowError("the query computes nothing", hint=hint)
        return WindowQuery(
            types=self.source.types,
            keys=self.keys,
            time=self.time,
            delay=self.delay,
            order_by=self.ordered_by,
            model=self.model,
            open_windows=self.open_windows,
            computation=self.computation,
            idle_timeout=self.idle_timeout,
        )


def _partial_names(returns: str) -> list[str]:
    from windrow.engine.columns.ddl import parse_schema

    names: list[str] = parse_schema(returns, "partial_returns").names
    return names
