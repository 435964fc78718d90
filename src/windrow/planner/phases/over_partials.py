"""The phases of patterns whose rows become partials of panes before they are sent."""

from __future__ import annotations

from windrow.patterns import PaneFarm, Pattern, WinMapReduce
from windrow.patterns.setting import TASKS_EACH
from windrow.planner.phases.map_reduce import parts
from windrow.planner.phases.phase import Phase
from windrow.planner.phases.terms import Terms


def over_partials(
    at: Terms, pattern: Pattern, n: int, share: float, sent: float, rankers: int
) -> list[Phase]:
    """A pattern of which n instances get so many partials of panes in all."""
    c, load = at.constants, at.load
    first = at.partials(sent, rankers)
    if isinstance(pattern, PaneFarm):
        plq, wlq = pattern.plq, pattern.wlq
        plq *= TASKS_EACH if pattern.workers == "agnostic" else 1
        of_panes = at.dealt(plq, load.panes_of_hot_key)
        of_windows = at.dealt(wlq, load.windows_of_hot_key)
        merging, taken = sent * c.piece, sent / load.panes * load.panes_sent_to(wlq)
        computing = taken * c.piece + at.results() + at.state(taken)
        return [
            *first,
            Phase("merge panes", merging, n * plq, share * of_panes),
            Phase("compute windows over panes", computing, n * wlq, share * of_windows),
        ]
    if isinstance(pattern, WinMapReduce) and load.reduces_early:
        held = sent * c.piece + at.state(sent)
        return [*first, *parts(at, pattern, n, share, 0.0, held)]
    if isinstance(pattern, WinMapReduce):
        pieces, windowers = load.windows * load.panes_per_window, first[-1].n
        windowers = max(n, windowers) if n > 1 else windowers
        deciding = Phase("decide all windows", (sent + pieces) * c.piece, windowers, share)
        return [*first, deciding, *parts(at, pattern, n, share, pieces)]
    work = sent * c.piece + at.results() + at.state(sent)
    return [*first, Phase("compute windows over panes", work, n, share)]
