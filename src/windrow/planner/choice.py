"""Choosing a pattern by rule, where none is given.

The questions are those of 001_3806c06d13ee46ae, Figure 14 (keys? decomposable? sliding?) and of
002_a2000d7e0f4e21a9, Figure 7 (can a tuple's windows be known when it arrives?).
"""

from __future__ import annotations

from dataclasses import dataclass

from windrow.core.models import Context
from windrow.engine.window_query import WindowQuery
from windrow.patterns import KeyFarm, PaneFarm, Pattern, WinFarm, WinMapReduce, WinSeq


@dataclass(frozen=True)
class Choice:
    """A pattern and why it was chosen."""

    pattern: Pattern
    why: str


STREAM_WORKERS = 8
"""How many workers share the state of a stream, on any number of cores.

State is spread over workers, not over cores, so that a stream can go on with more cores or fewer.
Eight workers cost a batch about as much as two in the same number of partitions; a partition of the
state costs it a tenth of a second.
"""


def choose_for_stream(query: WindowQuery, cores: int) -> Choice:
    """The pattern for a stream: its state is the same on any number of cores."""
    computation = query.computation
    if query.keys or (computation.is_decomposable and not computation.minds_order):
        return choose(query, STREAM_WORKERS)
    why = "no keys, a function of whole windows: executors hold no state"
    return Choice(WinFarm(cores, workers="agnostic", level=2), why)


def choose(query: WindowQuery, cores: int) -> Choice:
    """The pattern for a query on so many cores."""
    if cores == 1:
        return Choice(WinSeq(), "there is one core")
    if query.keys:
        return Choice(KeyFarm(cores), "the stream has keys: they are independent of each other")
    computation, model = query.computation, query.model
    if computation.is_decomposable and not computation.minds_order:
        if model.pane_length is not None and model.shares_tuples:
            why = "no keys, overlapping windows, a function of pieces: panes are shared"
            return Choice(PaneFarm(cores, 1, level=2), why)
        why = "no keys, windows that share little, a function of pieces: each is split"
        return Choice(WinMapReduce(cores, 1, level=2), why)
    if model.context is Context.CF:
        why = "no keys, a function of whole windows, each tuple's windows known as it arrives"
        return Choice(WinFarm(cores, level=2), why)
    why = "no keys, a function of whole windows, which only a windower can tell"
    return Choice(WinFarm(cores, workers="agnostic", level=2), why)
