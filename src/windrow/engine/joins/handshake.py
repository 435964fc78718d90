"""The handshake join: two streams that pass each other in opposite directions."""

from __future__ import annotations

from windrow.engine.joins.cell import Cell
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.runs import Run
from windrow.engine.joins.seat import Seat
from windrow.engine.joins.slices import Sides
from windrow.engine.workers.worker import Message


class Handshake(Cell):
    """The handshake join's pipeline of ``n`` segments (DP-Join, section 4.2), all in one worker.

    It reproduces the order and the latency of the handshake join, not its parallelism. A left run
    enters at the first segment, a right run at the last. Runs move on as they age and are matched
    when they meet, at the latest when the older one leaves its window. Pairs therefore come late:
    a tuple stays in each segment for one n-th of its window.
    """

    def __init__(self, query: JoinQuery, n: int) -> None:
        super().__init__(query, Seat())
        self.n = n
        for window in self.windows:
            window.is_merging = False

    def match(self, sides: Sides) -> list[Message]:
        """Let the new tuples enter and match them with the runs they have met by then."""
        given: list[Message] = []
        for side, tuples in enumerate(sides):
            if tuples is None:
                continue
            run = Run(self.query, side, tuples)
            self.windows[side].add(run)
            for other in self.windows[1 - side]:
                if self._have_met(run, other, self.horizons):
                    given += self._meet(run, other)
        return given

    def move_on(self, horizons: tuple[int, int]) -> list[Message]:
        """Move all runs on and match those that meet on the way."""
        before, after = self.horizons, [max(h) for h in zip(self.horizons, horizons, strict=True)]
        given: list[Message] = []
        for left in self.windows[0]:
            for right in self.windows[1]:
                if not self._have_met(left, right, before) and self._have_met(left, right, after):
                    given += self._meet(left, right)
        return given + super().move_on(horizons)

    def _meet(self, a: Run, b: Run) -> list[Message]:
        met = list(self.pairs(a, b))
        return met + list(self.pairs(b, a)) if self.query.by_count else met

    def _have_met(self, a: Run, b: Run, horizons: list[int]) -> bool:
        """Whether two runs of different sides are in one segment, or have passed each other."""
        return self._segment(a, horizons) + self._segment(b, horizons) >= self.n - 1

    def _segment(self, run: Run, horizons: list[int]) -> int:
        """How many segments a run has left behind, judged by the age of its oldest tuple."""
        age = horizons[run.side] - run.first
        return min(max(age * self.n // (self.query.lengths[run.side] + 1), 0), self.n - 1)
