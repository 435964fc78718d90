"""The algebra of aggregates: lift -> combine -> lower, and what may be done with it as types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import reduce
from inspect import signature
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from windrow.core.errors import WindrowError

In = TypeVar("In")
Partial = TypeVar("Partial")
Out = TypeVar("Out")


class Aggregate(ABC, Generic[In, Partial, Out]):
    """A function of a window's values in three steps.

    ``lift`` makes a partial of one value, ``combine`` merges the partials of two neighbouring runs
    of tuples, older first, and ``lower`` turns the whole window's partial into its result.
    ``combine`` is associative: that is what lets panes be shared between windows.

    The value is that of the aggregate's column, or a tuple of values if it has several. A tuple
    with a null among them is skipped, as in Spark; a window without any other gives ``empty``.

    A constructor keeps each argument that is not a column in an attribute of the same name: that
    is how it becomes part of the aggregate's ``repr`` and of its ``identity``.

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
    """The result's type, as in Spark's DDL."""
    empty: ClassVar[Any] = None
    """The result of a window without a value."""
    skips_nulls: bool = True
    """Whether a tuple with a null among its values is passed over; if not, lift sees None."""

    columns: tuple[str, ...] = ()
    """The columns whose values it takes."""
    takes_position: ClassVar[bool] = False
    """Whether lift sees ``(position, value, ...)``, the tuple's rank within its key first.

    It lets an order-sensitive function, such as ``first``, be Commutative all the same.
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
        """The constructor's arguments other than columns, where they differ from the default."""
        held = vars(self)
        found = {}
        for name, parameter in signature(type(self).__init__).parameters.items():
            value = held.get(name, held.get(f"_{name}", parameter.default))
            if name != "columns" and _plain(value) != _plain(parameter.default):
                found[name] = value
        return found

    def identity(self) -> dict[str, Any]:
        """The class, the columns and the parameters, as JSON can hold them.

        Two aggregates of one identity compute the same, so one may go on with the other's state.
        A parameter that is added later, with a default, changes no identity.
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
        """The partial of two neighbouring runs, ``a`` the older; must not change either."""

    @abstractmethod
    def lower(self, partial: Partial) -> Out:
        """The result of a window with this partial."""

    def combine_all(self, partials: Sequence[Partial]) -> Partial:
        """The partial of many neighbouring runs, oldest first; at least one.

        Worth overriding where many are put together more cheaply at once than one by one.
        """
        return reduce(self.combine, partials)

    @property
    def combines_at_once(self) -> bool:
        """Whether ``combine_all`` does better than one by one."""
        return type(self).combine_all is not Aggregate.combine_all

    def result_type(self, *inputs: str) -> str:
        """The type of the result over columns of these types; refuses those it cannot take."""
        return self.returns

    def native(self, *inputs: str) -> str | None:
        """The same function as an expression of Spark SQL, over columns of these types.

        ``{0}``, ``{1}`` stand for the columns, ``{order}`` for what orders the tuples of a window,
        as in ``"min_by({0}, {order})"``. It must give the function's result for every window:
        nulls skipped, ``empty`` where no value is left. None: Spark has no such expression. A
        subclass that computes something else must override it.
        """
        return None

    def over(self, values: Iterable[Any]) -> Out | None:
        """The result over the values of one window, oldest first, by the definition."""
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
        """What lift sees of a tuple at ``position`` of its key."""
        if not self.takes_position:
            return value
        return (position, *value) if isinstance(value, tuple) else (position, value)


class Invertible(Aggregate[In, Partial, Out]):
    """An aggregate whose older tuples can be taken out again.

    A window is then the difference of two running partials: one ``combine`` per tuple and one
    ``subtract`` per window, however the windows lie. Running partials must be exact for that:
    integers, Decimals, or tuples of them. With floats, whose differences lose digits, an
    Invertible is computed as any other Aggregate.
    """

    @abstractmethod
    def subtract(self, whole: Partial, older: Partial) -> Partial:
        """The partial p with ``combine(older, p) == whole``."""


class Commutative(Aggregate[In, Partial, Out]):
    """An aggregate that is not order-sensitive: ``combine(a, b) == combine(b, a)``.

    The parts of a window need not be contiguous runs then, so a ``WinMapReduce`` may deal its
    tuples round-robin.
    """


class Idempotent(Aggregate[In, Partial, Out]):
    """An aggregate to which repetition makes no difference: ``combine(a, a) == a``.

    Two overlapping runs then cover a window, so windows in any order and of any length take one
    ``combine`` each, from a table of runs whose lengths are powers of two.
    """


def _has_null(value: object) -> bool:
    return value is None or (isinstance(value, tuple) and any(v is None for v in value))


def _plain(value: Any) -> Any:
    """The value as JSON can hold it, the same in every process."""
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
    # Python's own repr of an object is its address, which another process does not know.
    named = type(value) if written is object.__repr__ else value
    return getattr(named, "__qualname__", repr(value))
