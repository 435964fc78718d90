"""Candidate pairs as a user's function sees them, and what it says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.core.errors import WindrowError, near_names
from windrow.core.predicates import Theta
from windrow.engine.joins.attributes import Mask


class Candidates(Mapping[str, NDArray[Any]]):
    """One side of candidate pairs: read-only columns, each made when it is looked at."""

    def __init__(
        self, side: int, names: Sequence[str], show: Callable[[str], NDArray[Any]]
    ) -> None:
        self._side, self._names, self._show = side, list(names), show
        self._columns: dict[str, NDArray[Any]] = {}

    def __getitem__(self, column: str) -> NDArray[Any]:
        if column not in self._columns:
            if column not in self._names:
                rule = f"the {('left', 'right')[self._side]} side has no column {column!r}"
                raise WindrowError(rule, hint=near_names(column, self._names))
            self._columns[column] = self._show(column)
        return self._columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        """The number of columns, as of any mapping."""
        return len(self._names)


def call_theta(theta: Theta, left: Candidates, right: Candidates, n: int) -> Mask:
    """What a user's function says of n candidates; what goes wrong names the function."""
    try:
        mask = theta.function(left, right)
    except WindrowError as e:
        raise WindrowError(f"theta function {theta.name}: {e.rule}", e.got, e.hint) from None
    except Exception as e:
        rule = f"theta function {theta.name} failed on a block of {n} candidate pairs"
        raise WindrowError(rule, f"{type(e).__name__}: {e}") from e
    return _checked(theta, np.asarray(mask), n)


def try_theta(theta: Theta, left: Candidates, right: Candidates) -> None:
    """Call a user's function on no candidates, to find what it misnames before anything runs.

    It need not be able to work on nothing, nor know then that its result is of booleans.
    """
    try:
        mask = theta.function(left, right)
    except WindrowError as e:
        raise WindrowError(f"theta function {theta.name}: {e.rule}", e.got, e.hint) from None
    except Exception:
        return
    _checked(theta, np.asarray(mask), 0)


def _checked(theta: Theta, mask: NDArray[Any], n: int) -> Mask:
    if mask.shape != (n,) or (mask.dtype != np.bool_ and n):
        raise WindrowError(
            f"theta function {theta.name} must return one boolean for each candidate pair",
            f"an array of shape {mask.shape} and type {mask.dtype} for {n} pairs",
            "its blocks are equally long columns: compare them element by element.",
        )
    return mask
