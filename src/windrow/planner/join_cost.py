"""What a layout of a join costs, by equations 3 to 9 of DP-Join and this runtime's constants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from windrow.engine.joins.grid import Grid
from windrow.engine.joins.join_query import JoinQuery
from windrow.planner import machine
from windrow.planner.cost import (
    join_latency,
    joined_pairs,
    largest_share,
    makespan,
    offered_bandwidth,
    optimal_degree,
)
from windrow.planner.load import BATCH_SECONDS, KEYS

Rates = tuple[float, float]
ASSUMED_RATE = 10_000.0
"""Rows per second of a side whose rate is not known."""
_BYTES = 64.0
"""The memory that a row takes in a worker, about."""


@dataclass(frozen=True)
class JoinLoad:
    """What a second of both streams brings."""

    rates: Rates
    windows: Rates
    """How many rows are in the windows."""
    pair: float
    """T_on: what a pair costs, in seconds."""
    row: float
    """What a row or a copy of it costs a worker, in seconds."""
    taken: float
    """What it costs to take a row in, in seconds."""
    is_stream: bool

    @staticmethod
    def of(query: JoinQuery, rates: Rates, *, is_stream: bool) -> JoinLoad:
        constants = machine.on_spark()
        row = constants.exchange + constants.keep + constants.state * is_stream
        windows = windows_of(query, rates)
        return JoinLoad(
            rates, windows, constants.pair / 1e6, row / 1e6, constants.hand_over / 1e6, is_stream
        )

    @property
    def optimal_degree(self) -> int:
        """N_opt: the fewest workers that keep up where every row meets all of a window."""
        return optimal_degree(self.rates, self.windows, self.pair)


@dataclass(frozen=True)
class JoinPrediction:
    """A layout, and what it is predicted to cost."""

    grid: Grid
    seconds: float
    """How long a second of both streams takes."""
    latency: float
    """Seconds from a row's arrival to its pairs, on average."""
    copies: float
    """To how many workers a row is sent, on average."""
    bytes: float
    """About how much memory the windows take."""
    pairs_per_second: float
    """How many pairs the workers can look at."""


def windows_of(query: JoinQuery, rates: Rates) -> Rates:
    """How many rows are in the windows."""
    left, right = query.lengths
    if query.by_count:
        return left, right
    return rates[0] * left / 1e6, rates[1] * right / 1e6


def predict_grid(grid: Grid, load: JoinLoad, cores: int) -> JoinPrediction:
    """What a layout costs on some cores."""
    (x, y), m, n = load.rates, grid.rows, grid.columns
    # A partition by hash holds few candidates for a row.
    met = 1 / KEYS if grid.partitions > 1 else 1.0
    windows = load.windows[0] * met, load.windows[1] * met
    sent = n * x + m * y
    work = sent * load.row + joined_pairs(load.rates, windows, 1, 1.0) * load.pair
    of_cells = largest_share(grid.partitions, KEYS, 1 / KEYS) if grid.partitions > 1 else 1.0
    working = makespan(work, of_cells / (m * n), grid.n, cores)
    seconds = (x + y) * load.taken / cores + working
    waiting = max(BATCH_SECONDS, seconds) / 2 if load.is_stream else 0.0
    held = n * load.windows[0] + m * load.windows[1]
    return JoinPrediction(
        grid=grid,
        seconds=seconds,
        latency=join_latency((m, n), load.rates, windows, load.pair) + waiting,
        copies=sent / (x + y),
        bytes=held * _BYTES,
        pairs_per_second=offered_bandwidth(min(grid.n, cores), load.pair, 1.0),
    )


def weigh_grids(
    chosen: Grid, load: JoinLoad, cores: int, by: Sequence[int], *, has_copies: bool
) -> list[JoinPrediction]:
    """The chosen layout, then others: of as many workers, of N_opt, and in one worker."""
    grids = dict.fromkeys([chosen, *_others(chosen, load, by, has_copies)])
    predictions = [predict_grid(grid, load, cores) for grid in grids]
    return [predictions[0], *sorted(predictions[1:], key=lambda p: p.seconds)]


def _others(chosen: Grid, load: JoinLoad, by: Sequence[int], has_copies: bool) -> Iterator[Grid]:
    yield Grid()
    most = max(64, chosen.n)
    for n in sorted({chosen.n, min(load.optimal_degree, most)}):
        for m in range(1, n + 1):
            if n % m == 0:
                yield Grid(m, n // m)
        if by and n > 1:
            yield Grid(1, 1, n, tuple(by), has_copies)
