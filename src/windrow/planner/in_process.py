"""Chooses how a query runs in this process."""

from __future__ import annotations

from windrow.engine.window_query import WindowQuery
from windrow.patterns import KeyFarm, WinSeq
from windrow.patterns.workers import can_keep_panes
from windrow.planner.choice import Choice

MOST_IN_PROCESS = 16
"""The most workers in one process. Each takes half a millisecond of a step, one after the other."""
CORES_FOR_ROUTING = 4
"""From as many cores on, workers of one process share keys whose rows become partials of panes.

Routing a row costs as much as reducing it. Fewer cores read and reduce rows for one worker.
"""


def choose_in_process(query: WindowQuery, cores: int, is_small: bool) -> Choice:
    """The pattern for a query that threads of one process compute."""
    if cores == 1:
        return Choice(WinSeq(), "there is one core")
    if is_small:
        return Choice(WinSeq(), "there are few rows")
    if not query.keys:
        return Choice(WinSeq(), "no keys: one worker computes, others read and prepare rows")
    if not query.runs_kernels:
        return Choice(WinSeq(), "the function is Python, which one thread at a time can run")
    if can_keep_panes(query) and cores < CORES_FOR_ROUTING:
        return Choice(WinSeq(), "to share the keys would cost few cores more than to compute")
    n = min(cores, MOST_IN_PROCESS)
    return Choice(KeyFarm(n), "there are keys, which are independent of each other")
