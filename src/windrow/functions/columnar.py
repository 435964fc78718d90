"""The columnar form of a function: its results over many ranges of ordered tuples at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

Int64s = NDArray[np.int64]
TakenAs = Literal["floats", "exactly"]
"""How a function takes decimals: as the nearest floats, or as the integers that Arrow holds."""


@dataclass(frozen=True)
class Values:
    """A column of values or of results.

    ``values`` holds int64 or float64, or objects for results that are lists or dicts. Where
    ``valid`` is false the value is null, whatever ``values`` holds. If ``valid`` is None, no value
    is null. With a ``scale``, the values are decimals: wide integers, see
    :mod:`windrow.kernels.wide_integers`, divided by ``10**scale``.

    >>> Values.where(np.array([True, False]), np.array([7, 0])).to_list()
    [7, None]
    """

    values: NDArray[Any]
    valid: NDArray[np.bool_] | None = None
    scale: int | None = None

    @classmethod
    def where(
        cls, valid: NDArray[np.bool_], values: NDArray[Any], scale: int | None = None
    ) -> Values:
        """The values, null where ``valid`` is false."""
        return cls(values, None if valid.all() else valid, scale)

    @classmethod
    def of_objects(cls, results: Sequence[Any]) -> Values:
        """A column of lists or dicts, null where None.

        >>> Values.of_objects([[1, 2], None]).valid
        array([ True, False])
        """
        column = np.fromiter(results, dtype=object, count=len(results))
        return cls.where(np.array([r is not None for r in results], dtype=np.bool_), column)

    def __len__(self) -> int:
        return len(self.values)

    def to_list(self) -> list[Any]:
        """The values as Python objects, None where null."""
        values: list[Any] = self.values.tolist()
        if self.valid is None:
            return values
        return [v if ok else None for v, ok in zip(values, self.valid.tolist(), strict=True)]


class Columnar(ABC):
    """A function that can be computed over many ranges at once."""

    returns_values_of: ClassVar[int | None] = None
    """The index of the column whose values the results consist of.

    A column whose type is not int64 or float64 is passed as int64 codes that keep its order and
    equality. The results then contain codes, in lists and dicts too.
    """

    takes_codes: ClassVar[bool] = False
    """Whether the function needs only the order and the equality of values, which codes keep.

    It need not be set for functions whose results consist of a column's values.
    """

    takes_decimals: ClassVar[TakenAs | None] = None
    """How the function takes columns of decimals, unless it takes codes.

    If None, windows of decimals are computed row by row.
    """

    @abstractmethod
    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        """The result over each range [lo, hi) of the tuples.

        ``columns`` are the function's columns, in its order, for any number of keys one after
        another. Ranges are not empty and do not cross keys. They may come in any order; it is
        fastest if both lo and hi are non-decreasing.
        """


def skip_nulls(
    columns: Sequence[Values], lo: Int64s, hi: Int64s
) -> tuple[list[NDArray[Any]], Int64s, Int64s]:
    """The tuples without a null in any column, and the ranges in terms of these tuples.

    A range may become empty. If there are no nulls, nothing is copied.

    >>> x = Values(np.array([5, 0, 7]), np.array([True, False, True]))
    >>> skip_nulls([x], np.array([0, 1]), np.array([2, 3]))
    ([array([5, 7])], array([0, 1]), array([1, 2]))
    """
    masks = [c.valid for c in columns if c.valid is not None]
    if not masks:
        return [c.values for c in columns], lo, hi
    valid = np.logical_and.reduce(masks)
    before = np.zeros(len(valid) + 1, dtype=np.int64)
    np.cumsum(valid, out=before[1:])
    return [c.values[valid] for c in columns], before[lo], before[hi]


def take(values: NDArray[Any], positions: Int64s, found: NDArray[np.bool_]) -> Values:
    """The values at the positions, null where ``found`` is false.

    >>> take(np.array([5, 7]), np.array([1, 2]), np.array([True, False])).to_list()
    [7, None]
    """
    if not len(values):
        return Values.where(found, np.zeros(len(positions), dtype=values.dtype))
    return Values.where(found, values[np.where(found, positions, 0)])


def slices(values: NDArray[Any], lo: Iterable[int], hi: Iterable[int]) -> list[list[Any]]:
    """The values of each range as a list.

    >>> slices(np.array([5, 7, 9]), [0, 1], [2, 3])
    [[5, 7], [7, 9]]
    """
    return [values[low:high].tolist() for low, high in zip(lo, hi, strict=True)]
