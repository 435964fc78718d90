"""Lowering: a pattern tree becomes a list of stages, rewritten by its transformation levels.

The nodes of each pattern, where E is an emitter, W are workers and C is a collector:

* KeyFarm or WinFarm of WinSeq: E W C. With agnostic workers a windower comes first: W E W C.
* PaneFarm, WinMapReduce: E W C E W C. The first W compute panes or parts, the second windows.
* A farm of these adds its own E at the start and its own C at the end.

If workers see only some of a key's tuples but need their ranks, rankers come first: one, or as many
as there are workers behind them if there are keys, each for some of the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeAlias

from windrow.core.computation import Decompose
from windrow.core.models import Axis, MappedWindow, mapped
from windrow.engine.columns.control import PIECE, RANK, TIME
from windrow.engine.columns.hot_keys import HotKeys
from windrow.engine.stages.nodes import Collector, Emitter, Node, Stages, Workers
from windrow.engine.stages.routes import (
    ByHotKey,
    ByKey,
    ByPane,
    ByPart,
    ByPiece,
    ByWindow,
    Dealt,
    InTurn,
    Route,
    ToHost,
)
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.farm_panes import FarmPanes
from windrow.engine.windows.windower import Share
from windrow.engine.workers.geometry import Geometry, own_axis
from windrow.engine.workers.ranker import Ranker
from windrow.engine.workers.reducer import Reducer
from windrow.engine.workers.rounds import RoundMapper, RoundReducer
from windrow.engine.workers.worker import Worker
from windrow.patterns import workers
from windrow.patterns.decisive import with_decisive_tuples
from windrow.patterns.farm import Farm
from windrow.patterns.levels import group
from windrow.patterns.over_partials import OverPartials
from windrow.patterns.rules import check_pattern
from windrow.patterns.tree import KeyFarm, PaneFarm, Pattern, WinFarm, WinMapReduce, WinSeq
from windrow.patterns.workers import Alike

Place: TypeAlias = Literal["process", "threads", "tasks", "stream"]
"""Where workers run: in one process, in one or several threads, as tasks over bounded rows, or with
the state of a stream."""
_BATCHES_EACH = 4
"""Batches of windows per executor: dealt in turn, they spread runs of costly windows."""
TASKS_EACH = 8
"""Tasks per agnostic worker where a scheduler hands tasks to cores that are free."""


def window_stages(query: WindowQuery, pattern: Pattern, place: Place = "stream") -> Stages:
    """The stages that compute the query with this pattern.

    Workers of one process share the tuples that several of them need. In several threads, emitters
    do what they can, as any number of them may run. Of tasks over bounded rows, there are more
    executors than cores: each core takes the next one when it is free (De Matteis 2016, section 3;
    Mencagli 2018, Algorithm 4).
    """
    check_pattern(pattern, query.model, query.computation)
    nodes = _Lowering(query, place).nodes(pattern)
    if place in ("threads", "tasks"):
        nodes = with_decisive_tuples(query, nodes)
    return group(pattern, nodes)


def stages_over_panes(query: WindowQuery, n: int) -> Stages:
    """The stages that compute windows from finished panes, each key on one of n workers."""
    make = partial(workers.window_level, query, Geometry.over_panes(query.model), 1, 1, 1)
    return Stages(((Emitter(ByKey(query.keys, n)),), (Workers("WLQ", make, n),)))


def hot_keys_of(query: WindowQuery, keys: Iterable[Any]) -> HotKeys:
    """Hot keys as values of the query's key columns."""
    rows = [key if isinstance(key, tuple) else (key,) for key in keys]
    # Not every type that keys may have is one of values that can be named.
    return HotKeys.of(rows, {k: query.arrow_type(k) for k in query.keys} if rows else {})


def _widened(pattern: PaneFarm | WinMapReduce, n: int) -> Pattern:
    """The pattern with n times as many workers of windows."""
    if isinstance(pattern, PaneFarm):
        return replace(pattern, wlq=n * pattern.wlq)
    return replace(pattern, reduce=n * pattern.reduce)


