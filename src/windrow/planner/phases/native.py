"""The phases of Spark's own aggregation."""

from __future__ import annotations

from windrow.patterns.workers import needs_all_rows
from windrow.planner.phases.phase import Phase
from windrow.planner.phases.terms import Terms
from windrow.planner.plans import Native


def native(at: Terms, what: Native) -> list[Phase]:
    """Spark groups rows by window, or by pane; windows over panes are then computed by key."""
    c, load, cores = at.constants, at.load, at.resources.cores
    groups = load.windows if what == "windows" else load.panes
    row = c.native_row + c.native_read * at.resources.reads_files
    row += c.native_value * needs_all_rows(at.query)
    work = load.rows * row + groups * c.native_group
    first = Phase("Spark groups rows", work, cores, 1 / cores, is_exchanged=False)
    if what == "windows":
        return [first]
    n = cores if at.query.keys else 1
    work = groups * (c.hand_over + c.piece) + load.windows * c.window
    return [first, Phase("compute windows over panes", work, n, at.by_key(n))]
