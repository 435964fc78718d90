"""The phases of Pane_Farm."""

from __future__ import annotations

from windrow.patterns import PaneFarm
from windrow.patterns.setting import TASKS_EACH
from windrow.planner.phases.phase import Phase
from windrow.planner.phases.terms import Terms


def pane_farm(
    at: Terms, pattern: PaneFarm, n: int, share: float, rows: float, n_rankers: int
) -> list[Phase]:
    """Pane farms in n instances, which get so many rows and copies of rows in all."""
    c, load = at.constants, at.load
    copies = rows / load.rows
    is_agnostic = pattern.workers == "agnostic"
    # Over bounded rows, many small tasks stand for an agnostic worker.
    tasks = TASKS_EACH if is_agnostic and not at.is_stream else 1
    if load.sends_rows and not at.is_stream:
        wlq = pattern.wlq * tasks
        sent = load.sent_to(wlq, at.in_a_row()) * copies
        rankers = at.rankers(n_rankers, sent, are_paned=True)
        work = at.held(sent) + at.results()
        of_windows = share * at.dealt(wlq, load.windows_of_hot_key)
        computing = Phase("compute windows", work, n * wlq, of_windows)
        return [at.intake(rows if rankers else sent), *rankers, computing]
    pane_work = rows * load.per_row + load.panes * copies * c.piece
    if not load.sends_rows:
        pane_work += copies * at.shared_by_windows()
    holding = rows * c.keep + at.state(rows)
    plq, wlq = pattern.plq * tasks, pattern.wlq
    of_panes = share * at.dealt(plq, load.panes_of_hot_key)
    if is_agnostic and at.is_stream:
        panes = [
            Phase("form panes", holding + rows * c.exchange, n, share),
            Phase(
                "compute panes",
                pane_work + rows * c.exchange,
                n * plq,
                of_panes,
                holds_state=False,
            ),
        ]
    else:
        panes = [Phase("compute panes", holding + pane_work, n * plq, of_panes)]
    sent = load.panes_sent_to(wlq) * copies
    window_work = sent * c.piece + load.windows * c.window + at.state(sent)
    if load.sends_rows:
        # Panes send their rows, and the windows are computed of these.
        sent_rows = sent * load.rows_per_pane
        window_work += sent_rows * (c.exchange + c.keep + load.per_row)
        window_work += load.windows * load.per_window
    of_windows = share * at.dealt(wlq, load.windows_of_hot_key)
    return [
        at.intake(rows),
        *at.rankers(n_rankers, rows, are_paned=True),
        *panes,
        Phase("compute windows over panes", window_work, n * wlq, of_windows),
    ]
