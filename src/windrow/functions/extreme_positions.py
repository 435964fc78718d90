"""Where the least or the greatest value of each range is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from windrow.core.aggregate import Aggregate
from windrow.functions.columnar import Int64s, Values, skip_nulls
from windrow.functions.ordering import are_less
from windrow.functions.ranges import Partials, combine_ranges


def best_positions(
    function: Aggregate[Any, Any, Any],
    by: Values,
    lo: Int64s,
    hi: Int64s,
    are_better: Callable[[NDArray[Any], NDArray[Any]], NDArray[np.bool_]],
) -> tuple[Int64s, NDArray[np.bool_]]:
    """The position of the best value of each range, the oldest among equals, if it has any."""

    def combine(older: Partials, newer: Partials) -> Partials:
        wins = are_better(newer[0], older[0])
        return tuple(np.where(wins, new, old) for old, new in zip(older, newer, strict=True))

    (ranked, at), lo, hi = skip_nulls([by, Values(np.arange(len(by)))], lo, hi)
    _, best = combine_ranges(function, (ranked, at), lo, hi, combine, (0, 0))
    return best, lo < hi


def extreme_positions(
    function: Aggregate[Any, Any, Any],
    column: Values,
    lo: Int64s,
    hi: Int64s,
    operation: Literal["min", "max"],
) -> tuple[Int64s, NDArray[np.bool_]]:
    """The position of an extreme value of each range, the oldest among equals, if it has any value.

    Ranges that do not overlap, such as panes, are gone through one by one. Others take a scan.

    >>> x = Values(np.array([3, 7, 7, 1]))
    >>> extreme_positions(None, x, np.array([0, 2]), np.array([2, 4]), "max")  # type: ignore
    (array([1, 2]), array([ True,  True]))
    """
    (values, at), first, last = skip_nulls([column, Values(np.arange(len(column)))], lo, hi)
    if (first[1:] < last[:-1]).any():
        if operation == "min":
            return best_positions(function, column, lo, hi, are_less)
        return best_positions(function, column, lo, hi, lambda a, b: are_less(b, a))
    from windrow.kernels.best_of_ranges import extreme_of_ranges

    best = extreme_of_ranges(values, first, last, 1 if operation == "max" else -1)
    return (at[best] if len(at) else best), first < last
