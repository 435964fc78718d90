"""The four kinds of window function that a query can compute."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from windrow.core.aggregate import Aggregate, Commutative
from windrow.core.checks import check_callable
from windrow.core.errors import WindrowError
from windrow.core.window import Window

Rows = Mapping[str, Any] | Sequence[Mapping[str, Any]]


class Computation(ABC):
    """A window function."""

    @property
    @abstractmethod
    def is_decomposable(self) -> bool:
        """Whether it can be computed on panes or parts of a window whose results are combined."""

    @property
    def is_order_sensitive(self) -> bool:
        """Whether it is order-sensitive: parts must then be contiguous runs of tuples."""
        return False


@dataclass(frozen=True)
class Aggregation(Computation):
    """``.agg(name=function, ...)``: incremental, with partials shared between windows."""

    functions: Mapping[str, Aggregate[Any, Any, Any]]

    is_decomposable = True

    def __post_init__(self) -> None:
        if not self.functions:
            raise WindrowError("agg needs a function", hint="for example agg(n=wf.count()).")
        for name, function in self.functions.items():
            if not isinstance(function, Aggregate):
                raise WindrowError(
                    f"agg takes functions of windrow.functions or an Aggregate for {name!r}",
                    repr(function),
                    _instead_of(function, name),
                )

    @property
    def is_order_sensitive(self) -> bool:
        return not all(isinstance(f, Commutative) for f in self.functions.values())

    @property
    def columns(self) -> list[str]:
        return [c for f in self.functions.values() for c in f.columns]


def _instead_of(function: object, name: str) -> str:
    """What to pass to ``agg`` in place of something that is no aggregate."""
    origins = (getattr(function, "__module__", None) or "", type(function).__module__)
    if origins[0].startswith("windrow.functions"):
        return f'call it, for example {name}=wf.{getattr(function, "__name__", "sum")}("price").'
    if isinstance(function, str) or any(o.startswith("pyspark.") for o in origins):
        return f'write it as {name}=wf.sum("price"), with windrow.functions imported as wf.'
    return "use apply() for any function of the whole window."


@dataclass(frozen=True)
class Apply(Computation):
    """``.apply(function, returns)``: any function of the whole window."""

    function: Callable[[Window], Rows]
    returns: str

    is_decomposable = False

    def __post_init__(self) -> None:
        check_callable(self.function, 1, "apply needs a function for function")


@dataclass(frozen=True)
class Fold(Computation):
    """``.fold(update, init, returns)``: one row at a time, oldest first."""

    update: Callable[[Any, Mapping[str, Any]], Any]
    init: Any
    returns: str

    is_decomposable = False

    def __post_init__(self) -> None:
        check_callable(self.update, 2, "fold needs a function for update")


@dataclass(frozen=True)
class Round:
    """One map and reduce: ``partial`` on panes or parts, ``combine`` on the list of results.

    From the second round on, ``partial`` also gets what ``combine`` returned in the round before.
    """

    partial: Callable[..., Mapping[str, Any]]
    combine: Callable[[list[Mapping[str, Any]]], Any]
    partial_returns: str


@dataclass(frozen=True)
class Decompose(Computation):
    """``.decompose(partial=G, combine=H)``: one or several rounds of map and reduce."""

    rounds: tuple[Round, ...]
    returns: str

    is_decomposable = True

    @property
    def last(self) -> Round:
        """The round whose ``combine`` gives the result."""
        return self.rounds[-1]

    @staticmethod
    def of(partial: Any, combine: Any, partial_returns: Any, returns: str) -> Decompose:
        """One round, or one per element of three lists of equal length."""
        columns = [v if isinstance(v, list) else [v] for v in (partial, combine, partial_returns)]
        lengths = [len(column) for column in columns]
        if len(set(lengths)) > 1 or not lengths[0]:
            raise WindrowError(
                "decompose takes one partial, combine and partial_returns per round",
                f"{lengths[0]}, {lengths[1]} and {lengths[2]} of them",
            )
        rounds = tuple(Round(*r) for r in zip(*columns, strict=True))
        for number, r in enumerate(rounds):
            arguments = 1 if number == 0 else 2
            check_callable(r.partial, arguments, "decompose needs a function for partial")
            check_callable(r.combine, 1, "decompose needs a function for combine")
        return Decompose(rounds, returns)
