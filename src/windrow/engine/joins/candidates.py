"""Candidate pairs as terms see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from numpy.typing import NDArray

from windrow.core.errors import WindrowError, near_names
from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.storage import ColumnStorage, Stored
from windrow.engine.joins.attributes import SIDES
from windrow.engine.joins.messages import data_of
from windrow.kernels.columns import Column

if TYPE_CHECKING:
    from windrow.engine.joins.terms.term import Term


class Columns:
    """The columns of one side's tuples in several forms, each of which is made once."""

    def __init__(self, side: int, tuples: pa.Table) -> None:
        self.side, self.tuples = side, tuples
        self._made: dict[Any, Any] = {}

    @property
    def data(self) -> pa.Table:
        """The columns that are not control columns."""
        return self.once("data", lambda: data_of(self.tuples))

    def attribute(self, term: Term) -> Column:
        """The attribute that a term narrows by."""
        made: Column = self.once(
            ("attribute", id(term)), lambda: term.attribute(self.side, self.tuples)[0]
        )
        return made

    def keep(self, term: Term, attribute: Column) -> None:
        """Store the attribute that a term narrows by, if it is known already."""
        self.once(("attribute", id(term)), lambda: attribute)

    def shown(self, name: str, positions: Int64s) -> NDArray[Any]:
        """A column at some positions, as a user's function sees it."""
        storage = ColumnStorage(self.tuples.schema.field(name).type)
        stored: Stored = self.once(("stored", name), lambda: storage.store(self.tuples[name]))
        return storage.show(stored.take(positions))

    def once(self, form: Any, make: Callable[[], Any]) -> Any:
        """The result of ``make``, which is called only the first time."""
        if form not in self._made:
            self._made[form] = make()
        return self._made[form]


class Candidates(Mapping[str, NDArray[Any]]):
    """One side of ``n`` candidate pairs: the columns a term uses, as read-only NumPy arrays.

    Nulls are NaN, NaT or None.
    """

    def __init__(self, columns: Columns, term: Term, positions: Int64s) -> None:
        self._columns, self._term, self._positions = columns, term, positions
        self._names = list(term.columns(columns.side) or columns.data.column_names)
        self._shown: dict[str, NDArray[Any]] = {}
        self.n = len(positions)

    @property
    def attribute(self) -> Column:
        """The attribute that the term narrows by."""
        return self._columns.attribute(self._term)[self._positions]

    def arrow(self, column: str) -> pa.ChunkedArray:
        """A column as Arrow holds it."""
        return self._columns.tuples[column].take(pa.array(self._positions))

    def __getitem__(self, column: str) -> NDArray[Any]:
        if column not in self._shown:
            if column not in self._names:
                rule = f"the {SIDES[self._columns.side]} side has no column {column!r}"
                raise WindrowError(rule, hint=near_names(column, self._names))
            self._shown[column] = self._columns.shown(column, self._positions)
        return self._shown[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        """The number of columns, as in any mapping."""
        return len(self._names)
