"""Chooses the grid of a join from the number of workers and the rates of both streams."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

from windrow.core.checks import positive_workers
from windrow.core.errors import WindrowError, received
from windrow.engine.joins.grid import Grid
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.terms.predicate import Predicate
from windrow.planner.cost import join_latency
from windrow.planner.join_cost import JoinLoad, Rates, predict_grid
from windrow.planner.plans import STREAM_WORKERS

LayoutName = Literal["linear", "rectangular", "square"]
Layout = LayoutName | tuple[int, int]
LAYOUTS: tuple[LayoutName, ...] = get_args(LayoutName)
_MOST_STREAM_WORKERS = 8 * STREAM_WORKERS


@dataclass(frozen=True)
class GridChoice:
    """A grid and why it was chosen."""

    grid: Grid
    why: str


def choose_grid(
    query: JoinQuery,
    layout: Layout | None = None,
    degree: int | None = None,
    partitions: int | None = None,
    *,
    cores: int = 1,
    rates: Rates = (1, 1),
) -> GridChoice:
    """The grid for a join: what the user gives is kept, the rest is chosen.

    ``degree`` is the number of workers; by default it is the number of cores. Bounded rows come as
    fast as they are read: no number of workers keeps up with them, and equations 3 to 9 of DP-Join
    make each further core worth its copies.
    """
    n = None if degree is None else positive_workers(degree, "degree")
    parts = None if partitions is None else positive_workers(partitions, "partitions", "grids")
    by = partitioning(query.on)
    if parts is not None and parts > 1 and not by:
        rule = "partitions need a term that can partition rows, such as an equi or a finite band"
        hint = "leave partitions out: a grid splits any join."
        raise WindrowError(rule, f"partitions={parts}", hint)
    if isinstance(layout, str):
        cells = max(1, (n or _fitting(layout, cores)) // (parts or 1))
        rows, columns = _named(layout, cells, rates)
        why = f"{layout}, as given"
    elif layout is not None:
        rows, columns = _pair(layout)
        why = "as given"
    elif parts is None and by:
        rows, columns, parts = 1, 1, n or cores
        why = "only rows with the same hash can match, so no copies of whole streams are sent"
    else:
        rows, columns = rectangle(max(1, (n or cores) // (parts or 1)), rates)
        why = f"fewest copies of rows at rates of {rates[0]:g} to {rates[1]:g}"
    parts = parts or 1
    by = by if parts > 1 else ()
    grid = Grid(rows, columns, parts, by, any(query.on.terms[i].has_copies for i in by))
    if n is not None and grid.n != n:
        raise WindrowError(
            "partitions x rows x columns must equal the degree",
            f"{parts} x {rows} x {columns} with degree={n}",
            "leave out layout, partitions or degree.",
        )
    return GridChoice(grid, why if grid.n > 1 else "there is one worker")


def choose_stream_grid(query: JoinQuery, rates: Rates | None) -> GridChoice:
    """The grid for a join of streams of which the user sets no part."""
    degree = stream_degree(query, rates)
    choice = choose_grid(query, cores=degree, rates=rates or (1, 1))
    if rates is None:
        return choice
    few = f"{degree} worker{'s' * (degree != 1)} keep{'s' * (degree == 1)} up with the rates"
    return GridChoice(choice.grid, f"{few}; {choice.why}" if degree > 1 else few)


def stream_degree(query: JoinQuery, rates: Rates | None) -> int:
    """How many workers a join of streams has, on any number of cores.

    If the rates are known, they are N_opt or slightly more: the fewest that keep up with the pairs
    or, where partitions hold few candidates, with the rows. Their number is a power of two, which
    any number of cores can share evenly.
    """
    if rates is None:
        return STREAM_WORKERS
    load = JoinLoad.of(query, rates, is_stream=True)
    fewest = load.optimal_degree
    if partitioning(query.on):
        # Twice as many as predicted: how many candidates a partition holds is only assumed.
        fewest = math.ceil(2 * predict_grid(Grid(1, 1, 2), load, 1).seconds)
    # Beyond this, batches wait for the state of so many workers.
    fewest = min(max(1, fewest), _MOST_STREAM_WORKERS)
    return 1 << (fewest - 1).bit_length()


def choose_line(degree: int | None, cores: int) -> GridChoice:
    """The workers of a baseline, which are not in a grid."""
    n = cores if degree is None else positive_workers(degree, "degree")
    return GridChoice(Grid(1, n), "as many as there are cores" if degree is None else "as given")


def rectangle(n: int, rates: Rates) -> tuple[int, int]:
    """The layout m x n' = n with the fewest copies; among those, the one with the lowest latency.

    n' * left rate + m * right rate tuples are sent per unit of time. The latency of a left tuple
    grows with the right window divided by n', that of a right tuple with the left window divided
    by m (DP-Join, equations 7 to 9). At equal rates the squarest layout is best in both respects.

    >>> rectangle(16, (1, 1)), rectangle(15, (1000, 3000)), rectangle(6, (1, 1000))
    ((4, 4), (3, 5), (1, 6))
    """
    left, right = rates

    def cost(layout: tuple[int, int]) -> tuple[float, float]:
        m, columns = layout
        # The windows have as many rows as the rates say; their length does not matter here.
        return columns * left + m * right, join_latency(layout, rates, rates, 1.0)

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
        hint = f"use {side * side} or {(side + 1) ** 2} workers, or layout='rectangular'."
        raise WindrowError("a square layout needs a square number of workers", f"{n}", hint)
    return side, side


def _fitting(layout: str, cores: int) -> int:
    return math.isqrt(cores) ** 2 if layout == "square" else cores


def partitioning(on: Predicate) -> tuple[int, ...]:
    """The terms to partition by: all that need no copies, otherwise the first that is able to."""
    able = [i for i, term in enumerate(on.terms) if term.partitioned_by is not None]
    return tuple(i for i in able if not on.terms[i].has_copies) or tuple(able[:1])


def _pair(layout: Any) -> tuple[int, int]:
    if not isinstance(layout, tuple | list) or len(layout) != 2:
        rule = f"layout must be (m, n) or one of {LAYOUTS}"
        raise WindrowError(rule, received("layout", layout), "for example layout=(2, 3).")
    rows, columns = layout
    return positive_workers(rows, "layout rows"), positive_workers(columns, "layout columns")
