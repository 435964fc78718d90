"""The window a user's function sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from windrow.core.errors import WindrowError, near_names


class Window:
    """A window's tuples as read-only NumPy columns, in order, with its key, id and bounds.

    The columns are views: no tuple is copied to build it. ``key`` is the key's value, a tuple of
    values if the query has several key columns, None if it has none. ``start`` and ``end`` are of
    the event-time column's kind (``numpy.datetime64`` for timestamps; for integers, in the unit
    of ``event_time``, rounded outwards to whole ones), ranks or attribute values.
    A pane or a part of a window has the pane's, or its window's, id and bounds.

    A window may be a part ``lo:hi`` of longer columns; a column is cut when it is looked at.

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
        except KeyError:
            raise WindrowError(
                f"the window has no column {column!r}", hint=near_names(column, self._columns)
            ) from None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._columns)

    def __len__(self) -> int:
        """The number of tuples."""
        return self._hi - self._lo

    def __repr__(self) -> str:
        bounds = f"[{self.start}, {self.end})"
        return f"Window(id={self.id}, key={self.key!r}, {bounds}, {len(self)} tuples)"
