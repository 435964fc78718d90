"""Lowering: a pattern tree becomes a stage list, rewritten by its transformation levels.

The nodes of each pattern, E an emitter, W workers, C a collector:

* KeyFarm, WinFarm of WinSeq: E W C; agnostic workers have the windower before: W E W C.
* PaneFarm, WinMapReduce: E W C E W C, the first W panes or parts, the second windows.
* A farm of these has its own E before and its own C behind.

Where workers see only some of a key's tuples but need their ranks, a ranker comes first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windrow.core.computation import Decompose
from windrow.core.models import CountWindow
from windrow.engine.stages.nodes import Collector, Emitter, Node, Stages, Workers
from windrow.engine.stages.routes import (
    ByKey,
    ByPart,
    ByPiece,
    ByWindow,
    Dealt,
    InTurn,
    Route,
    ToHost,
)
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.windower import Share
from windrow.patterns import workers as making
from windrow.patterns.levels import group
from windrow.patterns.rules import check_pattern
from windrow.patterns.tree import KeyFarm, PaneFarm, Pattern, WinFarm, WinMapReduce, WinSeq
from windrow.patterns.workers import Interval


def window_stages(query: WindowQuery, pattern: Pattern, in_one_process: bool = False) -> Stages:
    """The stage list that computes the query with this pattern.

    Workers that all live in one process share the tuples that several of them need.
    """
    check_pattern(pattern, query.model, query.computation)
    return group(pattern, _Lowering(query, in_one_process).nodes(pattern))


@dataclass(frozen=True)
class _Farm:
    """What surrounds an inner pattern: ``n`` instances, of which each computes a share of windows.

    A key farm's instances compute all windows of their keys, so its share is whole.
    """

    n: int = 1
    outer: int = 1
    batch: int = 1

    def share(self, instance: int) -> Share:
        return Share.of(instance % self.outer, self.outer, self.batch)

    def whole(self, instance: int) -> Share:
        """The share of a process that hosts all instances."""
        return Share(np.ones(self.outer, np.bool_), self.batch)


class _Lowering:
    def __init__(self, query: WindowQuery, in_one_process: bool) -> None:
        self.query, self.in_one_process = query, in_one_process
        self.position = making.position(query)
        # In one process tuples are not sent anywhere: the worker reduces them.
        self.reduces_early = not in_one_process and making.can_reduce_early(query)
        computation = query.computation
        self.n_rounds = len(computation.rounds) if isinstance(computation, Decompose) else 1

    def nodes(self, pattern: Pattern) -> list[Node]:
        if isinstance(pattern, KeyFarm):
            by_key = ByKey(self.query.keys, pattern.n)
            if isinstance(pattern.inner, WinSeq) and self.reduces_early:
                return self._reduced(by_key, _Farm(pattern.n))
            inner = self._inner(pattern.inner, _Farm(pattern.n))
            return [Emitter(by_key), *inner, Collector(pattern.n)]
        if isinstance(pattern, WinFarm):
            return self._win_farm(pattern)
        if isinstance(pattern, WinSeq) and self.reduces_early:
            return self._reduced(ByKey(self.query.keys, 1), _Farm())
        return self._inner(pattern, _Farm())

    def _reduced(self, route: Route, farm: _Farm) -> list[Node]:
        """Emitters that send partials of panes in place of tuples."""
        emit = Emitter(making.reduced_to_panes(self.query, route))
        make = making.reduced_win_seq(self.query, farm.share)
        return [emit, Workers("WinSeq", make, farm.n), Collector(farm.n)]

    def _inner(self, pattern: Pattern, farm: _Farm) -> list[Node]:
        if isinstance(pattern, PaneFarm):
            return [*self._rankers(farm.n), *self._pane_farm(pattern, farm)]
        if isinstance(pattern, WinMapReduce):
            return self._map_reduce(pattern, farm, making.own_axis(self.query))
        make = making.win_seq(self.query, making.own_axis(self.query), farm.share)
        return [Workers("WinSeq", make, farm.n)]

    def _rankers(self, n: int) -> list[Node]:
        if not isinstance(self.query.model, CountWindow):
            return []
        return [Workers("Ranker", making.ranker(self.query), n)]

    def _win_farm(self, pattern: WinFarm) -> list[Node]:
        query, n = self.query, pattern.n
        inner = pattern.inner
        is_agnostic = pattern.workers == "agnostic" and not isinstance(inner, PaneFarm)
        if is_agnostic:
            return [*self._agnostic(pattern), Collector(n)]
        farm = _Farm(n, n, pattern.batch)
        assert isinstance(query.model, Interval)
        by_window = ByWindow(query.model, self.position, query.keys, n, pattern.batch)
        if self.in_one_process and isinstance(inner, WinSeq):
            host = making.win_seq(query, self.position, farm.whole)
            emit = Emitter(ToHost(by_window))
            return [*self._rankers(1), emit, Workers(f"WinSeq of {n}", host, 1), Collector(1)]
        if isinstance(inner, WinSeq) and self.reduces_early:
            windows = making.windows_of_panes(query.model)
            position, batch = windows.position, pattern.batch
            return self._reduced(ByWindow(windows.model, position, query.keys, n, batch), farm)
        emit = Emitter(by_window)
        if isinstance(inner, PaneFarm):
            body = self._pane_farm(inner, farm)
        elif isinstance(inner, WinMapReduce):
            body = self._map_reduce(inner, farm, self.position)
        else:
            body = [Workers("WinSeq", making.win_seq(query, self.position, farm.share), n)]
        return [*self._rankers(1), emit, *body, Collector(n)]

    def _agnostic(self, pattern: WinFarm) -> list[Node]:
        query, n, inner = self.query, pattern.n, pattern.inner
        parts = inner.map if isinstance(inner, WinMapReduce) else 1
        axis = making.own_axis(query)
        make = making.windower(query, axis, _Farm().share, pattern.batch, n, parts)
        emit = Emitter(InTurn(n))
        if isinstance(inner, WinMapReduce):
            return [Workers("Windower", make, 1), emit, *self._reduce_parts(inner, _Farm(n))]
        executor = Workers("Executor", making.executor(query, False), n)
        return [Workers("Windower", make, 1), emit, executor]

    def _pane_farm(self, pattern: PaneFarm, farm: _Farm) -> list[Node]:
        query, keys = self.query, self.query.keys
        panes, windows = making.panes(query.model), making.windows_of_panes(query.model)
        emit_panes = ByWindow(panes, self.position, keys, pattern.plq)
        emit_windows = ByWindow(
            windows.model, windows.position, keys, pattern.wlq, farm.batch, farm.outer
        )
        plq = making.pane_level(query, self.position, farm.share, pattern.plq)
        wlq = making.window_level(query, windows, farm.outer, farm.batch, pattern.wlq)
        return [
            Emitter(emit_panes),
            Workers("PLQ", plq, farm.n * pattern.plq),
            Collector(pattern.plq),
            Emitter(emit_windows),
            Workers("WLQ", wlq, farm.n * pattern.wlq),
            Collector(pattern.wlq),
        ]

    def _map_reduce(self, pattern: WinMapReduce, farm: _Farm, axis: str | None) -> list[Node]:
        query = self.query
        if not making.is_timed_interval(query.model) or self.n_rounds > 1:
            make = making.windower(query, axis, farm.share, 1, 1, pattern.map)
            return [Workers("Windower", make, farm.n), *self._reduce_parts(pattern, farm)]
        mapper = making.mapper(query, farm.share, pattern.map)
        return [
            Emitter(Dealt(pattern.map)),
            Workers("MAP", mapper, farm.n * pattern.map),
            *self._reduce(pattern, farm),
        ]

    def _reduce_parts(self, pattern: WinMapReduce, farm: _Farm) -> list[Node]:
        """MAP on parts of windows that a windower has decided, then REDUCE; in rounds."""
        query, n_map = self.query, farm.n * pattern.map
        if self.n_rounds == 1:
            executor = Workers("MAP", making.executor(query, True), n_map)
            return [Emitter(ByPart(pattern.map)), executor, *self._reduce(pattern, farm)]
        nodes: list[Node] = []
        for number in range(self.n_rounds):
            is_last = number == self.n_rounds - 1
            mapper = making.round_mapper(query, number, is_last)
            nodes += [Emitter(ByPart(pattern.map)), Workers(f"MAP {number}", mapper, n_map)]
            if is_last:
                break
            emit = Emitter(ByPiece(query.keys, pattern.reduce, farm.outer))
            reducer = making.round_reducer(query, number)
            reduce = Workers(f"REDUCE {number}", reducer, farm.n * pattern.reduce)
            nodes += [Collector(pattern.map), emit, reduce, Collector(pattern.reduce)]
        return [*nodes, *self._reduce(pattern, farm)]

    def _reduce(self, pattern: WinMapReduce, farm: _Farm) -> list[Node]:
        route = ByPiece(self.query.keys, pattern.reduce, farm.outer)
        reducer = making.reducer(self.query)
        return [
            Collector(pattern.map),
            Emitter(route),
            Workers("REDUCE", reducer, farm.n * pattern.reduce),
            Collector(pattern.reduce),
        ]
