"""What every window model says about itself: context, axis, columns, bounds and panes."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Enum
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from windrow.core.durations import microseconds
from windrow.core.errors import WindrowError, received

Int64s: TypeAlias = NDArray[np.int64]


class Context(Enum):
    """What determines the windows of a row (Mencagli 2018, section 2.2)."""

    CF = "context free: the row's own time or rank"
    FCF = "forward context free: the row and those before it"
    FCA = "forward context aware: also rows after it"


class Axis(Enum):
    """The quantity that bounds a model's windows."""

    TIME = "event time, in microseconds"
    RANK = "a row's rank within its key"
    ATTRIBUTE = "the value of the model's first column"


class WindowModel(ABC):
    """A window model: which rows belong to window w of a key.

    The model describes itself; the windower registered for it in ``windrow.engine.windows`` decides
    which windows fire. In every model a window is a contiguous run of its key's ordered rows.
    """

    context: ClassVar[Context]
    axis: ClassVar[Axis]
    needs_event_time: ClassVar[bool] = True
    ranks_tuples: ClassVar[bool]
    """Whether windows depend on the ranks of rows, so that a late row can no longer be placed."""
    are_bursts: ClassVar[bool] = False
    """Whether a window is a burst of rows, so that an average rate tells little of its rows."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The input columns the model needs; rows with a null or NaN there are dropped."""
        return ()

    def with_columns(self, names: tuple[str, ...]) -> WindowModel:
        """The same model over columns of other names.

        Spark finds a column in any case of its name. A model with columns that does not override
        this takes exact names only.
        """
        rule = f"{type(self).__name__} takes the exact names of columns"
        raise WindrowError(rule, f"{list(self.columns)}", f"write {list(names)}.")

    def check_types(self, types: Mapping[str, str]) -> None:
        """Raise a ``WindrowError`` if the model cannot use columns of these types (DDL names)."""
        return

    def bound_type(self, types: Mapping[str, str], time: str | None) -> str:
        """The type of ``window_start`` and ``window_end``, as a DDL name."""
        if self.axis is Axis.RANK:
            return "bigint"
        if self.axis is Axis.ATTRIBUTE:
            return "double"
        assert time is not None
        return "timestamp" if types[time] == "timestamp" else "timestamp_ntz"

    def closed_at(self, time: int) -> int:
        """The watermark by which the windows of a row at ``time`` have fired, if they ever do."""
        return time + 1

    @property
    def newest_lag(self) -> int | None:
        """How far a window's newest row can be behind a watermark that has not fired the window.

        It is in microseconds; None if there is no limit.
        """
        return None

    def expected_rows(self, rate: float) -> tuple[float, float] | None:
        """The rows of a window, and those between the starts of two, on average; None: unknown.

        ``rate`` is the number of rows of a key per microsecond.
        """
        return None

    @property
    def overlap(self) -> float | None:
        """How many windows a row belongs to, about; None: unknown, or told by ``expected_rows``."""
        return None

    @property
    def shares_tuples(self) -> bool:
        """Whether a row may belong to several windows."""
        return True

    @property
    def pane_length(self) -> int | None:
        """The greatest length that divides the bounds of every window; None if there is none."""
        return None


class MappedWindow(WindowModel):
    """A context-free model: a row's windows follow from its position, that is its time or rank."""

    context = Context.CF

    @abstractmethod
    def mapping(self, position: Int64s) -> tuple[Int64s, Int64s]:
        """M: the first and last id of each row's windows; first > last if it has none."""

    @abstractmethod
    def bounds(self, ids: Int64s) -> tuple[Int64s, Int64s]:
        """The start and end of each window."""

    def panes(self, span: int = 1) -> MappedWindow:
        """The panes as windows: window p consists of pane p and the ``span - 1`` behind it.

        A model with a ``pane_length`` must define them, for the spans of its ``pane_span``.
        """
        raise self._without("panes")

    def panes_begin(self) -> int:
        """Where pane 0 begins."""
        begins, _ = self.panes().bounds(np.zeros(1, np.int64))
        return int(begins[0])

    def pane_span(self, n: int) -> int:
        """How many neighbouring panes the windows i, i + n, i + 2n, ... never cut apart."""
        return 1

    def in_panes(self) -> MappedWindow:
        """The same windows in units of panes: a row's position is the number of its pane.

        A model with a ``pane_length`` must define them.
        """
        raise self._without("in_panes")

    def _without(self, method: str) -> WindrowError:
        rule = f"a window model with a pane_length must define {method}()"
        return WindrowError(rule, type(self).__name__, "define it, or leave pane_length out.")


def mapped(model: WindowModel) -> MappedWindow:
    """The model, which must be context free."""
    assert isinstance(model, MappedWindow), model
    return model


def call(model: WindowModel, *values: object, **options: object) -> str:
    """The Python expression that makes the model; options that are None are left out."""
    given = {name: value for name, value in options.items() if value is not None}
    arguments = [json.dumps(value) for value in values]
    arguments += [f"{name}={json.dumps(value)}" for name, value in given.items()]
    return f"{type(model).__name__}({', '.join(arguments)})"


def positive_duration(value: object, what: str, hint: str | None = None) -> int:
    """A positive duration, in microseconds."""
    length = microseconds(value, what)
    if length <= 0:
        raise WindrowError(f"{what} must be a positive duration", received(what, value), hint)
    return length
