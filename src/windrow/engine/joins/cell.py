"""A cell of the grid: keeps its share of both windows and matches new tuples with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from windrow.core.watermark import BEGINNING, END_OF_STREAM
from windrow.engine.columns.arrays import Int64s
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.messages import SEEN, counts_of, integers, kind_of, side_of
from windrow.engine.joins.probing import pairs_of
from windrow.engine.joins.results import pair_rows
from windrow.engine.joins.runs import Run, places
from windrow.engine.joins.seat import Seat
from windrow.engine.joins.slices import Sides, slices
from windrow.engine.joins.window_runs import Numbers, WindowRuns, to_table
from windrow.engine.state.worker_state import Chunks, State, chunks_of
from windrow.engine.workers.worker import Message, Worker

RUNS = ("left ", "right ")
MARKS = "marks "
_RUN, _POSITION = "run", "position"
Marks: TypeAlias = dict[int, Int64s]
"""The positions of matched tuples within each run, by the run's number."""


class Cell(Worker):
    """Joins the tuples it is sent: new left with old and new right, old left with new right.

    This is a join of batches over sorted runs. It shares with Kang's algorithm (DP-Join, section 4)
    the rule by which every pair meets exactly once: new tuples are compared with the other window,
    then enter their own. Unlike that algorithm, it does not scan windows tuple by tuple.

    A pair is given as soon as both tuples are there. A tuple that arrives behind the watermark is
    late. All cells with a copy drop it, and one of them counts it.

    A tuple's window is over once no future tuple can match it. With windows of time, that is when
    the watermark exceeds its time plus the length; by count, when at least ``length`` tuples of
    its side have followed it.
    """

    def __init__(self, query: JoinQuery, seat: Seat) -> None:
        self.query, self.seat = query, seat
        self.numbers = Numbers()
        self.windows = [WindowRuns(query, side, self.numbers) for side in (0, 1)]
        self.pending: tuple[list[pa.Table], list[pa.Table]] = ([], [])
        self.watermark = BEGINNING
        self.horizons = [BEGINNING, BEGINNING]
        """How far each side has come: the watermark, or by count the number of its tuples."""
        self.placed = (0, 0)
        self.marks: dict[int, Marks] = {}
        """The tuples that matched after their run was stored; one numbered entry per checkpoint."""

    def push(self, message: Message) -> None:
        if kind_of(message) == "progress":
            left, right = counts_of(message)
            self.placed = max(left, self.placed[0]), max(right, self.placed[1])
        else:
            self.pending[side_of(message)].append(message)

    @property
    def n_held(self) -> int:
        windows = sum(len(run) for window in self.windows for run in window)
        return windows + sum(len(table) for tables in self.pending for table in tables)

    def reached_by(self, low: int) -> int | None:
        return None if self.query.by_count else low

    def advance(self, watermark: int) -> list[Message]:
        sides = self._on_time(0), self._on_time(1)
        self.watermark = max(self.watermark, watermark)
        given: list[Message] = []
        for part in slices(self.query, sides):
            given += self.match(part.sides)
            given += self.move_on(self._reached(part.sides, part.until))
        given += self.move_on(self._end())
        return given

    def _on_time(self, side: int) -> pa.Table | None:
        """The tuples that were pushed, without the late ones."""
        if not self.pending[side]:
            return None
        tuples = pa.concat_tables(self.pending[side], promote_options="permissive")
        self.pending[side].clear()
        if not self.query.by_count:
            is_late = places(self.query, tuples) < self.watermark
            if is_late.any():
                self.dropped += int((is_late & self.seat.speaks_for(side, tuples)).sum())
                tuples = tuples.filter(pa.array(~is_late))
        return tuples if len(tuples) else None

    def _reached(self, sides: Sides, until: int) -> tuple[int, int]:
        """How far both sides have come with a slice; by count, a lower bound from its tuples."""
        if not self.query.by_count:
            return (min(until, self.watermark),) * 2
        reached = [BEGINNING, BEGINNING]
        for side, tuples in enumerate(sides):
            if tuples is not None:
                own, seen = places(self.query, tuples), integers(tuples, SEEN)
                reached[side] = max(reached[side], int(own.max()) + 1)
                reached[1 - side] = max(reached[1 - side], int(seen.max()))
        return reached[0], reached[1]

    def _end(self) -> tuple[int, int]:
        if self.query.by_count and self.watermark != END_OF_STREAM:
            return self.placed
        return self.watermark, self.watermark

    def match(self, sides: Sides) -> list[Message]:
        """Match new tuples with the other side, then take them into the windows."""
        new = [None if t is None else Run(self.query, s, t) for s, t in enumerate(sides)]
        given: list[Message] = []
        for probe, others in self.meetings(new):
            for other in others:
                given += self.pairs(probe, other)
        self.take(new)
        return given

    def meetings(self, new: list[Run | None]) -> Iterator[tuple[Run, list[Run]]]:
        """Each new run with the runs it probes, so that every pair of tuples meets exactly once."""
        for side, run in enumerate(new):
            if run is None:
                continue
            others = [*self.windows[1 - side]]
            # By count the younger tuple probes, of either side; by time one direction is enough.
            if (fellow := new[1 - side]) is not None and (side == 0 or self.query.by_count):
                others.append(fellow)
            yield run, others

    def take(self, new: list[Run | None]) -> None:
        """Take new runs into the windows."""
        for side, run in enumerate(new):
            if run is not None:
                self.windows[side].add(run)

    def pairs(self, probe: Run, target: Run) -> Iterator[Message]:
        """The result rows of two runs; their matched tuples are marked."""
        left, right = (probe, target) if probe.side == 0 else (target, probe)
        for i, j in pairs_of(probe, target):
            for run, positions in ((left, i), (right, j)):
                if self.query.keeps(run.side):
                    self.windows[run.side].mark(run, positions)
            if self.query.has_pairs:
                yield pair_rows(self.query, left.rows(i), right.rows(j))

    def move_on(self, horizons: tuple[int, int]) -> list[Message]:
        """Close the tuples whose windows are over at these horizons."""
        given: list[Message] = []
        for side, horizon in enumerate(horizons):
            since, window = self.horizons[side], self.windows[side]
            if horizon <= since:
                continue
            if self.query.keeps(side):
                for run, positions in window.closing(since, horizon):
                    assert run.matched is not None
                    tuples = run.tuples.take(pa.array(positions))
                    given += self.seat.close(self.query, side, tuples, run.matched[positions])
            window.evict(horizon)
            self.horizons[side] = horizon
        return given

    def state(self) -> State:
        marks: Marks = {}
        for window in self.windows:
            marks |= window.new_marks()
        self.marks = {n: own for n, own in self.marks.items() if not self._are_gone(own)}
        if marks:
            self.marks[self.numbers.take()] = marks
        scalars = {
            **super().state().scalars,
            "watermark": self.watermark,
            "horizons": list(self.horizons),
            "placed": self.placed,
            "next_number": self.numbers.next,
        }
        chunks: Chunks = chunks_of(MARKS, self.marks, _to_table)
        for kind, window in zip(RUNS, self.windows, strict=True):
            chunks = {**chunks, **chunks_of(kind, window.runs, to_table)}
        return State(scalars, chunks=chunks)

    def _are_gone(self, runs: Iterable[int]) -> bool:
        return not any(n in window.runs for window in self.windows for n in runs)

    def restore(self, state: State) -> None:
        super().restore(state)
        scalars = state.scalars
        self.watermark, self.horizons = scalars["watermark"], scalars["horizons"]
        left, right = scalars["placed"]
        self.placed, self.numbers.next = (left, right), scalars["next_number"]
        for kind, window in zip(RUNS, self.windows, strict=True):
            window.load(state.numbered(kind, window.runs, window.from_table))
        known, self.marks = self.marks, state.numbered(MARKS, self.marks, _from_table)
        for number in self.marks.keys() - known.keys():
            for window in self.windows:
                window.load_marks(self.marks[number])


def _to_table(marks: Marks) -> pa.Table:
    runs = np.repeat(np.array([*marks]), [len(positions) for positions in marks.values()])
    return pa.table({_RUN: runs, _POSITION: np.concatenate([*marks.values()])})


def _from_table(stored: pa.Table) -> Marks:
    runs, positions = integers(stored, _RUN), integers(stored, _POSITION)
    return {int(run): positions[runs == run] for run in np.unique(runs)}
