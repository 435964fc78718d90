"""Simulates a query over files on any number of slots, by the model or by a replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from windrow.core.statistics import Statistics
from windrow.engine.datasets.pieces import Piece
from windrow.engine.datasets.scan import Scan
from windrow.engine.datasets.splits import Split, splits_of
from windrow.engine.window_query import WindowQuery
from windrow.patterns import Pattern
from windrow.planner import machine
from windrow.planner.choice import choose
from windrow.planner.load import load_of
from windrow.planner.plans import Plan, Resources
from windrow.planner.predict import Prediction, predict
from windrow.planner.replay import measured_stages, replayed


@dataclass(frozen=True)
class Simulated:
    """What a query does on some slots."""

    slots: int
    prediction: Prediction
    replayed: float | None
    """How long the replay took, in seconds of the slots; None without one."""


def simulate(
    query: WindowQuery,
    statistics: Statistics,
    slots: Sequence[int],
    files: tuple[Scan, Sequence[Piece]] | None = None,
    pattern: Pattern | None = None,
) -> list[Simulated]:
    """The chosen plan, or a given pattern, on each number of slots; replayed if there are files."""
    found = []
    for n in slots:
        resources = Resources(n, reads_files=True)
        plan = choose(query, resources, statistics).plan if pattern is None else Plan(pattern)
        known = query.hints.or_else(statistics)
        load = load_of(query, known, resources.constants)
        prediction = predict(query, plan, load, resources)
        seconds = None
        if files is not None:
            reads = _reads(*files, n)
            # The first run of all compiles the kernels.
            measured_stages(query, plan.pattern, reads[:1])
            stages = measured_stages(query, plan.pattern, reads)
            seconds = replayed(stages, n, resources.constants, machine.in_process())
        found.append(Simulated(n, prediction, seconds))
    return found


def _reads(scan: Scan, pieces: Sequence[Piece], slots: int) -> list[Callable[[], pa.Table]]:
    """What reads the splits that tasks would read on so many slots."""
    return [_Read(split) for split in splits_of(scan, pieces, slots)]


@dataclass(frozen=True)
class _Read:
    split: Split

    def __call__(self) -> pa.Table:
        return pa.Table.from_batches(self.split.batches(), self.split.scan.schema)
