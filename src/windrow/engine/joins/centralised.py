"""The centralised join: one worker owns both windows, the others only compare tuples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.columns.arrays import Int64s
from windrow.engine.columns.control import ARRIVAL, RANK, TIME
from windrow.engine.joins.cell import Cell
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import JOB, job_of, kind_of, labelled, side_of
from windrow.engine.joins.probing import pairs_of
from windrow.engine.joins.results import pair_rows
from windrow.engine.joins.runs import Run
from windrow.engine.joins.seat import Seat
from windrow.engine.joins.slices import Sides
from windrow.engine.stages.routes import Route
from windrow.engine.workers.worker import Message, Worker


class Owner(Cell):
    """Keeps both windows and sends them to the matchers together with the new tuples.

    This is the emitter of CellJoin (DP-Join, section 4.1). It sends the whole windows with each
    batch, and all tuples pass through this one worker.
    """

    def __init__(self, query: JoinQuery) -> None:
        super().__init__(query, Seat(is_shared=(True, True)))
        self.jobs = 0

    def match(self, sides: Sides) -> list[Message]:
        new = [None if t is None else Run(self.query, s, t) for s, t in enumerate(sides)]
        given: list[Message] = []
        for probe, others in self.meetings(new):
            self.jobs += 1
            job = {JOB: str(self.jobs).encode()}
            given.append(labelled(probe.tuples, "probe", probe.side, job))
            given += [labelled(o.tuples, "target", o.side, job) for o in others]
        self.take(new)
        return given


@dataclass(frozen=True)
class Scatter(Route):
    """Sends new tuples to all workers, a slice of each window to each, and the rest to any one."""

    n: int

    def targets(self, message: Any, instance: int) -> list[Any]:
        if kind_of(message) == "probe":
            return [message] * self.n
        if kind_of(message) == "target":
            dealt = np.arange(len(message)) % self.n
            return [message.filter(pa.array(dealt == j)) for j in range(self.n)]
        chosen = len(message) % self.n
        return [message if j == chosen else None for j in range(self.n)]

    def describe(self) -> str:
        return f"new rows to all, slices of the windows to {self.n}"


class Matcher(Worker):
    """Matches new tuples with slices of the windows; keeps no state."""

    def __init__(self, query: JoinQuery) -> None:
        self.query = query
        self.probes: dict[int, pa.Table] = {}
        self.targets: list[pa.Table] = []
        self.passing: list[pa.Table] = []

    def push(self, message: Message) -> None:
        kind = kind_of(message)
        if kind == "probe":
            self.probes[job_of(message)] = message
        elif kind == "target":
            self.targets.append(message)
        else:
            self.passing.append(message)

    def advance(self, watermark: int) -> list[Message]:
        given: list[Message] = [*self.passing]
        runs = {job: Run(self.query, side_of(t), t) for job, t in self.probes.items()}
        for target in self.targets:
            given += self._matched(runs[job_of(target)], Run(self.query, side_of(target), target))
        self.probes, self.targets, self.passing = {}, [], []
        return given

    def _matched(self, probe: Run, target: Run) -> list[Message]:
        given: list[Message] = []
        left, right = (probe, target) if probe.side == 0 else (target, probe)
        for pairs in pairs_of(probe, target):
            for run, positions in zip((left, right), pairs, strict=True):
                if self.query.keeps(run.side):
                    given.append(_told(run, positions))
            if self.query.has_pairs:
                rows = left.rows(pairs[0]), right.rows(pairs[1])
                given.append(pair_rows(self.query, *rows))
        return given


def _told(run: Run, positions: Int64s) -> pa.Table:
    """The message that tuples have matched: their arrival numbers and places."""
    place = RANK if run.query.by_count else TIME
    told = run.tuples.select([ARRIVAL, place]).take(pa.array(np.unique(positions)))
    return labelled(told, "matched", run.side)
