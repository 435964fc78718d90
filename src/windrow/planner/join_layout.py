"""Choosing the grid of a join: from the number of workers and the rates of both streams."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

from windrow.core.errors import WindrowError, received
from windrow.engine.joins.grid import Grid, bucket_width
from windrow.engine.joins.join_query import JoinQuery

LAYOUTS = ("linear", "rectangular", "square")
Rates = tuple[float, float]


@dataclass(frozen=True)
class GridChoice:
    """A grid and why it was chosen."""

    grid: Grid
    why: str


def choose_grid(
    query: JoinQuery,
    layout: object = None,
    degree: object = None,
    partitions: object = None,
    *,
    cores: int = 1,
    rates: Rates = (1, 1),
) -> GridChoice:
    """The grid for a join; what is given is kept to, the rest is chosen.

    ``degree`` is the number of workers, the number of cores if not given.
    """
    n = None if degree is None else _positive("degree", degree)
    parts = None if partitions is None else _positive("partitions", partitions)
    by = _partitioning(query)
    if parts is not None and parts > 1 and not (by.by_equi or by.by_band is not None):
        hint = "leave partitions out: a grid splits any join."
        raise WindrowError("partitions need an equi or a finite band", f"partitions={parts}", hint)
    if isinstance(layout, str):
        cells = max(1, (n or _fitting(layout, cores)) // (parts or 1))
        rows, columns = _named(layout, cells, rates)
        why = f"{layout}, as given"
    elif layout is not None:
        rows, columns = _pair(layout)
        why = "as given"
    elif parts is None and (by.by_equi or by.by_band is not None):
        rows, columns, parts = 1, 1, n or cores
        what = "equalities" if by.by_equi else "bands"
        why = f"{what} tell which tuples can meet: partitions need no copies of whole streams"
    else:
        rows, columns = rectangle(max(1, (n or cores) // (parts or 1)), rates)
        why = f"fewest copies of tuples at rates of {rates[0]:g} to {rates[1]:g}"
    parts = parts or 1
    grid = Grid(rows, columns, parts, parts > 1 and by.by_equi, by.by_band if parts > 1 else None)
    if n is not None and grid.n != n:
        raise WindrowError(
            "partitions x rows x columns must be the degree",
            f"{parts} x {rows} x {columns} with degree={n}",
            "leave one of layout, partitions and degree out.",
        )
    return GridChoice(grid, why if grid.n > 1 else "there is one worker")


def rectangle(n: int, rates: Rates) -> tuple[int, int]:
    """The m x n' = n layout with the fewest copies; of those the one with the lowest latency.

    In a unit of time n' * left rate + m * right rate tuples are sent. The latency of a left tuple
    grows with the right window over n', that of a right one with the left window over m
    (004_32846949b9597348, equations 7 to 9): of equal rates the squarest is best in both.

    >>> rectangle(16, (1, 1)), rectangle(15, (1000, 3000)), rectangle(6, (1, 1000))
    ((4, 4), (3, 5), (1, 6))
    """
    left, right = rates

    def cost(layout: tuple[int, int]) -> tuple[float, float]:
        m, columns = layout
        return columns * left + m * right, 1 / columns + 1 / m

    return min(((m, n // m) for m in range(1, n + 1) if n % m == 0), key=cost)


def _named(layout: str, n: int, rates: Rates) -> tuple[int, int]:
    if layout == "linear":
        return (1, n) if rates[0] <= rates[1] else (n, 1)
    if layout == "rectangular":
        return rectangle(n, rates)
    if layout != "square":
        raise WindrowError(f"layout must be (m, n) or one of {LAYOUTS}", received("layout", layout))
    side = math.isqrt(n)
    if side * side != n:
        hint = f"{side * side} and {(side + 1) ** 2} are; or use layout='rectangular'."
        raise WindrowError("a square layout needs a square number of workers", f"{n}", hint)
    return side, side


def _fitting(layout: str, cores: int) -> int:
    return math.isqrt(cores) ** 2 if layout == "square" else cores


def _partitioning(query: JoinQuery) -> Grid:
    """By what a join can be partitioned."""
    band = next((i for i, b in enumerate(query.on.bands) if bucket_width(b) is not None), None)
    if query.on.equis:
        return Grid(by_equi=True)
    return Grid(by_band=band)


def _pair(layout: Any) -> tuple[int, int]:
    if not isinstance(layout, tuple | list) or len(layout) != 2:
        rule = f"layout must be (m, n) or one of {LAYOUTS}"
        raise WindrowError(rule, received("layout", layout), "for example layout=(2, 3).")
    return _positive("layout rows", layout[0]), _positive("layout columns", layout[1])


def _positive(what: str, value: Any) -> int:
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise WindrowError(f"{what} must be a positive number of workers", received(what, value))
    return number
