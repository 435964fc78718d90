"""Partials of every pane of every key in one pass over a batch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from windrow.kernels.columns import Column, Positions, as_column, read_only
from windrow.kernels.compensated import two_sum
from windrow.kernels.compiled import compiled
from windrow.kernels.groups import number_groups
from windrow.kernels.operators import Operator, identity
from windrow.kernels.panes import as_keys, as_times, assign_panes, check_length

Wanted = Literal["sum", "min", "max"]

ALWAYS_DENSE = 1 << 16
"""A table of at most this many cells is dense, however few tuples there are."""


@dataclass(frozen=True)
class PanePartials:
    """The partials of the panes that hold a tuple, in order of key and pane.

    ``rows`` counts tuples, ``counts`` the valid values. What was not wanted is None. ``sums``,
    ``minima`` and ``maxima`` are the operator's identity where no value is valid. ``lost`` is what
    rounding has lost of sums of floats.
    """

    keys: Positions
    panes: Positions
    rows: Positions
    counts: Positions
    sums: Column | None
    lost: Column | None
    minima: Column | None
    maxima: Column | None


def reduce_panes(
    keys: ArrayLike,
    times: ArrayLike,
    values: ArrayLike | None = None,
    *,
    n_keys: int,
    length: int,
    origin: int = 0,
    valid: ArrayLike | None = None,
    wanted: Collection[Wanted] = (),
) -> PanePartials:
    """Count, sum, minimum and maximum of each (key, pane), for one column.

    ``keys`` are codes in [0, n_keys). Pane p is [origin + p*length, origin + (p+1)*length) of
    ``times``, which may also be ranks, or pane indices with length 1. A value that is not
    ``valid`` only counts as a row. Sums of int64 are exact modulo 2**64; those of float64 come with
    what rounding has lost. NaN is greater than any other number, as in Spark: max is NaN if any
    value is, min only if all are.

    The result is collected in a dense table of keys and panes if that has at most 4 cells per
    tuple. Otherwise only the occupied cells are kept, which sorting finds.

    Ordering: any; tuples mostly in order of time save the division that finds their pane.
    Algebra: associative and commutative.
    Time O(n + cells) and space O(cells); with sorting, O(n log n) and O(n).
    J. Li et al., No pane, no gain, 2005: the pane-level query of the Pane Farm.

    >>> batch = reduce_panes(
    ...     [0, 1, 0, 0], [3, 5, 9, 12], [7, 1, 2, 4], n_keys=2, length=10, wanted={"sum", "max"}
    ... )
    >>> batch.keys, batch.panes, batch.sums, batch.maxima
    (array([0, 0, 1]), array([0, 1, 0]), array([9, 4, 1]), array([7, 4, 1]))
    """
    if unknown := set(wanted).difference(get_args(Wanted)):
        raise ValueError(f"wanted must be among {get_args(Wanted)}; got {sorted(unknown)}")
    codes, instants = as_keys(keys, n_keys), as_times(times)
    column = as_column(instants if values is None else values)
    mask = None if valid is None else read_only(np.ascontiguousarray(valid, dtype=np.bool_))
    _check_lengths(codes, instants, column, mask)

    first_pane, n_panes = _span(instants, check_length(length), origin)
    start = origin + first_pane * length
    if n_keys * n_panes <= 4 * len(codes) + ALWAYS_DENSE:
        tables = allocate(n_keys * n_panes, column.dtype, mask is not None, wanted)
        _reduce(codes, instants, start, length, n_panes, column, mask, *tables)
        cells = np.flatnonzero(tables[0])
        return gather(tables, cells, cells // n_panes, cells % n_panes + first_pane)
    groups, group_keys, group_panes = _number_cells(codes, instants, start, length, n_panes)
    tables = allocate(len(group_keys), column.dtype, mask is not None, wanted)
    _reduce(groups, None, 0, 1, 1, column, mask, *tables)
    return gather(tables, np.arange(len(group_keys)), group_keys, group_panes + first_pane)


def _check_lengths(*columns: Column | None) -> None:
    lengths = {len(column) for column in columns if column is not None}
    if len(lengths) > 1:
        raise ValueError(f"keys, times, values and valid must have the same length; got {lengths}")


def _span(times: Positions, length: int, origin: int) -> tuple[int, int]:
    """The first pane and how many panes there are up to the last."""
    if not len(times):
        return 0, 0
    first = (int(times.min()) - origin) // length
    return first, (int(times.max()) - origin) // length - first + 1


def _number_cells(
    keys: Column, times: Positions, start: int, length: int, n_panes: int
) -> tuple[Positions, Positions, Positions]:
    """The occupied cell of each tuple, and the key and the pane of each such cell, in order."""
    panes = assign_panes(times, length, start)
    if (int(keys.max()) + 1) * n_panes >= 1 << 63:
        ranks, distinct = number_groups(panes)
    else:
        ranks, distinct = panes, None
    stride = n_panes if distinct is None else len(distinct)
    groups, codes = number_groups(keys.astype(np.int64) * stride + ranks)
    return groups, codes // stride, codes % stride if distinct is None else distinct[codes % stride]


Tables = tuple[Positions, Any, Any, Any, Any, Any]
"""rows, counts, sums, lost, minima, maxima: None for what is not wanted."""


def allocate(
    n_cells: int, dtype: np.dtype[Any], masked: bool, wanted: Collection[Wanted]
) -> Tables:
    def filled(name: Wanted, operator: Operator) -> Column | None:
        return np.full(n_cells, identity(operator, dtype)) if name in wanted else None

    return (
        np.zeros(n_cells, dtype=np.int64),
        np.zeros(n_cells, dtype=np.int64) if masked else None,
        filled("sum", "add"),
        filled("sum", "add") if dtype.kind == "f" else None,
        filled("min", "min"),
        filled("max", "max"),
    )


def gather(tables: Tables, cells: Positions, keys: Positions, panes: Positions) -> PanePartials:
    rows = tables[0][cells]
    counts, *others = (None if table is None else table[cells] for table in tables[1:])
    return partials_of(keys, panes, rows, counts, *others)


def partials_of(
    keys: Positions,
    panes: Positions,
    rows: Positions,
    counts: Any,
    sums: Any,
    lost: Any,
    *extremes: Any,
) -> PanePartials:
    if lost is not None:
        lost = np.where(np.isfinite(sums), lost, 0.0)
    return PanePartials(
        keys, panes, rows, rows if counts is None else counts, sums, lost, *extremes
    )


@compiled
def _reduce(
    keys: Column,
    times: Positions | None,
    start: int,
    length: int,
    n_panes: int,
    values: Column,
    valid: Any,
    rows: Positions,
    counts: Any,
    sums: Any,
    lost: Any,
    minima: Any,
    maxima: Any,
) -> None:
    # Numba drops the branches of the arguments that are None: each combination is its own loop.
    # Unsigned indices save the check for negative ones.
    pane, pane_start = 0, start
    for i in range(keys.shape[0]):
        if times is not None and not 0 <= times[i] - pane_start < length:
            pane = (times[i] - start) // length
            pane_start = start + pane * length
        cell = np.uint64(keys[i] * n_panes + pane)
        rows[cell] += 1
        if valid is not None:
            if not valid[i]:
                continue
            counts[cell] += 1
        add_value(values[i], cell, sums, lost, minima, maxima)


@compiled
def add_value(value: Any, cell: Any, sums: Any, lost: Any, minima: Any, maxima: Any) -> None:
    """Add a value to the partials of its cell that are not None."""
    if lost is not None:
        sums[cell], rounding = two_sum(sums[cell], value)
        lost[cell] += rounding
    elif sums is not None:
        sums[cell] += value
    # Always write: a branch would be hard to predict, and a write is cheap.
    if minima is not None:
        least = minima[cell]
        minima[cell] = value if value < least or least != least else least
    if maxima is not None:
        greatest = maxima[cell]
        maxima[cell] = value if value > greatest or value != value else greatest
