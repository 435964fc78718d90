"""The value in the row where another column is least or greatest."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from windrow.core.aggregate import Commutative, Idempotent
from windrow.core.calls import checks_call
from windrow.functions.columnar import Columnar, Int64s, Kept, Values, take
from windrow.functions.extreme_positions import best_positions, extreme_positions
from windrow.functions.ordering import are_less, is_less
from windrow.functions.types import require_orderable

Candidate = tuple[Any, ...]
"""``(by, position, value)`` of the best row; empty while every ``by`` has been null."""


class _ArgExtreme(Commutative[Any, Candidate, Any], Idempotent[Any, Candidate, Any], Columnar):
    function: str
    operation: ClassVar[Literal["min", "max"]]
    takes_position = True
    skips_nulls = False
    returns_values_of = 0
    keeps_few = True

    def result_type(self, *inputs: str) -> str:
        require_orderable(self.function, inputs[1])
        return inputs[0]

    def lift(self, value: Any) -> Candidate:
        position, chosen, by = value
        return () if by is None else (by, position, chosen)

    def combine(self, a: Candidate, b: Candidate) -> Candidate:
        if not a or not b:
            return a or b
        if self._is_better(a[0], b[0]):
            return a
        if self._is_better(b[0], a[0]):
            return b
        return a if a[1] <= b[1] else b

    def lower(self, partial: Candidate) -> Any:
        return partial[2] if partial else None

    def over_ranges(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Values:
        chosen, by = columns
        best, valid = best_positions(self, by, lo, hi, self._are_better)
        if chosen.valid is not None:
            valid &= take(chosen.valid, best, valid).values
        return take(chosen.values, best, valid)

    def kept(self, columns: Sequence[Values], lo: Int64s, hi: Int64s) -> Kept:
        best, found = extreme_positions(self, columns[1], lo, hi, self.operation)
        return best[found], found.astype(np.int64)

    @abstractmethod
    def _is_better(self, a: Any, b: Any) -> bool:
        """Whether a row with ``a`` is chosen over one with ``b``, whatever their positions."""

    @abstractmethod
    def _are_better(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.bool_]:
        """The same for columns."""


class ArgMin(_ArgExtreme):
    """The value of the row with the least ``by``."""

    function = "arg_min"
    operation = "min"

    def _is_better(self, a: Any, b: Any) -> bool:
        return is_less(a, b)

    def _are_better(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.bool_]:
        return are_less(a, b)


class ArgMax(_ArgExtreme):
    """The value of the row with the greatest ``by``."""

    function = "arg_max"
    operation = "max"

    def _is_better(self, a: Any, b: Any) -> bool:
        return is_less(b, a)

    def _are_better(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.bool_]:
        return are_less(b, a)


@checks_call
def arg_min(value: str, by: str) -> ArgMin:
    """The value of the row with the least ``by``; among equals, the oldest row.

    Rows with a null ``by`` are skipped; the value itself may be null, as in Spark's ``min_by``.

    >>> arg_min("price", by="size").over([(10.0, 3), (11.0, 1), (12.0, 1), (13.0, None)])
    11.0
    """
    return ArgMin(value, by)


@checks_call
def arg_max(value: str, by: str) -> ArgMax:
    """The value of the row with the greatest ``by``; among equals, the oldest row.

    NaN is the greatest. Rows with a null ``by`` are skipped; the value itself may be null, as in
    Spark's ``max_by``.

    >>> arg_max("price", by="size").over([(10.0, 3), (11.0, 1), (12.0, 3), (13.0, None)])
    10.0
    """
    return ArgMax(value, by)
