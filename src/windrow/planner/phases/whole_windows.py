"""The phases of workers that compute whole windows of their keys."""

from __future__ import annotations

from windrow.planner.phases.phase import Phase
from windrow.planner.phases.terms import Terms


def whole_windows(at: Terms, n: int, share: float) -> list[Phase]:
    """A worker in each of n instances, of which the busiest has this share of the rows."""
    c, load = at.constants, at.load
    if load.reduces_early:
        work = load.panes * c.piece + at.results() + at.state(load.panes)
        computing = Phase("compute windows over panes", work, n, share)
        return [at.reducing_intake(load.panes), computing]
    computing = Phase("compute windows", at.held(load.rows) + at.results(), n, share)
    return [at.intake(load.rows), computing]
