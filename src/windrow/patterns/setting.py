"""A query and the place where its workers run, and what follows from these for every pattern."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from windrow.core.computation import Decompose
from windrow.engine.columns.control import RANK
from windrow.engine.window_query import WindowQuery
from windrow.engine.workers.geometry import own_axis
from windrow.patterns import workers
from windrow.patterns.farm import in_a_row
from windrow.patterns.over_partials import OverPartials
from windrow.patterns.tree import PaneFarm, Pattern

Place: TypeAlias = Literal["process", "threads", "tasks", "stream"]
"""Where workers run: in one process, in one or several threads, as tasks over bounded rows, or with
the state of a stream."""
BATCHES_EACH = 4
"""Batches of windows per executor: dealt in turn, they spread runs of costly windows."""
TASKS_EACH = 8
"""Tasks per agnostic worker where a scheduler hands tasks to cores that are free."""


class Setting:
    """What the nodes of a pattern depend on, beside the pattern itself."""

    def __init__(self, query: WindowQuery, place: Place) -> None:
        self.query, self.model, self.is_stream = query, query.model, place == "stream"
        self.in_one_process, self.are_tasks = place in ("process", "threads"), place == "tasks"
        self.is_parallel = place in ("threads", "tasks")
        self.own_axis = own_axis(query.model)
        self.partials = OverPartials(query, self.are_tasks)
        self.position = self.own_axis or RANK
        """The column from which an emitter computes a tuple's windows."""
        self.keeps_panes = workers.can_keep_panes(query)
        # In one thread nothing is sent, so it is the worker that reduces tuples to panes.
        self.is_early = self.keeps_panes and workers.is_told_by_time(query.model)
        self.reduces_early = self.is_early and place != "process"
        # On streams, rankers, windowers and the workers behind them hold tuples, as checkpoints do.
        self.deals_partials = self.keeps_panes and not self.is_stream
        self.farms_partials = self.is_early or self.deals_partials
        self.sends_rows = workers.sends_rows(query, is_stream=self.is_stream)
        self.skips_panes = self.sends_rows and not self.is_stream
        computation = query.computation
        self.n_rounds = len(computation.rounds) if isinstance(computation, Decompose) else 1
        self.can_be_dealt = workers.can_be_dealt(query)

    def in_a_row(self, batch: int) -> int:
        """How many consecutive windows of a farm go to one worker, if a user says ``batch``.

        On streams the state of workers depends on it.
        """
        return in_a_row(self.query, batch) if self.are_tasks else batch

    def sends_partials(self, pattern: Pattern) -> bool:
        """Whether the workers of a pane farm or of map-reduce are sent partials of panes."""
        return self.farms_partials and not self.forms_panes(pattern)

    def forms_panes(self, pattern: Pattern) -> bool:
        """Whether a windower forms the panes, which workers without state compute."""
        return self.is_stream and isinstance(pattern, PaneFarm) and pattern.workers == "agnostic"

    def spread(self, pattern: PaneFarm) -> PaneFarm:
        """The pattern with as many workers as stand for agnostic ones.

        Each is a task, of which free cores and free threads take the next one. Where panes would
        send all their rows there are only workers of windows.
        """
        if pattern.workers == "active" or not self.is_parallel:
            return pattern
        if self.skips_panes:
            return replace(pattern, wlq=pattern.wlq * TASKS_EACH)
        return replace(pattern, plq=pattern.plq * TASKS_EACH)

    def executors(self, n: int) -> int:
        """How many executors stand for n agnostic workers."""
        return n * TASKS_EACH if self.are_tasks else n

    def most(self, n: int) -> int:
        """In how many batches, at most, what fires at once is sent to n agnostic workers."""
        return self.executors(n) if self.are_tasks else BATCHES_EACH * n
