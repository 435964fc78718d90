"""A query as the engine sees it: the input, its windows and the function computed on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from windrow.core.aggregate import Aggregate
from windrow.core.computation import Aggregation, Apply, Computation, Decompose, Fold
from windrow.core.durations import TimeUnit
from windrow.core.errors import WindrowError
from windrow.core.models import Axis, WindowModel
from windrow.core.statistics import UNKNOWN, Statistics
from windrow.engine.columns.ddl import parse_schema, parse_type
from windrow.functions.columnar import Columnar

OpenWindows = Literal["emit", "drop"]
"""Whether windows still open at the end of bounded input are emitted or dropped."""

ID, START, END = "window_id", "window_start", "window_end"
CONTROL_COLUMNS = (ID, START, END)


@dataclass(frozen=True)
class WindowQuery:
    """A validated window query over columns of known types."""

    types: dict[str, str]
    keys: tuple[str, ...]
    time: str | None
    delay: int
    order_by: tuple[str, ...]
    model: WindowModel
    open_windows: OpenWindows
    computation: Computation
    idle_timeout: int | None = None
    unit: TimeUnit = "us"
    """The unit of the event time if it is an integer."""
    rank: str | None = None
    """The column with the rank of each tuple within its key; None if tuples are ranked here."""
    hints: Statistics = UNKNOWN
    """What the user knows about the rows and the function. It never changes the results."""
    prefers_native: bool = False
    """Whether Spark's own aggregation was measured to be faster where it can compute the query."""

    @property
    def runs_kernels(self) -> bool:
        """Whether functions are computed over many windows at once: no user's is called."""
        computation = self.computation
        return isinstance(computation, Aggregation) and all(
            isinstance(function, Columnar) for function in computation.functions.values()
        )

    def result_schema(self) -> pa.Schema:
        """The names and types of the result columns, without key and window columns."""
        computation = self.computation
        if isinstance(computation, Aggregation):
            return pa.schema(
                pa.field(name, self._result_type(f), nullable=f.empty is None)
                for name, f in computation.functions.items()
            )
        assert isinstance(computation, Apply | Fold | Decompose)
        return parse_schema(computation.returns, "returns")

    def _result_type(self, function: Aggregate[Any, Any, Any]) -> pa.DataType:
        return parse_type(function.result_type(*(self.types[c] for c in function.columns)))

    def partial_schema(self, round: int = -1) -> pa.Schema:
        """The columns of the partials of ``decompose`` in one round, by default the last."""
        assert isinstance(self.computation, Decompose)
        return parse_schema(self.computation.rounds[round].partial_returns, "partial_returns")

    def arrow_type(self, column: str) -> pa.DataType:
        """The type of an input column."""
        try:
            return parse_type(self.types[column])
        except WindrowError:
            rule = f"the function cannot read column {column!r} of type {self.types[column]}"
            raise WindrowError(
                rule, hint="select the columns it needs, or cast this one."
            ) from None

    def output_schema(self, key_types: dict[str, pa.DataType]) -> pa.Schema:
        """The key columns, the window's id and bounds, then the results."""
        bound = self.bound_type()
        control = [pa.field(ID, pa.int64(), False)]
        control += [pa.field(name, bound, False) for name in (START, END)]
        keys = [pa.field(k, key_types[k]) for k in self.keys]
        return pa.schema([*keys, *control, *self.result_schema()])

    def bound_type(self) -> pa.DataType:
        """The type of ``window_start`` and ``window_end``."""
        return parse_type(self.model.bound_type(self.types, self.time))

    def result_lags(self) -> dict[str, int]:
        """The result columns that keep up with the watermark, and how far they may be behind it.

        A result comes when the watermark reaches the end of its window, so the end is never behind
        the watermark of the batch before. The time of the window's newest tuple may be older.
        """
        if self.time is None:
            return {}
        lags = {END: 0} if self.model.axis is Axis.TIME else {}
        newest = self.model.newest_lag
        if newest is not None and isinstance(self.computation, Aggregation):
            for name, function in self.computation.functions.items():
                if function.gives_newest and tuple(function.columns) == (self.time,):
                    lags[name] = newest
        return lags
