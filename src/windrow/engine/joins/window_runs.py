"""The runs of one side's window: few, sorted, and gone when nothing can match them any more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.engine.columns.arrays import Int64s
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import MATCHED
from windrow.engine.joins.runs import Run, merged

_SPAN = 8
"""Runs are merged to at most this part of the window, so that little expired is kept."""


@dataclass
class Numbers:
    """Numbers of chunks, each given once."""

    next: int = 0

    def take(self) -> int:
        self.next += 1
        return self.next - 1


class WindowRuns:
    """The tuples of one side as runs by number, in the order they came.

    A batch adds a run. The last runs are merged as long as they are of like length, and short
    against the window: at most about ``2 * 8 + log2(tuples)`` runs are there to be searched, each
    tuple is merged O(log tuples) times, and what has expired goes within an eighth of the window.
    """

    def __init__(self, query: JoinQuery, side: int, numbers: Numbers) -> None:
        self.query, self.side, self.numbers = query, side, numbers
        self.length = query.lengths[side]
        self.is_merging = True
        self.runs: dict[int, Run] = {}
        self.stored: set[int] = set()
        """The runs that are stored with what had matched by then."""
        self.fresh: dict[int, list[Int64s]] = {}
        """What has matched in them since."""

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs.values())

    def add(self, run: Run) -> None:
        """Take in a run that is younger than all here."""
        self._put(run)
        while self.is_merging and len(self.runs) > 1:
            older, newer = list(self.runs)[-2:]
            a, b = self.runs[older], self.runs[newer]
            span = max(a.last, b.last) - min(a.first, b.first)
            if len(a) > 2 * len(b) or span > self.length // _SPAN:
                return
            self._remove(older)
            self._remove(newer)
            self._put(merged(a, b))

    def _put(self, run: Run) -> None:
        self.runs[self.numbers.take()] = run

    def _remove(self, number: int) -> None:
        del self.runs[number]
        self.fresh.pop(number, None)
        self.stored.discard(number)

    def evict(self, horizon: int) -> None:
        """Remove the runs that nothing from the horizon on can see."""
        for number in [n for n, run in self.runs.items() if run.last + self.length < horizon]:
            self._remove(number)

    def closing(self, since: int, horizon: int) -> Iterator[tuple[Run, Int64s]]:
        """The tuples whose windows are over at the horizon but were not before."""
        for run in self:
            ends = (run.first + self.length, run.last + self.length)
            if ends[0] < horizon and ends[1] >= since:
                places = run.places + self.length
                positions = np.flatnonzero((places < horizon) & (places >= since))
                if len(positions):
                    yield run, positions

    def mark(self, run: Run, positions: Int64s) -> None:
        """Remember that tuples of a run have matched."""
        assert run.matched is not None
        new = np.unique(positions[~run.matched[positions]])
        if len(new) == 0:
            return
        run.matched[new] = True
        number = next((n for n, own in self.runs.items() if own is run), None)
        if number in self.stored:
            self.fresh.setdefault(number, []).append(new)

    def new_marks(self) -> dict[int, Int64s]:
        """The positions that have matched since the last call, by run; all runs are stored now."""
        marks = {number: np.concatenate(parts) for number, parts in self.fresh.items()}
        self.stored, self.fresh = set(self.runs), {}
        return marks

    def from_table(self, stored: pa.Table) -> Run:
        """A run that was stored."""
        if MATCHED not in stored.column_names:
            return Run(self.query, self.side, stored)
        tuples = stored.drop_columns([MATCHED])
        return Run(self.query, self.side, tuples, stored[MATCHED].to_numpy().copy())

    def load(self, runs: dict[int, Run]) -> None:
        """Have the runs that are stored, and no others."""
        self.runs, self.stored = runs, set(runs)

    def load_marks(self, marks: dict[int, Int64s]) -> None:
        """Take up what has matched since runs were stored."""
        for number, positions in marks.items():
            if number in self.runs and (matched := self.runs[number].matched) is not None:
                matched[positions] = True


def to_table(run: Run) -> pa.Table:
    """A run as it is stored, once: its tuples, and which of them have matched by then."""
    if run.matched is None:
        return run.tuples
    return run.tuples.append_column(MATCHED, pa.array(run.matched))
