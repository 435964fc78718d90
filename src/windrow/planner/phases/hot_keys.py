"""The phases of key farms that split hot keys."""

from __future__ import annotations

from dataclasses import replace

from windrow.patterns import KeyFarm, PaneFarm, WinFarm
from windrow.patterns.setting import TASKS_EACH
from windrow.planner.cost import rows_sent_per_window, windows_share
from windrow.planner.hot_load import divided
from windrow.planner.phases.phase import Phase
from windrow.planner.phases.terms import Terms
from windrow.planner.phases.whole_windows import whole_windows


def hot_windows(at: Terms, pattern: KeyFarm, farm: WinFarm) -> list[Phase]:
    """Each key has one worker, but all of them, or executors, share the windows of hot keys."""
    c, load, n = at.constants, at.load, pattern.n
    of_hot_keys, others = others_of(at, pattern)
    hot, cold = of_hot_keys.load, others.load
    share, rest = hot.rows / load.rows, cold.rows / load.rows
    of_cold = rest * others.by_key(n)
    batches = max(1.0, hot.windows / farm.batch)
    results = load.windows * c.window
    if farm.workers == "active":
        busiest = min(1.0, of_cold + share * windows_share(n, batches))
        if load.reduces_early:
            sent = load.panes * rest + load.panes_sent_to(n, farm.batch) * share
            work = sent * c.piece + results + load.windows * load.per_window
            work += at.state(sent)
            computing = Phase("compute windows over panes", work, n, busiest)
            return [at.reducing_intake(sent), computing]
        sent = load.rows * rest + load.sent_to(n, farm.batch) * share
        rankers = at.rankers(n, sent)
        work = at.held(sent) + results + load.windows * load.per_window
        first = at.intake(load.rows if rankers else sent)
        return [first, *rankers, Phase("compute windows", work, n, busiest)]
    executors = farm.n if at.is_stream else farm.n * TASKS_EACH
    sent = share * load.windows
    sent *= rows_sent_per_window(load.rows_per_window, load.rows_apart, farm.batch)
    deciding = load.rows * c.keep + at.state(load.rows)
    own = load.rows * load.per_row * rest + (results + load.windows * load.per_window) * rest
    first_work = deciding + own + sent * c.exchange
    of_hot = (share * deciding + sent * c.exchange) / hot.keys
    busiest = min(1.0, (of_hot + of_cold * (deciding + own / rest)) / first_work)
    work = sent * (c.exchange + max(load.per_row, c.of_few))
    work += (results + load.windows * load.per_window) * share
    return [
        at.intake(load.rows),
        Phase("compute windows of most keys", first_work, n, busiest),
        Phase(
            "compute windows of hot keys",
            work,
            executors,
            windows_share(executors, batches),
            holds_state=False,
        ),
    ]


def others_of(at: Terms, pattern: KeyFarm) -> tuple[Terms, Terms]:
    """The terms of hot keys, and those of all others."""
    hot, cold = divided(at.load, pattern.hot_keys, by_rank=at.query.model.ranks_tuples)
    return at.of(hot), at.of(cold)


def hot_pieces(pattern: KeyFarm, of_hot: list[Phase], others: Terms) -> list[Phase]:
    """Another pattern computes hot keys, from its first workers on beside those of all others.

    The results of the others pass by the workers that follow.
    """
    hot_intake, *hot = of_hot
    share = others.by_key(pattern.n)
    intake, computing = whole_windows(others, pattern.n, share)
    first, *behind = _as_nodes(pattern, hot, others)
    work = first.work + computing.work
    busiest = max(first.work * first.share, computing.work * computing.share) / work
    passing = others.load.windows * others.constants.exchange
    both = Phase(
        f"{first.name} of hot keys, and windows of all others",
        work,
        first.n + pattern.n,
        busiest,
    )
    return [
        replace(intake, work=hot_intake.work + intake.work),
        both,
        *(
            replace(phase, name=f"{phase.name} of hot keys", work=phase.work + passing)
            for phase in behind
        ),
    ]


def _as_nodes(pattern: KeyFarm, hot: list[Phase], at: Terms) -> list[Phase]:
    """The phases, with rankers and windowers as one where they are a chain of workers."""
    is_chained = at.sends_partials() and not at.load.reduces_early
    if not is_chained or isinstance(pattern.hot, PaneFarm):
        return hot
    ranking, deciding, *behind = hot
    work = ranking.work + deciding.work
    share = (ranking.work * ranking.share + deciding.work * deciding.share) / work
    return [replace(deciding, work=work, share=share), *behind]
