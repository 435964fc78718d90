"""Predicts how long a plan takes, and says what limits it."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.engine.window_query import WindowQuery
from windrow.patterns import KeyFarm, Pattern, WinFarm
from windrow.planner.cost import key_farm_limit, multicast, partition_imbalance
from windrow.planner.load import BATCH_SECONDS, Load
from windrow.planner.phases.phase import Phase
from windrow.planner.phases.plan import phases_of
from windrow.planner.plans import Plan, Resources


@dataclass(frozen=True)
class Prediction:
    """A plan, how fast it is, and what limits it."""

    plan: Plan
    seconds: float
    rows_per_second: float
    latency: float
    """Seconds from the arrival of a window's last row to its result, on average.

    On a stream, a row waits for half a batch, and then for its results. On bounded input, results
    are there when the query ends.
    """
    held: float
    """How many rows, or partials of panes, workers hold at once for open windows."""
    bytes: float
    """About how much memory these take."""
    limit: str


def predict(query: WindowQuery, plan: Plan, load: Load, resources: Resources) -> Prediction:
    """How long the plan takes for this load, and what limits it."""
    phases = phases_of(query, plan, load, resources)
    times = [phase.time(resources) for phase in phases]
    fixed = 0.0 if resources.is_stream else resources.constants.job
    seconds = (fixed + sum(times)) / 1e6
    slowest = phases[times.index(max(times))]
    limit = _limit(plan.pattern, slowest, load, resources)
    if plan.native == "panes" and load.rows_per_pane < 2:
        limit = f"a pane holds {load.rows_per_pane:.1f} rows, so Spark merges few of them"
    latency = seconds
    if resources.is_stream:
        # If a batch takes longer than its rows took to arrive, the next one has more.
        latency += max(BATCH_SECONDS, seconds) / 2
    held = _held_by(plan, load)
    width = load.partial_bytes if _holds_partials(plan, load) else load.row_bytes
    return Prediction(plan, seconds, load.rows / seconds, latency, held, held * width, limit)


def _holds_partials(plan: Plan, load: Load) -> bool:
    return plan.native == "panes" or load.keeps_panes


def _held_by(plan: Plan, load: Load) -> float:
    """The rows or partials of one window per key; copies of them in a window farm."""
    pattern = plan.pattern
    if plan.native == "windows":
        return 0.0
    if _holds_partials(plan, load):
        held, copies = load.keys * load.panes_per_window, load.panes_per_window
    else:
        held, copies = load.keys * load.rows_per_window, load.windows_per_row
    if isinstance(pattern, WinFarm) and pattern.workers == "active":
        held *= multicast(pattern.n, copies, pattern.batch)
    return min(held, load.rows) if plan.native is None else held


def _limit(pattern: Pattern, slowest: Phase, load: Load, resources: Resources) -> str:
    """What the most time is spent with, in words."""
    if not slowest.is_exchanged:
        return f"most of the time, {slowest.name}"
    if slowest.n == 1:
        verb, _, rest = slowest.name.partition(" ")
        return f"one worker {verb}s {rest}"
    if slowest.share > 1 / min(slowest.n, resources.cores) + 0.05:
        return _uneven(pattern, slowest, load)
    busy = f"{slowest.n} workers {slowest.name}"
    if isinstance(pattern, WinFarm) and pattern.workers == "active":
        copies = load.sent_to(pattern.n, pattern.batch) / load.rows
        return f"{busy}, and each row is sent {copies:.1f} times" if copies > 1 else busy
    return busy


def _uneven(pattern: Pattern, slowest: Phase, load: Load) -> str:
    """Why one worker has more to do than the others, in words."""
    uneven = f"the busiest of {slowest.n} workers has {slowest.share:.0%} of the work"
    if not isinstance(pattern, KeyFarm) or pattern.hot is not None:
        return uneven
    times = partition_imbalance(pattern.n, load.keys, load.skew)
    limit = key_farm_limit(load.skew)
    fair = f"{uneven}, {times:.1f} times its fair share"
    return f"{fair}; its keys allow a speedup of {limit:.1f}" if limit < 2 * pattern.n else fair
