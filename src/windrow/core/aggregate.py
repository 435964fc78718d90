"""The algebra of aggregates: lift -> combine -> lower, with its laws declared as types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import reduce
from inspect import signature
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from windrow.core.decimals import wide_decimals
from windrow.core.errors import WindrowError

In = TypeVar("In")
Partial = TypeVar("Partial")
Out = TypeVar("Out")


class Aggregate(ABC, Generic[In, Partial, Out]):
    """A function of a window's values in three steps.

    ``lift`` makes a partial of one value, ``combine`` merges the partials of two neighbouring runs
    of rows, older first, and ``lower`` turns the whole window's partial into its result.
    ``combine`` must be associative, so that windows can share panes.

    A value is that of the aggregate's column, or a tuple of values if it has several columns. A row
    with a null in any of them is skipped, as in Spark; if no row is left, the result is ``empty``.

    A constructor must keep each argument that is not a column in an attribute of the same name, so
    that it becomes part of the aggregate's ``repr`` and ``identity``.

    >>> class Spread(Commutative[float, tuple[float, float], float]):
    ...     returns = "double"
    ...
    ...     def lift(self, value):
    ...         return value, value
    ...
    ...     def combine(self, a, b):
    ...         return min(a[0], b[0]), max(a[1], b[1])
    ...
    ...     def lower(self, partial):
    ...         return partial[1] - partial[0]
    >>> Spread("price").over([3.0, None, 7.0, 5.0])
    4.0
    """

    returns: ClassVar[str] = "double"
    """The type of the result, as in Spark's DDL."""
    empty: ClassVar[Any] = None
    """The result of a window without a value."""
    skips_nulls: bool = True
    """Whether rows with a null among their values are skipped; if not, ``lift`` gets None."""

    columns: tuple[str, ...] = ()
    """The columns whose values the aggregate takes."""
    takes_position: ClassVar[bool] = False
    """Whether ``lift`` gets ``(position, value, ...)``; the position is the row's rank in its key.

    With positions, an order-sensitive function such as ``first`` can be Commutative.
    """

    gives_newest: ClassVar[bool] = False
    """Whether the result over the event time is that of the window's newest row, as a maximum is.

    Then it keeps up with the watermark of a stream, so a query behind can take it as event time.
    """

    def __init__(self, *columns: str) -> None:
        for column in columns:
            if isinstance(column, str) and not column:
                raise WindrowError(f"{self.name} needs the name of a column", repr(column))
        self.columns = columns

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments that are not columns and differ from their defaults.

        So is the type of the result, if it is this aggregate's own and not that of its class.
        """
        held = {**_in_slots(self), **vars(self)}
        found = {"returns": held["returns"]} if "returns" in held else {}
        for name, parameter in signature(type(self).__init__).parameters.items():
            value = held.get(name, held.get(f"_{name}", parameter.default))
            if name != "columns" and _plain(value) != _plain(parameter.default):
                found[name] = value
        return found

    def identity(self) -> dict[str, Any]:
        """The class, the columns and the parameters, as JSON-able data.

        Two aggregates with the same identity compute the same, so one can continue with the other's
        state. A parameter that is added later, with a default, changes no identity.
        """
        parameters = {name: _plain(value) for name, value in self.parameters.items()}
        return {
            "class": type(self).__qualname__,
            "columns": list(self.columns),
            "parameters": parameters,
        }

    def __repr__(self) -> str:
        parameters = (f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.name}({', '.join([*map(repr, self.columns), *parameters])})"

    @abstractmethod
    def lift(self, value: In) -> Partial:
        """The partial of a single value."""

    @abstractmethod
    def combine(self, a: Partial, b: Partial) -> Partial:
        """The partial of two neighbouring runs, ``a`` the older; must not modify ``a`` or ``b``."""

    @abstractmethod
    def lower(self, partial: Partial) -> Out:
        """The result of a window whose partial this is, which must not be modified: it is kept."""

    def combine_all(self, partials: Sequence[Partial]) -> Partial:
        """The partial of one or more neighbouring runs, oldest first.

        Override it if combining many partials at once is cheaper than one by one.
        """
        return reduce(self.combine, partials)

    @property
    def combines_at_once(self) -> bool:
        """Whether ``combine_all`` is overridden."""
        return type(self).combine_all is not Aggregate.combine_all

    def result_type(self, *inputs: str) -> str:
        """The type of the result over columns of these types; raises if it cannot take them."""
        return self.returns

    native_since: ClassVar[tuple[int, int]] = (4, 0)
    """The first release of Spark whose expression gives the same results."""

    def native(self, *inputs: str) -> str | None:
        """The same function as a Spark SQL expression over columns of these types.

        ``{0}`` and ``{1}`` stand for the columns, ``{order}`` for the expression that orders the
        rows of a window, as in ``"min_by({0}, {order})"``. It must give the function's result for
        every window: nulls skipped, ``empty`` if no value is left. None means that Spark has no
        such expression. A subclass that computes something else must override it.
        """
        return None

    def over(self, values: Iterable[Any]) -> Out | None:
        """The result over the values of one window, oldest first, computed by the definition."""
        with wide_decimals():
            partials = [
                self.lift(self.at(position, value))
                for position, value in enumerate(values)
                if not (self.skips_nulls and _has_null(value))
            ]
            if not partials:
                empty: Out | None = self.empty
                return empty
            return self.lower(self.combine_all(partials))

    def at(self, position: int, value: Any) -> Any:
        """The argument of ``lift`` for a row at ``position`` of its key."""
        if not self.takes_position:
            return value
        return (position, *value) if isinstance(value, tuple) else (position, value)


class Invertible(Aggregate[In, Partial, Out]):
    """An aggregate whose older rows can be subtracted again.

    A window is then the difference of two running partials: one ``combine`` per row and one
    ``subtract`` per window, for windows of any shape. This requires exact partials: integers,
    Decimals, or tuples of them. Differences of floats lose digits, so with float partials an
    Invertible is computed like any other Aggregate.
    """

    @abstractmethod
    def subtract(self, whole: Partial, older: Partial) -> Partial:
        """The partial p with ``combine(older, p) == whole``."""


class Commutative(Aggregate[In, Partial, Out]):
    """An aggregate that is not order-sensitive: ``combine(a, b) == combine(b, a)``.

    The parts of a window need not be contiguous runs, so ``WinMapReduce`` can deal its rows
    round-robin.
    """


class Idempotent(Aggregate[In, Partial, Out]):
    """An aggregate that ignores repetition: ``combine(a, a) == a``.

    Two overlapping runs can then cover a window. With a table of runs whose lengths are powers of
    two, each window takes one ``combine``, in any order and of any length.
    """


def _in_slots(value: object) -> dict[str, Any]:
    """The attributes that are in slots of the value's class, by name."""
    declared = [vars(c).get("__slots__", ()) for c in type(value).__mro__]
    names = [n for slots in declared for n in ([slots] if isinstance(slots, str) else slots)]
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def _has_null(value: object) -> bool:
    return value is None or (isinstance(value, tuple) and any(v is None for v in value))


def _plain(value: Any) -> Any:
    """The value as JSON-able data that is the same in every process."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value), key=repr)
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    written: object = type(value).__repr__
    # The default repr contains the object's address, which differs between processes.
    named = type(value) if written is object.__repr__ else value
    return getattr(named, "__qualname__", repr(value))
