"""Chooses a pattern by rules if the user gives none.

It asks the first questions of Mencagli 2019, Figure 14: are there keys, can the function be
decomposed, do windows overlap? It does not ask about skew or the length of panes. From Mencagli
2018, Figure 7, comes the question whether a tuple's windows are known when it arrives.
"""

from __future__ import annotations

from dataclasses import dataclass

from windrow.core.models import Context
from windrow.engine.in_process import runs_in_threads
from windrow.engine.window_query import WindowQuery
from windrow.patterns import KeyFarm, PaneFarm, Pattern, WinFarm, WinMapReduce, WinSeq
from windrow.patterns.workers import can_keep_panes, needs_all_rows


@dataclass(frozen=True)
class Choice:
    """A pattern and why it was chosen."""

    pattern: Pattern
    why: str


STREAM_WORKERS = 8
"""How many workers share the state of a stream, on any number of cores.

State is spread over workers, not over cores, so that a stream can continue with more or fewer
cores. In the same number of partitions, eight workers cost a batch about as much as two. Each
partition of the state costs a batch a tenth of a second.
"""


MOST_IN_PROCESS = 16
"""The most workers in one process. Each takes half a millisecond of a step, one after the other."""
CORES_FOR_ROUTING = 4
"""From as many cores on, workers of one process share keys whose rows become partials of panes.

Routing a row costs as much as reducing it. Fewer cores read and reduce rows for one worker.
"""


def choose_for_stream(query: WindowQuery, cores: int) -> Choice:
    """The pattern for a stream; its state does not depend on the number of cores."""
    if query.keys or _has_small_partials(query):
        return choose(query, STREAM_WORKERS)
    why = "no keys, and the function needs whole windows: executors without state compute them"
    return Choice(WinFarm(cores, workers="agnostic"), why)


def choose_in_process(query: WindowQuery, cores: int, is_small: bool) -> Choice:
    """The pattern for a query that threads of one process compute."""
    if cores == 1:
        return Choice(WinSeq(), "there is one core")
    if is_small:
        return Choice(WinSeq(), "there are few rows")
    if not query.keys:
        return Choice(WinSeq(), "no keys: one worker computes, others read and prepare rows")
    if not runs_in_threads(query):
        return Choice(WinSeq(), "the function is Python, which one thread at a time can run")
    if can_keep_panes(query) and cores < CORES_FOR_ROUTING:
        return Choice(WinSeq(), "to share the keys would cost few cores more than to compute")
    n = min(cores, MOST_IN_PROCESS)
    return Choice(KeyFarm(n), "there are keys, which are independent of each other")


def choose(query: WindowQuery, cores: int) -> Choice:
    """The pattern for a query on this number of cores."""
    if cores == 1:
        return Choice(WinSeq(), "there is one core")
    if query.keys:
        return Choice(KeyFarm(cores), "there are keys, which are independent of each other")
    model = query.model
    if _has_small_partials(query):
        if model.pane_length is not None and model.shares_tuples:
            why = "no keys, and windows overlap: they share the results of panes"
            return Choice(PaneFarm(cores, 1), why)
        why = "no keys, and windows share no panes: each window is split into parts"
        return Choice(WinMapReduce(cores, 1), why)
    if model.context is Context.CF:
        why = "no keys, the function needs whole windows, and each row's windows are known at once"
        return Choice(WinFarm(cores), why)
    why = "no keys, the function needs whole windows, and a windower must determine them"
    return Choice(WinFarm(cores, workers="agnostic"), why)


def _has_small_partials(query: WindowQuery) -> bool:
    """Whether windows can be computed in pieces that are smaller than their rows."""
    computation = query.computation
    if not computation.is_decomposable or computation.is_order_sensitive:
        return False
    return not needs_all_rows(query)
