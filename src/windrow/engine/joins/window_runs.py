"""The sorted runs of one side's window; a run is removed when nothing can match it any more."""

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
"""A merged run spans at most one eighth of the window, so that few expired tuples are kept."""


@dataclass
class Numbers:
    """Gives out the numbers of chunks, each once."""

    next: int = 0

    def take(self) -> int:
        self.next += 1
        return self.next - 1


class WindowRuns:
    """The tuples of one side as runs by number, in order of arrival.

    Each batch adds a run. The last two runs are merged while the older one is at most twice as
    long as the newer and both together span at most an eighth of the window. So there are at most
    about ``2 * 8 + log2(tuples)`` runs to search, each tuple is merged O(log tuples) times, and
    expired tuples are removed within an eighth of the window.
    """

    def __init__(self, query: JoinQuery, side: int, numbers: Numbers) -> None:
        self.query, self.side, self.numbers = query, side, numbers
        self.length = query.lengths[side]
        self.is_merging = True
        self.runs: dict[int, Run] = {}
        self.stored: set[int] = set()
        """The numbers of the runs that are stored, together with their matches at that time."""
        self.fresh: dict[int, list[Int64s]] = {}
        """The positions that have matched in stored runs since then."""

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs.values())

    def add(self, run: Run) -> None:
        """Add a run that arrived after all others."""
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
        """Remove the runs that no tuple at or after the horizon can match."""
        for number in [n for n, run in self.runs.items() if run.last + self.length < horizon]:
            self._remove(number)

    def closing(self, since: int, horizon: int) -> Iterator[tuple[Run, Int64s]]:
        """The tuples whose windows are over at ``horizon`` but were not at ``since``."""
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
        """The positions that have matched since the last call, by run; all runs count as stored."""
        marks = {number: np.concatenate(parts) for number, parts in self.fresh.items()}
        self.stored, self.fresh = set(self.runs), {}
        return marks

    def from_table(self, stored: pa.Table) -> Run:
        """The run that a stored table holds."""
        if MATCHED not in stored.column_names:
            return Run(self.query, self.side, stored)
        tuples = stored.drop_columns([MATCHED])
        return Run(self.query, self.side, tuples, stored[MATCHED].to_numpy().copy())

    def load(self, runs: dict[int, Run]) -> None:
        """Replace all runs by stored ones."""
        self.runs, self.stored = runs, set(runs)

    def load_marks(self, marks: dict[int, Int64s]) -> None:
        """Mark what has matched since the runs were stored."""
        for number, positions in marks.items():
            if number in self.runs and (matched := self.runs[number].matched) is not None:
                matched[positions] = True


def to_table(run: Run) -> pa.Table:
    """The table in which a run is stored: its tuples and which of them have matched by then."""
    if run.matched is None:
        return run.tuples
    return run.tuples.append_column(MATCHED, pa.array(run.matched))
