"""Nodes of workers that compute whole windows, and of the rankers in front of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from windrow.core.models import Axis, MappedWindow, mapped
from windrow.engine.stages.nodes import Collector, Emitter, Node, Workers
from windrow.engine.stages.routes import ByKey, ByWindow, Route
from windrow.engine.windows.windower import Share
from windrow.engine.workers.geometry import Geometry
from windrow.engine.workers.ranker import Ranker
from windrow.engine.workers.worker import Worker
from windrow.patterns import workers
from windrow.patterns.farm import Farm
from windrow.patterns.setting import Setting
from windrow.patterns.workers import Alike


def win_seq(
    at: Setting, axis: str | None, share_of: Callable[[int], Share]
) -> Callable[[int], Worker]:
    """A factory of workers that are sent tuples and compute windows."""
    if at.keeps_panes:
        geometry = Geometry.over_panes(at.model)
        return partial(workers.paned_win_seq, at.query, geometry, axis, share_of)
    return partial(workers.win_seq, at.query, Geometry.of(at.model, axis), share_of)


def reduced(at: Setting, route: Route, farm: Farm) -> list[Node]:
    """The nodes whose emitters send partials of panes instead of tuples."""
    make = at.partials.win_seq(farm.share)
    return [at.partials.emitter(route), Workers("WinSeq", make, farm.n), Collector(farm.n)]


def by_window(at: Setting, model: MappedWindow, position: str, farm: Farm) -> ByWindow:
    return ByWindow(model, position, at.query.keys, farm.n, farm.batch)


def rankers(at: Setting, n: int, are_paned: bool) -> list[Node]:
    """Rankers, if ranks are needed and tuples do not come with them.

    Workers of panes cannot tell which tuples they lack, so rankers put these in order for them.
    """
    if at.model.axis is not Axis.RANK or (at.query.rank is not None and not are_paned):
        return []
    return [Workers("Ranker", Alike(Ranker, (at.query,)), n, prepares=True)]


def ranked(at: Setting, n: int, are_paned: bool) -> tuple[list[Node], int]:
    """Rankers, each of some of the keys if there are keys, and how many send to one emitter."""
    found = rankers(at, n if at.query.keys else 1, are_paned)
    if not found or not at.query.keys or n == 1:
        return found, 1
    return [Emitter(ByKey(at.query.keys, n)), *found], n


def windows_of_rows(at: Setting, n: int, farm: Farm, name: str, fan_in: int = 1) -> list[Node]:
    """Workers of whole windows, n per instance, where pieces would send all their tuples."""
    # In one process they would hold the same tuples, once each.
    n = 1 if at.in_one_process else n
    keys, model, position = at.query.keys, mapped(at.model), at.position
    geometry = Geometry.of(at.model, position)
    batch = at.in_a_row(farm.batch)
    make = partial(workers.row_reducer, at.query, geometry, farm.outer, batch, n)
    emit = Emitter(ByWindow(model, position, keys, n, batch, farm.outer), fan_in)
    return [emit, Workers(name, make, farm.n * n), Collector(n)]