class _Lowering:
    def __init__(self, query: WindowQuery, place: Place) -> None:
        self.query = query
        self.in_one_process, self.are_tasks = place in ("process", "threads"), place == "tasks"
        self.model = query.model
        self.own_axis = own_axis(query.model)
        self.partials = OverPartials(query, self.are_tasks)
        self.position = self.own_axis or RANK
        """The column from which an emitter computes a tuple's windows."""
        self.keeps_panes = workers.can_keep_panes(query)
        # In one thread nothing is sent, so it is the worker that reduces tuples to panes.
        self.is_early = self.keeps_panes and workers.is_told_by_time(query.model)
        self.reduces_early = self.is_early and place != "process"
        # On streams, rankers, windowers and the workers behind them hold tuples, as checkpoints do.
        self.deals_partials = self.keeps_panes and place != "stream"
        self.farms_partials = self.is_early or self.deals_partials
        self.needs_all_rows = workers.needs_all_rows(query)
        self.skips_panes = self.needs_all_rows and place != "stream"
        computation = query.computation
        self.n_rounds = len(computation.rounds) if isinstance(computation, Decompose) else 1
        self.can_be_dealt = workers.can_be_dealt(query)

    def nodes(self, pattern: Pattern) -> list[Node]:
        if isinstance(pattern, KeyFarm):
            if pattern.hot is not None:
                return self._hot_key_farm(pattern, pattern.hot)
            by_key = ByKey(self.query.keys, pattern.n)
            if isinstance(pattern.inner, WinSeq) and self.reduces_early:
                return self._reduced(by_key, Farm(pattern.n))
            if not isinstance(pattern.inner, WinSeq) and self.farms_partials:
                body = self._over_partials(pattern.inner, Farm(pattern.n))
                first: list[Node] = [self.partials.emitter(by_key)]
                if not self.is_early:
                    first = [Emitter(by_key), self.partials.rankers(pattern.n)]
                return [*first, *body, Collector(pattern.n)]
            inner = self._inner(pattern.inner, Farm(pattern.n))
            return [Emitter(by_key), *inner, Collector(pattern.n)]
        if isinstance(pattern, WinFarm):
            return self._win_farm(pattern)
        if isinstance(pattern, WinMapReduce) and self.deals_partials and not self.is_early:
            decided = self._deciding(pattern.map, Farm(), None, 1, 1, pattern.map)
            return [*decided[0], *self._reduce_parts(pattern, Farm(), decided[1])]
        if not isinstance(pattern, WinSeq) and self.farms_partials:
            emit, *body = self._over_partials(pattern, Farm())
            assert isinstance(emit, Emitter)
            n = pattern.plq if isinstance(pattern, PaneFarm) else 1
            return [*self.partials.send(emit.route, n), *body]
        if isinstance(pattern, PaneFarm):
            first, fan_in = self._ranked(pattern.plq, are_paned=True)
            return [*first, *self._pane_farm(pattern, Farm(), fan_in)]
        if isinstance(pattern, WinSeq) and self.reduces_early:
            return self._reduced(ByKey(self.query.keys, 1), Farm())
        return self._inner(pattern, Farm())

    def _hot_key_farm(self, pattern: KeyFarm, farm: WinFarm) -> list[Node]:
        """The nodes of a key farm that splits hot keys as the window farm does all keys."""
        n, query = pattern.n, self.query
        hot = hot_keys_of(query, pattern.hot_keys)
        if farm.workers == "agnostic":
            emit, executors = Emitter(ByKey(query.keys, n)), self._executors(farm.n)
            most = self._most(farm.n)
            given = (query, Geometry.of(self.model, self.own_axis), hot, farm.batch, most)
            make = partial(workers.hot_windower, *given)
            windower = Workers("WinSeq or Windower", make, n, prepares=True)
            execute = partial(workers.executor, query, False)
            return [emit, windower, *self._execute(executors, n, execute)]
        split = Farm(n, n, farm.batch, hot)
        if self.reduces_early:
            by_window = self._by_window(mapped(self.model).in_panes(), PIECE, split)
            return self._reduced(ByHotKey(hot, by_window), split)
        by_window = self._by_window(mapped(self.model), self.position, split)
        first, fan_in = self._ranked(n, are_paned=False)
        work = Workers("WinSeq", self._win_seq(self.position, split.share), n)
        return [*first, Emitter(ByHotKey(hot, by_window), fan_in), work, Collector(n)]

    def _reduced(self, route: Route, farm: Farm) -> list[Node]:
        """The nodes whose emitters send partials of panes instead of tuples."""
        make = self.partials.win_seq(farm.share)
        return [self.partials.emitter(route), Workers("WinSeq", make, farm.n), Collector(farm.n)]

    def _win_seq(
        self, axis: str | None, share_of: Callable[[int], Share]
    ) -> Callable[[int], Worker]:
        if self.keeps_panes:
            geometry = Geometry.over_panes(self.model)
            return partial(workers.paned_win_seq, self.query, geometry, axis, share_of)
        return partial(workers.win_seq, self.query, Geometry.of(self.model, axis), share_of)

    def _by_window(self, model: MappedWindow, position: str, farm: Farm) -> ByWindow:
        return ByWindow(model, position, self.query.keys, farm.n, farm.batch)

    def _inner(self, pattern: Pattern, farm: Farm) -> list[Node]:
        if isinstance(pattern, PaneFarm):
            return [*self._rankers(farm.n, are_paned=True), *self._pane_farm(pattern, farm)]
        if isinstance(pattern, WinMapReduce):
            return self._map_reduce(pattern, farm, self.own_axis)
        return [Workers("WinSeq", self._win_seq(self.own_axis, farm.share), farm.n)]

    def _rankers(self, n: int, are_paned: bool) -> list[Node]:
        """Rankers, if ranks are needed and tuples do not come with them.

        Workers of panes cannot tell which tuples they lack, so rankers put these in order for them.
        """
        if self.model.axis is not Axis.RANK or (self.query.rank is not None and not are_paned):
            return []
        return [Workers("Ranker", Alike(Ranker, (self.query,)), n, prepares=True)]

    def _ranked(self, n: int, are_paned: bool) -> tuple[list[Node], int]:
        """Rankers, each of some of the keys if there are keys, and how many send to one emitter."""
        rankers = self._rankers(n if self.query.keys else 1, are_paned)
        if not rankers or not self.query.keys or n == 1:
            return rankers, 1
        return [Emitter(ByKey(self.query.keys, n)), *rankers], n

    def _win_farm(self, pattern: WinFarm) -> list[Node]:
        n, inner = pattern.n, pattern.inner
        if pattern.workers == "agnostic":
            return self._agnostic(pattern)
        if self.in_one_process and isinstance(inner, PaneFarm | WinMapReduce):
            # The instances share tuples, panes and parts: they are one with n times the windows.
            return [*self.nodes(_widened(inner, n)), Collector(1)]
        farm = Farm(n, n, pattern.batch)
        by_window = self._by_window(mapped(self.model), self.position, farm)
        if self.farms_partials:
            return self._win_farm_over_partials(pattern, farm)
        if self.in_one_process and isinstance(inner, WinSeq):
            host = Workers(f"WinSeq of {n}", self._win_seq(self.position, farm.whole), 1)
            return [
                *self._rankers(1, are_paned=False),
                Emitter(ToHost(by_window)),
                host,
                Collector(1),
            ]
        if isinstance(inner, WinSeq) and self.reduces_early:
            return self._reduced(self._by_window(mapped(self.model).in_panes(), PIECE, farm), farm)
        if isinstance(inner, PaneFarm):
            body = self._pane_farm(inner, farm)
        elif isinstance(inner, WinMapReduce):
            body = self._map_reduce(inner, farm, self.position)
        else:
            body = [Workers("WinSeq", self._win_seq(self.position, farm.share), n)]
        first, fan_in = self._ranked(n, isinstance(inner, PaneFarm))
        return [*first, Emitter(by_window, fan_in), *body, Collector(n)]

    def _win_farm_over_partials(self, pattern: WinFarm, farm: Farm) -> list[Node]:
        by_window = self._by_window(mapped(self.model).in_panes(), PIECE, farm)
        if isinstance(pattern.inner, WinSeq) and self.in_one_process:
            host = Workers(f"WinSeq of {farm.n}", self.partials.win_seq(farm.whole), 1)
            return [*self.partials.send(ToHost(by_window), 1), host, Collector(1)]
        body: list[Node] = [Workers("WinSeq", self.partials.win_seq(farm.share), farm.n)]
        if not isinstance(pattern.inner, WinSeq):
            body = self._over_partials(pattern.inner, farm)
        return [*self.partials.send(by_window, farm.n), *body, Collector(farm.n)]

    def _over_partials(self, pattern: Pattern, farm: Farm) -> list[Node]:
        """The nodes of a pane farm or of map-reduce whose tuples an emitter has reduced."""
        if isinstance(pattern, WinMapReduce) and not self.is_early:
            windower = self.partials.windower(farm, 1, 1, pattern.map)
            parts = self._reduce_parts(pattern, farm)
            return [Emitter(ByKey(self.query.keys, 1)), windower, *parts]
        if isinstance(pattern, WinMapReduce):
            return [*self.partials.mappers(pattern.map, farm), *self._reduce(pattern, farm)]
        assert isinstance(pattern, PaneFarm)
        return self.partials.pane_farm(pattern, farm)

    def _windower(self, axis: str | None, farm: Farm, batch: int, most: int, parts: int) -> Node:
        """One windower per instance; it sends what fires at once in ``most`` batches at most."""
        geometry = Geometry.of(self.model, axis)
        given = (self.query, geometry, farm.share, batch, most, parts)
        return Workers("Windower", partial(workers.windower, *given), farm.n, prepares=True)

    def _agnostic(self, pattern: WinFarm) -> list[Node]:
        """Windowers, and executors of what these decide, of whole windows or of parts."""
        n, inner = pattern.n, pattern.inner
        if isinstance(inner, WinMapReduce):
            # All parts of a window are computed by one instance, in as many tasks as parts.
            n, parts = self._instances(n, inner), 1 if self.needs_all_rows else inner.map
            most = max(n, _BATCHES_EACH * pattern.n)
            first, fan_in = self._deciding(
                pattern.n, Farm(), self.own_axis, pattern.batch, most, parts
            )
            body = self._reduce_parts(inner, Farm(n))
            return [*first, Emitter(InTurn(n), fan_in), *body, Collector(n)]
        most = self._most(n)
        first, fan_in = self._deciding(n, Farm(), self.own_axis, pattern.batch, most, 1)
        execute = self._executor(are_parts=False)
        return [*first, *self._execute(self._executors(n), fan_in, execute)]

    def _deciding(
        self, n: int, farm: Farm, axis: str | None, batch: int, most: int, parts: int
    ) -> tuple[list[Node], int]:
        """Windowers, and how many of them send to one emitter.

        There is one per instance. Over bounded rows with keys, a single instance has n of them,
        each for some of the keys.
        """
        are_shared = farm.n == 1 and n > 1 and self.are_tasks and bool(self.query.keys)
        if self.deals_partials:
            n = n if are_shared else 1
            return self.partials.windowers(n, batch, most, parts), n
        if not are_shared:
            return [self._windower(axis, farm, batch, most, parts)], 1
        windower = self._windower(axis, Farm(n), batch, most, parts)
        return [Emitter(ByKey(self.query.keys, n)), windower], n

    def _instances(self, n: int, inner: WinMapReduce) -> int:
        """How many instances of map-reduce stand for n: as many tasks as without parts, about."""
        width = inner.reduce if self.needs_all_rows else inner.map
        return max(n, self._executors(n) // width)

    def _executors(self, n: int) -> int:
        """How many executors stand for n agnostic workers."""
        return n * TASKS_EACH if self.are_tasks else n

    def _most(self, n: int) -> int:
        """In how many batches, at most, what fires at once is sent to n agnostic workers."""
        return self._executors(n) if self.are_tasks else _BATCHES_EACH * n

    def _executor(self, are_parts: bool) -> Callable[[int], Worker]:
        """A factory of executors of windows, or of parts of windows, that a windower has sent."""
        make = workers.executor_over_panes if self.deals_partials else workers.executor
        return partial(make, self.query, are_parts)

    def _execute(self, n: int, windowers: int, make: Callable[[int], Worker]) -> list[Node]:
        """Executors of the windows that some windowers decide."""
        execute = Workers("Executor", make, n, holds_state=False)
        return [Emitter(InTurn(n), windowers), execute, Collector(n)]

    def _pane_farm(self, pattern: PaneFarm, farm: Farm, fan_in: int = 1) -> list[Node]:
        if self.skips_panes:
            return self._windows_of_rows(pattern.wlq, farm, "WLQ", fan_in)
        query, model, keys = self.query, mapped(self.model), self.query.keys
        panes = FarmPanes.of(model, farm.outer, farm.batch)
        emit_panes = ByPane(panes, self.position, keys, pattern.plq)
        emit_windows = ByWindow(model.in_panes(), PIECE, keys, pattern.wlq, farm.batch, farm.outer)
        of_panes = Geometry.of_panes(panes, self.position)
        over_panes = Geometry.over_panes(model, panes.span)
        plq = partial(workers.pane_level, query, of_panes, panes, farm.share, pattern.plq)
        wlq = partial(workers.window_level, query, over_panes, farm.outer, farm.batch, pattern.wlq)
        return [
            Emitter(emit_panes, fan_in),
            Workers("PLQ", plq, farm.n * pattern.plq),
            Collector(pattern.plq),
            Emitter(emit_windows),
            Workers("WLQ", wlq, farm.n * pattern.wlq),
            Collector(pattern.wlq),
        ]

    def _map_reduce(self, pattern: WinMapReduce, farm: Farm, axis: str | None) -> list[Node]:
        if self.needs_all_rows:
            return self._reduce_rows(pattern, farm, axis)
        if not self.can_be_dealt:
            first, fan_in = self._deciding(pattern.map, farm, axis, 1, 1, pattern.map)
            return [*first, *self._reduce_parts(pattern, farm, fan_in)]
        geometry = Geometry.of(self.model, TIME)
        mapper = partial(workers.mapper, self.query, geometry, farm.share, pattern.map)
        return [
            Emitter(Dealt(pattern.map)),
            Workers("MAP", mapper, farm.n * pattern.map),
            *self._reduce(pattern, farm),
        ]

    def _reduce_rows(self, pattern: WinMapReduce, farm: Farm, axis: str | None) -> list[Node]:
        """REDUCE alone: the partials of MAP would be the tuples themselves, once per window."""
        if not workers.is_told_by_time(self.model):
            most = _BATCHES_EACH * pattern.reduce
            first, fan_in = self._deciding(pattern.reduce, farm, axis, 1, most, 1)
            return [*first, *self._reduce_parts(pattern, farm, fan_in)]
        return self._windows_of_rows(pattern.reduce, farm, "REDUCE")

    def _windows_of_rows(self, n: int, farm: Farm, name: str, fan_in: int = 1) -> list[Node]:
        """Workers of whole windows, n per instance, where pieces would send all their tuples."""
        # In one process they would hold the same tuples, once each.
        n = 1 if self.in_one_process else n
        keys, model, position = self.query.keys, mapped(self.model), self.position
        geometry = Geometry.of(self.model, position)
        make = partial(workers.row_reducer, self.query, geometry, farm.outer, farm.batch, n)
        emit = Emitter(ByWindow(model, position, keys, n, farm.batch, farm.outer), fan_in)
        return [emit, Workers(name, make, farm.n * n), Collector(n)]

    def _by_part(self, pattern: WinMapReduce) -> ByPart:
        return ByPart(pattern.map, self.query.computation.is_order_sensitive)

    def _reduce_parts(self, pattern: WinMapReduce, farm: Farm, fan_in: int = 1) -> list[Node]:
        """MAP over parts of windows that windowers have decided, then REDUCE; once per round."""
        query, n_map = self.query, farm.n * pattern.map
        if self.needs_all_rows:
            make = partial(workers.executor, query, False)
            reduce = Workers("REDUCE", make, farm.n * pattern.reduce, holds_state=False)
            return [Emitter(InTurn(pattern.reduce), fan_in), reduce, Collector(pattern.reduce)]
        if self.n_rounds == 1:
            executor = Workers("MAP", self._executor(are_parts=True), n_map, holds_state=False)
            emit = Emitter(self._by_part(pattern), fan_in)
            return [emit, executor, *self._reduce(pattern, farm)]
        nodes: list[Node] = []
        for number in range(self.n_rounds):
            is_last = number == self.n_rounds - 1
            mapper = Alike(RoundMapper, (query, number, is_last))
            map_node = Workers(f"MAP {number}", mapper, n_map, holds_state=False)
            nodes += [Emitter(self._by_part(pattern), 1 if number else fan_in), map_node]
            if is_last:
                break
            emit = Emitter(ByPiece(query.keys, pattern.reduce, farm.outer))
            reducer = Alike(RoundReducer, (query, number))
            n_reduce = farm.n * pattern.reduce
            reduce = Workers(f"REDUCE {number}", reducer, n_reduce, holds_state=False)
            nodes += [Collector(pattern.map), emit, reduce, Collector(pattern.reduce)]
        return [*nodes, *self._reduce(pattern, farm)]

    def _reduce(self, pattern: WinMapReduce, farm: Farm) -> list[Node]:
        route = ByPiece(self.query.keys, pattern.reduce, farm.outer)
        reducer = Alike(Reducer, (self.query,))
        return [
            Collector(pattern.map),
            Emitter(route),
            Workers("REDUCE", reducer, farm.n * pattern.reduce, holds_state=False),
            Collector(pattern.reduce),
        ]
