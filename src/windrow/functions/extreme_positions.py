"""Where the least or the greatest value of each range is."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from windrow.core.aggregate import Aggregate
from windrow.functions.arg_extremes import best_positions
from windrow.functions.columnar import Int64s, Values, skip_nulls
from windrow.functions.ordering import are_less
from windrow.functions.ranges import reduce_ranges


def extreme_positions(
    function: Aggregate[Any, Any, Any],
    column: Values,
    lo: Int64s,
    hi: Int64s,
    operation: Literal["min", "max"],
) -> tuple[Int64s, NDArray[np.bool_]]:
    """The position of an extreme value of each range, the oldest among equals, if it has any value.

    Ranges that do not overlap, such as panes, are compared with their extremes. Others take a scan.

    >>> x = Values(np.array([3, 7, 7, 1]))
    >>> extreme_positions(None, x, np.array([0, 2]), np.array([2, 4]), "max")  # type: ignore
    (array([1, 2]), array([ True,  True]))
    """
    (values, at), first, last = skip_nulls([column, Values(np.arange(len(column)))], lo, hi)
    if (first[1:] < last[:-1]).any():
        if operation == "min":
            return best_positions(function, column, lo, hi, are_less)
        return best_positions(function, column, lo, hi, lambda a, b: are_less(b, a))
    lengths = last - first
    before = np.cumsum(lengths) - lengths
    places = np.repeat(first - before, lengths) + np.arange(int(lengths.sum()))
    ranges = np.repeat(np.arange(len(lo)), lengths)
    own, extreme = values[places], reduce_ranges(values, first, last, operation)[ranges]
    chosen = np.flatnonzero((own == extreme) | ((own != own) & (extreme != extreme)))
    chosen = chosen[np.diff(ranges[chosen], prepend=-1) != 0]
    found = np.zeros(len(lo), np.int64)
    found[ranges[chosen]] = at[places[chosen]]
    return found, first < last
