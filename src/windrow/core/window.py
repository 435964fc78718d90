"""The window a user's function sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from numpy.typing import NDArray

from windrow.core.errors import UnknownName, WindrowError, near_names


class Window:
    """A window's rows as read-only NumPy columns, in order, with its key, id and bounds.

    The columns are views: no row is copied to build a window. ``key`` is the value of the key
    column, a tuple of values if there are several key columns, or None if there are none.
    ``start`` and ``end`` have the type of the event-time column: ``numpy.datetime64`` for
    timestamps; for integers, whole numbers in the unit of ``event_time``, rounded outwards. In
    other models they are ranks or attribute values. A pane has its own id and bounds; a part of a
    window has those of its window.

    A window may be the slice ``lo:hi`` of longer columns; a column is sliced when it is accessed.

    >>> import numpy as np
    >>> w = Window({"price": np.array([1.0, 3.0])}, key="A", id=0, start=0, end=2)
    >>> len(w), w["price"].mean()
    (2, np.float64(2.0))
    """

    __slots__ = ("_columns", "_hi", "_lo", "end", "id", "key", "start")

    def __init__(
        self,
        columns: Mapping[str, NDArray[Any]],
        *,
        key: Any,
        id: int,
        start: Any,
        end: Any,
        lo: int = 0,
        hi: int | None = None,
    ) -> None:
        self._columns = columns
        self._lo = lo
        self._hi = len(next(iter(columns.values()), ())) if hi is None else hi
        self.key, self.id, self.start, self.end = key, id, start, end

    def __getitem__(self, column: str) -> NDArray[Any]:
        try:
            return self._columns[column][self._lo : self._hi]
        except (KeyError, TypeError):
            hint = near_names(str(column), self._columns)
            raise WindrowError(f"the window has no column {column!r}", hint=hint) from None

    def __getattr__(self, name: str) -> NoReturn:
        """Say how a column is read."""
        if name.startswith("_"):
            raise AttributeError(name)
        known = name in self._columns
        hint = f"a column is read as w[{name!r}]." if known else near_names(name, self._columns)
        raise UnknownName(f"a window has no attribute {name!r}", hint=hint)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._columns)

    def __len__(self) -> int:
        """The number of rows."""
        return self._hi - self._lo

    def __repr__(self) -> str:
        bounds = f"[{self.start}, {self.end})"
        return f"Window(id={self.id}, key={self.key!r}, {bounds}, {len(self)} rows)"
