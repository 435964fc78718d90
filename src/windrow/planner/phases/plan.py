"""The phases of any plan."""

from __future__ import annotations

from windrow.engine.window_query import WindowQuery
from windrow.patterns import KeyFarm, PaneFarm, Pattern, WinFarm, WinMapReduce
from windrow.patterns.tree import splits_windows
from windrow.planner.load import Load
from windrow.planner.phases.hot_keys import hot_pieces, hot_windows, others_of
from windrow.planner.phases.map_reduce import map_reduce
from windrow.planner.phases.native import native
from windrow.planner.phases.over_partials import over_partials
from windrow.planner.phases.pane_farm import pane_farm
from windrow.planner.phases.phase import Phase
from windrow.planner.phases.terms import Terms
from windrow.planner.phases.whole_windows import whole_windows
from windrow.planner.phases.win_farm import active_farm, agnostic_farm
from windrow.planner.plans import Plan, Resources


def phases_of(query: WindowQuery, plan: Plan, load: Load, resources: Resources) -> list[Phase]:
    """The phases of the plan, in order."""
    at = Terms(query, load, resources)
    return _of(at, plan.pattern) if plan.native is None else native(at, plan.native)


def _of(at: Terms, pattern: Pattern) -> list[Phase]:
    if isinstance(pattern, WinFarm):
        return (
            agnostic_farm(at, pattern)
            if pattern.workers == "agnostic"
            else active_farm(at, pattern)
        )
    if isinstance(pattern, KeyFarm) and pattern.hot is not None:
        if splits_windows(pattern.hot):
            return hot_windows(at, pattern, pattern.hot)
        hot, others = others_of(at, pattern)
        return hot_pieces(pattern, _of(hot, pattern.hot), others)
    if isinstance(pattern, KeyFarm):
        return _inner(at, pattern.inner, pattern.n, at.by_key(pattern.n))
    rankers = 1
    if isinstance(pattern, WinMapReduce):
        rankers = pattern.map
    elif isinstance(pattern, PaneFarm):
        forms_panes = at.is_stream and pattern.workers == "agnostic"
        rankers = 1 if forms_panes else pattern.plq
    return _inner(at, pattern, 1, 1.0, rankers)


def _inner(at: Terms, pattern: Pattern, n: int, share: float, rankers: int = 0) -> list[Phase]:
    """A pattern in each of n instances, of which the busiest has this share of the rows.

    If rows are ranked, there are so many rankers; by default one per instance.
    """
    if isinstance(pattern, PaneFarm | WinMapReduce) and at.sends_partials_to(pattern):
        return over_partials(at, pattern, n, share, at.load.panes, rankers or n)
    if isinstance(pattern, PaneFarm):
        return pane_farm(at, pattern, n, share, at.load.rows, rankers or n)
    if isinstance(pattern, WinMapReduce):
        return map_reduce(at, pattern, n, share, at.load.rows)
    return whole_windows(at, n, share)
