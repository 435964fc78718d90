"""Lowering: a pattern tree becomes a list of stages, rewritten by its transformation levels.

The nodes of each pattern, where E is an emitter, W are workers and C is a collector:

* KeyFarm or WinFarm of WinSeq: E W C. With agnostic workers a windower comes first: W E W C.
* PaneFarm, WinMapReduce: E W C E W C. The first W compute panes or parts, the second windows.
* A farm of these adds its own E at the start and its own C at the end.
* KeyFarm that splits hot keys into panes or parts: as for those, with the workers of all other
  keys beside the first W.

If workers see only some of a key's tuples but need their ranks, rankers come first: one, or as many
as there are workers behind them if there are keys, each for some of the keys.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from windrow.engine.stages.nodes import Collector, Emitter, Node, Stages, Workers
from windrow.engine.stages.routes import ByKey
from windrow.engine.window_query import WindowQuery
from windrow.engine.workers.agnostic import Packing
from windrow.engine.workers.geometry import Geometry
from windrow.patterns import workers
from windrow.patterns.agnostic import deciding
from windrow.patterns.decisive import with_decisive_tuples
from windrow.patterns.farm import Farm
from windrow.patterns.hot_keys import beside, hot_key_farm
from windrow.patterns.levels import group
from windrow.patterns.map_reduce import map_reduce, reduce_parts
from windrow.patterns.pane_farm import pane_farm
from windrow.patterns.rules import check_pattern
from windrow.patterns.setting import Place, Setting
from windrow.patterns.tree import (
    KeyFarm,
    PaneFarm,
    Pattern,
    WinFarm,
    WinMapReduce,
    WinSeq,
    splits_windows,
)
from windrow.patterns.whole_windows import ranked, rankers, reduced, win_seq
from windrow.patterns.win_farm import active_farm, agnostic_farm, inner_over_partials


def window_stages(query: WindowQuery, pattern: Pattern, place: Place = "stream") -> Stages:
    """The stages that compute the query with this pattern.

    Workers of one process share the tuples that several of them need. In several threads, emitters
    do what they can, as any number of them may run. Of tasks over bounded rows, there are more
    executors than cores: each core takes the next one when it is free (De Matteis 2016, section 3;
    Mencagli 2018, Algorithm 4).
    """
    check_pattern(pattern, query.model, query.computation)
    nodes = nodes_of(Setting(query, place), pattern)
    if place in ("threads", "tasks"):
        nodes = with_decisive_tuples(query, nodes)
    return group(pattern, nodes)


def stages_over_panes(query: WindowQuery, n: int) -> Stages:
    """The stages that compute windows from finished panes, each key on one of n workers."""
    make = partial(workers.window_level, query, Geometry.over_panes(query.model), 1, 1, 1)
    return Stages(((Emitter(ByKey(query.keys, n)),), (Workers("WLQ", make, n),)))


def nodes_of(at: Setting, pattern: Pattern) -> list[Node]:
    """The nodes of a pattern at level 0."""
    if isinstance(pattern, KeyFarm):
        return _key_farm(at, pattern)
    if isinstance(pattern, WinFarm):
        return _win_farm(at, pattern)
    if isinstance(pattern, WinMapReduce) and at.deals_partials and not at.is_early:
        first, fan_in = deciding(at, pattern.map, Farm(), None, Packing(1, 1, pattern.map))
        return [*first, *reduce_parts(at, pattern, Farm(), fan_in)]
    if not isinstance(pattern, WinSeq) and at.sends_partials(pattern):
        emit, *body = inner_over_partials(at, pattern, Farm())
        assert isinstance(emit, Emitter)
        n = pattern.plq if isinstance(pattern, PaneFarm) else 1
        return [*at.partials.send(emit.route, n), *body]
    if isinstance(pattern, PaneFarm):
        n = 1 if at.forms_panes(pattern) else pattern.plq
        first, fan_in = ranked(at, n, are_paned=True)
        return [*first, *pane_farm(at, pattern, Farm(), fan_in)]
    if isinstance(pattern, WinSeq) and at.reduces_early:
        return reduced(at, ByKey(at.query.keys, 1), Farm())
    return _inner(at, pattern, Farm())


def _key_farm(at: Setting, pattern: KeyFarm) -> list[Node]:
    if pattern.hot is not None and splits_windows(pattern.hot):
        return hot_key_farm(at, pattern, pattern.hot)
    if pattern.hot is not None:
        return beside(at, pattern, nodes_of(at, pattern.hot))
    by_key, farm = ByKey(at.query.keys, pattern.n), Farm(pattern.n)
    if isinstance(pattern.inner, WinSeq) and at.reduces_early:
        return reduced(at, by_key, farm)
    if not isinstance(pattern.inner, WinSeq) and at.sends_partials(pattern.inner):
        body = inner_over_partials(at, pattern.inner, farm)
        first: list[Node] = [at.partials.emitter(by_key)]
        if not at.is_early:
            first = [Emitter(by_key), at.partials.rankers(pattern.n)]
        return [*first, *body, Collector(pattern.n)]
    return [Emitter(by_key), *_inner(at, pattern.inner, farm), Collector(pattern.n)]


def _win_farm(at: Setting, pattern: WinFarm) -> list[Node]:
    if pattern.workers == "agnostic":
        return agnostic_farm(at, pattern)
    if at.in_one_process and isinstance(pattern.inner, PaneFarm | WinMapReduce):
        # The instances share tuples, panes and parts: they are one with n times the windows.
        return [*nodes_of(at, _widened(pattern.inner, pattern.n)), Collector(1)]
    return active_farm(at, pattern)


def _widened(pattern: PaneFarm | WinMapReduce, n: int) -> Pattern:
    """The pattern with n times as many workers of windows."""
    if isinstance(pattern, PaneFarm):
        return replace(pattern, wlq=n * pattern.wlq)
    return replace(pattern, reduce=n * pattern.reduce)


def _inner(at: Setting, pattern: Pattern, farm: Farm) -> list[Node]:
    if isinstance(pattern, PaneFarm):
        return [*rankers(at, farm.n, are_paned=True), *pane_farm(at, pattern, farm)]
    if isinstance(pattern, WinMapReduce):
        return map_reduce(at, pattern, farm, at.own_axis)
    return [Workers("WinSeq", win_seq(at, at.own_axis, farm.share), farm.n)]
