"""The phases of a plan: the work of each stage, by the papers' terms and this runtime's constants.

Spark runs one stage after the other. Each has its total work and the share of its busiest worker.
"""

from __future__ import annotations

from dataclasses import dataclass

from windrow.core.models import Axis
from windrow.engine.window_query import WindowQuery
from windrow.patterns import KeyFarm, PaneFarm, Pattern, WinFarm, WinMapReduce, WinSeq
from windrow.patterns.windows import TASKS_EACH
from windrow.patterns.workers import is_told_by_time
from windrow.planner.cost import (
    largest_share,
    makespan,
    pane_gain,
    rows_sent_per_window,
    windows_share,
)
from windrow.planner.load import Load
from windrow.planner.plans import Plan, Resources

_FIRINGS = 8
"""How often a windower over bounded rows fires windows, about."""


@dataclass(frozen=True)
class Phase:
    """Workers that run at the same time."""

    name: str
    work: float
    """All that they do, in microseconds of one core."""
    n: int
    share: float
    """The share of the work that the busiest worker has."""
    is_exchanged: bool = True
    """Whether rows are exchanged before it."""
    holds_state: bool = True

    def time(self, resources: Resources) -> float:
        """How long it takes, in microseconds."""
        constants, cores = resources.constants, resources.cores
        working = makespan(self.work, self.share, self.n, cores)
        if not self.is_exchanged:
            return working
        # The state of a stream is in about as many partitions as there are cores.
        is_stored = resources.is_stream and self.holds_state
        tasks = min(self.n, cores) if is_stored else self.n
        fixed = constants.stage + constants.task * tasks / cores
        return fixed + (constants.batch if is_stored else 0.0) + working


