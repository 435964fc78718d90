"""Nodes of a key farm that splits hot keys."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from windrow.core.models import mapped
from windrow.engine.columns.control import PIECE
from windrow.engine.columns.hot_keys import HotKeys
from windrow.engine.stages.nodes import Collector, Emitter, Node, Workers
from windrow.engine.stages.routes import ByHotKey, ByKey
from windrow.engine.window_query import WindowQuery
from windrow.engine.workers.geometry import Geometry
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


def hot_key_farm(at: Setting, pattern: KeyFarm, farm: WinFarm) -> list[Node]:
    """The nodes of a key farm that splits hot keys as the window farm does all keys."""
    n, query = pattern.n, at.query
    hot = hot_keys_of(query, pattern.hot_keys)
    if farm.workers == "agnostic":
        geometry = Geometry.of(at.model, at.own_axis)
        given = (query, geometry, hot, farm.batch, at.most(farm.n))
        make = partial(workers.hot_windower, *given)
        windower = Workers("WinSeq or Windower", make, n, prepares=True)
        executor = partial(workers.executor, query, False)
        executors = execute(at.executors(farm.n), n, executor)
        return [Emitter(ByKey(query.keys, n)), windower, *executors]
    split = Farm(n, n, farm.batch, hot)
    if at.reduces_early:
        route = by_window(at, mapped(at.model).in_panes(), PIECE, split)
        return reduced(at, ByHotKey(hot, route), split)
    route = by_window(at, mapped(at.model), at.position, split)
    first, fan_in = ranked(at, n, are_paned=False)
    work = Workers("WinSeq", win_seq(at, at.position, split.share), n)
    return [*first, Emitter(ByHotKey(hot, route), fan_in), work, Collector(n)]
