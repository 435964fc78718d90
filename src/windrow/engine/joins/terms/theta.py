"""The theta term: any function of two blocks of candidates."""

from __future__ import annotations

from collections.abc import Callable
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

    def _call(self, left: Candidates, right: Candidates) -> NDArray[Any]:
        try:
            return np.asarray(self.function(left, right))
        except WindrowError as e:
            raise WindrowError(f"theta function {self.name}: {e.rule}", e.got, e.hint) from None

    def _checked(self, mask: NDArray[Any], n: int) -> Mask:
        if mask.shape != (n,) or (mask.dtype != np.bool_ and n):
            raise WindrowError(
                f"theta function {self.name} must return one boolean for each candidate pair",
                f"an array of shape {mask.shape} and type {mask.dtype} for {n} pairs",
                "its blocks are equally long columns: compare them element by element.",
            )
        return mask


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
