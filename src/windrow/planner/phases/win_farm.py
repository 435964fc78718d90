"""The phases of Win_Farm, with active or with agnostic workers."""

from __future__ import annotations

from windrow.patterns import PaneFarm, WinFarm, WinMapReduce
from windrow.patterns.setting import TASKS_EACH
from windrow.planner.cost import rows_sent_per_window, windows_share
from windrow.planner.phases.map_reduce import map_reduce, parts
from windrow.planner.phases.over_partials import over_partials
from windrow.planner.phases.pane_farm import pane_farm
from windrow.planner.phases.phase import Phase
from windrow.planner.phases.terms import Terms


def active_farm(at: Terms, pattern: WinFarm) -> list[Phase]:
    """Workers, or inner patterns, that are sent the rows of their windows."""
    load, n, inner = at.load, pattern.n, pattern.inner
    batch = at.in_a_row(pattern.batch)
    share = at.dealt(n, load.windows_of_hot_key / batch)
    if at.sends_partials_to(inner):
        return over_partials(at, inner, n, share, load.panes_sent_to(n, batch), n)
    sent = load.sent_to(n, batch)
    if isinstance(inner, PaneFarm):
        return pane_farm(at, inner, n, share, sent, n)
    rankers = at.rankers(n, sent)
    if isinstance(inner, WinMapReduce):
        intake, *rest = map_reduce(at, inner, n, share, sent)
        return [at.intake(load.rows) if rankers else intake, *rankers, *rest]
    computing = Phase("compute windows", at.held(sent) + at.results(), n, share)
    return [at.intake(load.rows if rankers else sent), *rankers, computing]


def agnostic_farm(at: Terms, pattern: WinFarm) -> list[Phase]:
    """Windowers, then executors that are sent whole windows.

    Over bounded rows there is a windower per worker, and many small tasks execute. What fires
    at once is sent in few batches, however few windows a batch has at least.
    """
    c, load, n = at.constants, at.load, pattern.n
    windowers, share, executors, batch = 1, 1.0, n, float(pattern.batch)
    if not at.is_stream:
        executors = n * TASKS_EACH
        batch = max(batch, at.batch_for(executors))
        if at.query.keys:
            windowers, share = n, at.by_key(n)
    sent = load.windows * rows_sent_per_window(load.rows_per_window, load.rows_apart, batch)
    deciding = load.rows * c.keep + at.state(load.rows) + sent * c.exchange
    first = [at.intake(load.rows), Phase("decide all windows", deciding, windowers, share)]
    if load.keeps_panes and not at.is_stream:
        sent = load.windows * load.panes_per_window
        deciding = (load.panes + sent) * c.piece
        decide = Phase("decide all windows", deciding, windowers, share)
        first = [*at.partials(load.panes, windowers), decide]
    if isinstance(pattern.inner, WinMapReduce):
        inner = pattern.inner
        width = inner.reduce if load.sends_rows else inner.map
        instances = n if at.is_stream else max(n, executors // width)
        return [*first, *parts(at, inner, instances, windows_share(instances, load.windows), sent)]
    work = sent * (c.exchange + max(load.per_row, c.of_few)) + at.results()
    busiest = windows_share(executors, load.windows / batch)
    return [*first, Phase("compute windows", work, executors, busiest, holds_state=False)]
