"""Nodes of Win_Farm, with active or with agnostic workers."""

from __future__ import annotations

from windrow.core.models import mapped
from windrow.engine.columns.control import PIECE
from windrow.engine.stages.nodes import Collector, Emitter, Node, Workers
from windrow.engine.stages.routes import InTurn, ToHost
from windrow.engine.workers.agnostic import Packing
from windrow.patterns.agnostic import deciding, execute, executor
from windrow.patterns.farm import Farm
from windrow.patterns.map_reduce import map_reduce, map_reduce_over_partials, reduce_parts
from windrow.patterns.pane_farm import pane_farm
from windrow.patterns.setting import BATCHES_EACH, Setting
from windrow.patterns.tree import PaneFarm, Pattern, WinFarm, WinMapReduce, WinSeq
from windrow.patterns.whole_windows import by_window, ranked, rankers, reduced, win_seq


def active_farm(at: Setting, pattern: WinFarm) -> list[Node]:
    """Workers, or inner patterns, that keep the tuples of their windows themselves."""
    n, inner = pattern.n, pattern.inner
    farm = Farm(n, n, at.in_a_row(pattern.batch))
    if at.sends_partials(inner):
        return _over_partials(at, pattern, farm)
    route = by_window(at, mapped(at.model), at.position, farm)
    if at.in_one_process and isinstance(inner, WinSeq):
        host = Workers(f"WinSeq of {n}", win_seq(at, at.position, farm.whole), 1)
        return [*rankers(at, 1, are_paned=False), Emitter(ToHost(route)), host, Collector(1)]
    if isinstance(inner, WinSeq) and at.reduces_early:
        return reduced(at, by_window(at, mapped(at.model).in_panes(), PIECE, farm), farm)
    if isinstance(inner, PaneFarm):
        body = pane_farm(at, inner, farm)
    elif isinstance(inner, WinMapReduce):
        body = map_reduce(at, inner, farm, at.position)
    else:
        body = [Workers("WinSeq", win_seq(at, at.position, farm.share), n)]
    first, fan_in = ranked(at, n, isinstance(inner, PaneFarm))
    return [*first, Emitter(route, fan_in), *body, Collector(n)]


def _over_partials(at: Setting, pattern: WinFarm, farm: Farm) -> list[Node]:
    route = by_window(at, mapped(at.model).in_panes(), PIECE, farm)
    if isinstance(pattern.inner, WinSeq) and at.in_one_process:
        host = Workers(f"WinSeq of {farm.n}", at.partials.win_seq(farm.whole), 1)
        return [*at.partials.send(ToHost(route), 1), host, Collector(1)]
    body: list[Node] = [Workers("WinSeq", at.partials.win_seq(farm.share), farm.n)]
    if not isinstance(pattern.inner, WinSeq):
        body = inner_over_partials(at, pattern.inner, farm)
    return [*at.partials.send(route, farm.n), *body, Collector(farm.n)]


def inner_over_partials(at: Setting, pattern: Pattern, farm: Farm) -> list[Node]:
    """The nodes of a pane farm or of map-reduce whose tuples an emitter has reduced."""
    if isinstance(pattern, WinMapReduce):
        return map_reduce_over_partials(at, pattern, farm)
    assert isinstance(pattern, PaneFarm)
    return at.partials.pane_farm(at.spread(pattern), farm)


def agnostic_farm(at: Setting, pattern: WinFarm) -> list[Node]:
    """Windowers, and executors of what these decide, of whole windows or of parts."""
    n, inner = pattern.n, pattern.inner
    if isinstance(inner, WinMapReduce):
        # All parts of a window are computed by one instance, in as many tasks as parts.
        width = inner.reduce if at.sends_rows else inner.map
        instances = max(n, at.executors(n) // width)
        parts = 1 if at.sends_rows else inner.map
        packing = Packing(pattern.batch, max(instances, BATCHES_EACH * n), parts)
        first, fan_in = deciding(at, n, Farm(), at.own_axis, packing)
        body = reduce_parts(at, inner, Farm(instances))
        return [*first, Emitter(InTurn(instances), fan_in), *body, Collector(instances)]
    packing = Packing(pattern.batch, at.most(n))
    first, fan_in = deciding(at, n, Farm(), at.own_axis, packing)
    return [*first, *execute(at.executors(n), fan_in, executor(at, are_parts=False))]
