"""Nodes of a key farm that splits hot keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from windrow.core.models import mapped
from windrow.engine.columns.control import PIECE
from windrow.engine.columns.hot_keys import HotKeys
from windrow.engine.evaluate.pane_reduction import ReducedToPanes
from windrow.engine.stages.beside import Beside, PastResults
from windrow.engine.stages.nodes import Collector, Emitter, Node, Workers
from windrow.engine.stages.routes import ByHotKey, ByKey
from windrow.engine.window_query import WindowQuery
from windrow.engine.workers.agnostic import Packing
from windrow.engine.workers.geometry import Geometry
from windrow.engine.workers.past_results import FirstThenOthers, LettingResultsPass
from windrow.patterns import workers
from windrow.patterns.agnostic import execute
from windrow.patterns.farm import Farm
from windrow.patterns.setting import Setting
from windrow.patterns.tree import KeyFarm, WinFarm
from windrow.patterns.whole_windows import by_window, ranked, reduced, win_seq


def hot_keys_of(query: WindowQuery, keys: Iterable[Any]) -> HotKeys:
    """Hot keys as values of the query's key columns."""
    rows = [key if isinstance(key, tuple) else (key,) for key in keys]
    # Not every type that keys may have is one of values that can be named.
    return HotKeys.of(rows, {k: query.arrow_type(k) for k in query.keys} if rows else {})


def beside(at: Setting, pattern: KeyFarm, nodes: list[Node]) -> list[Node]:
    """The nodes of the pattern of hot keys, and beside its first workers those of all other keys.

    Whatever the other workers compute passes by the workers that follow.
    """
    n, keys, share_of = pattern.n, at.query.keys, Farm().share
    if not isinstance(nodes[0], Emitter):
        nodes = [Emitter(ByKey(keys, 1)), *nodes]
    emit, first, after, *rest = nodes
    assert isinstance(emit, Emitter) and isinstance(first, Workers)
    assert not isinstance(after, Workers)
    hot, by_key, route = hot_keys_of(at.query, pattern.hot_keys), ByKey(keys, n), emit.route
    if isinstance(route, ReducedToPanes):
        others = at.partials.win_seq(share_of)
        route = replace(route, then=Beside(hot, route.then, by_key))
    else:
        others = win_seq(at, at.own_axis, share_of)
        route = Beside(hot, route, by_key)
    make = FirstThenOthers(first.n, first.make, others)
    both = Workers(f"{first.name} or WinSeq", make, first.n + n, first.prepares)
    behind = [replace(after, fan_in=after.fan_in + n), *rest]
    return [Emitter(route), both, *map(_past_results, behind)]


def _past_results(node: Node) -> Node:
    """The node behind workers that have computed the results of some keys."""
    if isinstance(node, Workers):
        return replace(node, make=LettingResultsPass(node.make))
    return replace(node, route=PastResults(node.route)) if isinstance(node, Emitter) else node


def hot_key_farm(at: Setting, pattern: KeyFarm, farm: WinFarm) -> list[Node]:
    """The nodes of a key farm that splits hot keys as the window farm does all keys."""
    n, query = pattern.n, at.query
    hot = hot_keys_of(query, pattern.hot_keys)
    if farm.workers == "agnostic":
        geometry = Geometry.of(at.model, at.own_axis)
        given = (query, geometry, hot, Packing(farm.batch, at.most(farm.n)))
        make = partial(workers.hot_windower, *given)
        windower = Workers("WinSeq or Windower", make, n, prepares=True)
        executor = partial(workers.executor, query, False)
        executors = execute(at.executors(farm.n), n, executor)
        return [Emitter(ByKey(query.keys, n)), windower, *executors]
    split = Farm(n, n, at.in_a_row(farm.batch), hot)
    if at.reduces_early:
        route = by_window(at, mapped(at.model).in_panes(), PIECE, split)
        return reduced(at, ByHotKey(hot, route), split)
    route = by_window(at, mapped(at.model), at.position, split)
    first, fan_in = ranked(at, n, are_paned=False)
    work = Workers("WinSeq", win_seq(at, at.position, split.share), n)
    return [*first, Emitter(ByHotKey(hot, route), fan_in), work, Collector(n)]
