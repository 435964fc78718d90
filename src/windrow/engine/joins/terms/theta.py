"""The theta term: any function of two blocks of candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.core.calls import checks_call
from windrow.core.checks import check_callable
from windrow.core.errors import WindrowError
from windrow.engine.joins.attributes import Mask
from windrow.engine.joins.candidates import Candidates, Columns
from windrow.engine.joins.terms.predicate import Predicate
from windrow.engine.joins.terms.term import Term

Function = Callable[[Candidates, Candidates], NDArray[Any]]


@dataclass(frozen=True)
class Theta(Term):
    """A user's function decides; the term neither narrows nor partitions."""

    function: Function

    @property
    def name(self) -> str:
        return getattr(self.function, "__qualname__", repr(self.function))

    def columns(self, side: int) -> None:
        return None

    def describe(self) -> str:
        return f"{self.name}(l, r)"

    def identity(self) -> dict[str, Any]:
        return {"function": self.name}

    def bind(self, left: pa.Schema, right: pa.Schema) -> Self:
        """Call the function on empty blocks, to find names of columns that do not exist.

        The function may fail on empty blocks for other reasons, or not return booleans for them.
        """
        sides = [Columns(side, schema.empty_table()) for side, schema in enumerate((left, right))]
        nothing = np.zeros(0, np.int64)
        try:
            mask = self._call(*(Candidates(columns, self, nothing) for columns in sides))
        except WindrowError:
            raise
        except Exception:
            return self
        self._checked(mask, 0)
        return self

    def verify(self, left: Candidates, right: Candidates) -> Mask:
        n = left.n
        try:
            mask = self._call(left, right)
        except WindrowError:
            raise
        except Exception as e:
            rule = f"theta function {self.name} failed on a block of {n} candidate pairs"
            raise WindrowError(rule, f"{type(e).__name__}: {e}") from e
        return self._checked(mask, n)

    def _call(self, left: Candidates, right: Candidates) -> Any:
        try:
            return self.function(left, right)
        except WindrowError as e:
            raise WindrowError(f"theta function {self.name}: {e.rule}", e.got, e.hint) from None

    def _checked(self, returned: Any, n: int) -> Mask:
        """The mask; raises unless it is a column of n booleans, in an array or a list."""
        mask = np.asarray(returned) if _is_column(returned) else None
        if mask is not None and mask.dtype == object and all(map(_is_boolean, mask)):
            mask = mask.astype(np.bool_)
        # A list without elements becomes an array of floats.
        could_be = () if n else ("f", "O")
        if mask is None or mask.shape != (n,) or mask.dtype.kind not in ("b", *could_be):
            raise WindrowError(
                f"theta function {self.name} must return one boolean for each candidate pair",
                f"{_described(returned, mask)} for {n} pairs",
                "its blocks are equally long columns: compare them element by element.",
            )
        return mask


def _is_column(returned: Any) -> bool:
    return hasattr(returned, "__len__") and not isinstance(returned, str | bytes | Mapping)


def _is_boolean(value: object) -> bool:
    return isinstance(value, bool | np.bool_)


def _described(returned: Any, mask: NDArray[Any] | None) -> str:
    if mask is None:
        return f"{returned!r} of type {type(returned).__name__}"
    return f"{type(returned).__name__} of shape {mask.shape} and type {mask.dtype}"


@checks_call
def theta(function: Function) -> Predicate:
    """Any vectorised function of candidate pairs.

    ``function(l, r)`` gets two equally long blocks: ``l["a"][i]`` and ``r["a"][i]`` are the values
    of candidate i, in read-only NumPy arrays. It returns a boolean mask of the candidates that
    match. Nulls are shown as NaN, NaT or None. It is called on blocks of bounded size, after
    equalities, bands and the window have chosen the candidates.

    >>> def is_above(l, r):
    ...     return r["price"] > l["price"]
    >>> theta(is_above).describe()
    'is_above(l, r)'
    """
    hint = 'for example wr.theta(lambda l, r: l["a"] < r["a"]).'
    check_callable(function, 2, "theta takes a function of two blocks", hint)
    return Predicate((Theta(function),))