class Phases:
    """Makes the phases of plans for a query."""

    def __init__(self, query: WindowQuery, load: Load, resources: Resources) -> None:
        self.query, self.load, self.resources = query, load, resources
        self.constants = resources.constants

    def of(self, plan: Plan) -> list[Phase]:
        """The phases of the plan, in order."""
        if plan.native is not None:
            return self._native(plan)
        pattern = plan.pattern
        if isinstance(pattern, WinFarm):
            return self._win_farm(pattern)
        if isinstance(pattern, KeyFarm):
            share = largest_share(pattern.n, self.load.keys, self.load.skew)
            return self._inner(pattern.inner, pattern.n, share)
        return self._inner(pattern, 1, 1.0)

    def _intake(self, sent: float) -> Phase:
        """Rows come to Python and are sent; partials of panes in their place if that is less."""
        c, load = self.constants, self.load
        work = load.rows * (c.read if self.resources.reads_files else c.hand_over)
        work += sent * c.exchange
        cores = self.resources.cores
        return Phase("rows come to Python", work, cores, 1 / cores, is_exchanged=False)

    def _reducing_intake(self, sent: float) -> Phase:
        c, load = self.constants, self.load
        work = load.rows * (c.read if self.resources.reads_files else c.hand_over)
        work += load.rows * c.reduce + sent * c.piece
        cores = self.resources.cores
        name = "rows come to Python and are added to panes"
        return Phase(name, work, cores, 1 / cores, is_exchanged=False)

    def _state(self, stored: float) -> float:
        return stored * self.constants.state if self.resources.is_stream else 0.0

    def _native(self, plan: Plan) -> list[Phase]:
        c, load, cores = self.constants, self.load, self.resources.cores
        groups = load.windows if plan.native == "windows" else load.panes
        row = c.native_row + c.native_read * self.resources.reads_files
        work = load.rows * row + groups * c.native_group
        first = Phase("Spark groups rows", work, cores, 1 / cores, is_exchanged=False)
        if plan.native == "windows":
            return [first]
        n = cores if self.query.keys else 1
        share = largest_share(n, load.keys, load.skew)
        work = groups * (c.hand_over + c.piece) + load.windows * c.window
        return [first, Phase("compute windows over panes", work, n, share)]

    def _inner(self, pattern: Pattern, n: int, share: float) -> list[Phase]:
        """A pattern in each of n instances, of which the busiest has this share of the rows."""
        if isinstance(pattern, PaneFarm):
            return self._pane_farm(pattern, n, share, self.load.rows)
        if isinstance(pattern, WinMapReduce):
            return self._map_reduce(pattern, n, share)
        c, load = self.constants, self.load
        results = load.windows * (c.window + load.per_window)
        if load.reduces_early:
            work = load.panes * c.piece + results + self._state(load.panes)
            return [
                self._reducing_intake(load.panes),
                Phase("compute windows over panes", work, n, share),
            ]
        return [
            self._intake(load.rows),
            Phase("compute windows", self._held(load.rows) + results, n, share),
        ]

    def _held(self, rows: float) -> float:
        """What it costs to hold rows until their windows fire, and to compute the built-ins."""
        c, load = self.constants, self.load
        per_row = c.reduce if load.keeps_panes else c.keep + load.per_row
        return rows * per_row + self._state(rows)

    def _rankers(self, n: int, share: float, sent: float) -> list[Phase]:
        """If ranks are needed to route rows: workers that rank them and send copies of them."""
        c, load = self.constants, self.load
        if self.query.model.axis is not Axis.RANK:
            return []
        work = load.rows * (c.exchange + c.keep) + sent * c.exchange
        return [Phase("rank all rows", work, n, share)]

    def _win_farm(self, pattern: WinFarm) -> list[Phase]:
        c, load, n = self.constants, self.load, pattern.n
        share = windows_share(n, load.windows / pattern.batch)
        results = load.windows * (c.window + load.per_window)
        if pattern.workers == "agnostic":
            return self._agnostic(pattern)
        if isinstance(pattern.inner, PaneFarm):
            sent = load.sent_to(n, pattern.batch)
            return self._pane_farm(pattern.inner, n, share, sent)
        if isinstance(pattern.inner, WinSeq) and load.reduces_early:
            sent = load.panes_sent_to(n, pattern.batch)
            work = sent * c.piece + results + self._state(sent)
            computing = Phase("compute windows over panes", work, n, share)
            return [self._reducing_intake(sent), computing]
        sent = load.sent_to(n, pattern.batch)
        # If there are keys, each ranker ranks some of them.
        n_rankers = n if self.query.keys else 1
        of_rankers = largest_share(n_rankers, load.keys, load.skew)
        rankers = self._rankers(n_rankers, of_rankers, sent)
        work = self._held(sent) + results
        return [
            self._intake(load.rows if rankers else sent),
            *rankers,
            Phase("compute windows", work, n, share),
        ]

    def _agnostic(self, pattern: WinFarm) -> list[Phase]:
        """Windowers, then executors that are sent whole windows.

        Over bounded rows there is a windower per worker, and many small tasks execute. What fires
        at once is sent in few batches, however few windows a batch has at least.
        """
        c, load, n = self.constants, self.load, pattern.n
        windowers, share, executors, batch = 1, 1.0, n, float(pattern.batch)
        if not self.resources.is_stream:
            executors = n * TASKS_EACH
            batch = max(batch, min(load.windows / load.keys, load.windows / executors / _FIRINGS))
            if self.query.keys:
                windowers, share = n, largest_share(n, load.keys, load.skew)
        sent = load.windows * rows_sent_per_window(load.rows_per_window, load.rows_apart, batch)
        deciding = load.rows * c.keep + self._state(load.rows) + sent * c.exchange
        results = load.windows * (c.window + load.per_window)
        work = sent * (c.exchange + max(load.per_row, c.of_few)) + results
        busiest = windows_share(executors, load.windows / batch)
        return [
            self._intake(load.rows),
            Phase("decide all windows", deciding, windowers, share),
            Phase("compute windows", work, executors, busiest, holds_state=False),
        ]

    def _pane_farm(self, pattern: PaneFarm, n: int, share: float, rows: float) -> list[Phase]:
        c, load = self.constants, self.load
        copies = rows / load.rows
        pane_work = rows * (c.keep + load.per_row) + self._state(rows)
        pane_work += load.panes * copies * c.piece
        if not load.needs_all_rows:
            pane_work += copies * self._shared_by_windows()
        sent = load.panes_sent_to(pattern.wlq) * copies
        window_work = sent * c.piece + load.windows * c.window + self._state(sent)
        if load.needs_all_rows:
            # Panes send their rows, and the windows are computed of these.
            sent_rows = sent * load.rows_per_pane
            window_work += sent_rows * (c.exchange + c.keep + load.per_row)
            window_work += load.windows * load.per_window
        plq, wlq = pattern.plq, pattern.wlq
        of_panes = share * windows_share(plq, load.panes)
        of_windows = share * windows_share(wlq, load.windows)
        rankers = self._rankers(n, share, rows)
        return [
            self._intake(rows),
            *rankers,
            Phase("compute panes", pane_work, n * plq, of_panes),
            Phase("compute windows over panes", window_work, n * wlq, of_windows),
        ]

    def _shared_by_windows(self) -> float:
        """What the function costs if windows share the results of panes."""
        c, load = self.constants, self.load
        new_panes = load.panes / load.windows
        t_g = new_panes * load.per_window / load.panes_per_window
        gain = pane_gain(max(1.0, load.panes_per_window / new_panes), t_g, c.piece)
        return load.windows * load.per_window / gain

    def _map_reduce(self, pattern: WinMapReduce, n: int, share: float) -> list[Phase]:
        c, load = self.constants, self.load
        of_maps = share / pattern.map
        of_reduces = share * windows_share(pattern.reduce, load.windows)
        if load.needs_all_rows and is_told_by_time(self.query.model):
            sent = load.sent_to(pattern.reduce)
            work = self._held(sent) + load.windows * (c.window + load.per_window)
            reduce = Phase("compute windows", work, n * pattern.reduce, of_reduces)
            return [self._intake(sent), reduce]
        pieces = load.windows * pattern.map
        first = [self._intake(load.rows)]
        work = pieces * c.piece + load.windows * load.per_window
        if is_told_by_time(self.query.model):
            work += load.rows * (c.keep + load.per_row) + self._state(load.rows)
        else:
            sent = load.windows * load.rows_per_window
            windower = load.rows * c.keep + self._state(load.rows) + sent * c.exchange
            first.append(Phase("decide all windows", windower, n, share))
            work += sent * (c.exchange + load.per_row)
        return [
            *first,
            Phase("compute parts of windows", work, n * pattern.map, of_maps),
            Phase(
                "combine parts",
                pieces * (c.exchange + c.piece) + load.windows * c.window,
                n * pattern.reduce,
                of_reduces,
                holds_state=False,
            ),
        ]
