"""Nodes of Pane_Farm: workers of panes (PLQ), then workers of windows over them (WLQ)."""

from __future__ import annotations

from functools import partial

from windrow.core.models import mapped
from windrow.engine.columns.control import PIECE
from windrow.engine.stages.nodes import Collector, Emitter, Node, Workers
from windrow.engine.stages.routes import ByKey, ByPane, ByWindow, InTurn
from windrow.engine.windows.farm_panes import FarmPanes
from windrow.engine.workers.geometry import Geometry
from windrow.patterns import workers
from windrow.patterns.farm import Farm
from windrow.patterns.setting import Setting
from windrow.patterns.tree import PaneFarm
from windrow.patterns.whole_windows import windows_of_rows


def pane_farm(at: Setting, pattern: PaneFarm, farm: Farm, fan_in: int = 1) -> list[Node]:
    """The nodes of pane farms in all instances of a farm."""
    pattern = at.spread(pattern)
    if at.skips_panes:
        return windows_of_rows(at, pattern.wlq, farm, "WLQ", fan_in)
    query, model, keys = at.query, mapped(at.model), at.query.keys
    panes = FarmPanes.of(model, farm.outer, farm.batch)
    emit_windows = ByWindow(model.in_panes(), PIECE, keys, pattern.wlq, farm.batch, farm.outer)
    over_panes = Geometry.over_panes(model, panes.span)
    wlq = partial(workers.window_level, query, over_panes, farm.outer, farm.batch, pattern.wlq)
    plq = _formed if at.forms_panes(pattern) else _kept
    return [
        *plq(at, pattern, farm, panes, fan_in),
        Collector(pattern.plq),
        Emitter(emit_windows),
        Workers("WLQ", wlq, farm.n * pattern.wlq),
        Collector(pattern.wlq),
    ]


def _kept(at: Setting, pattern: PaneFarm, farm: Farm, panes: FarmPanes, fan_in: int) -> list[Node]:
    """Workers that keep the tuples of their panes themselves."""
    of_panes = Geometry.of_panes(panes, at.position)
    plq = partial(workers.pane_level, at.query, of_panes, panes, farm.share, pattern.plq)
    is_on_demand = pattern.workers == "agnostic"
    route = ByPane(panes, at.position, at.query.keys, pattern.plq, rotates=is_on_demand)
    return [
        Emitter(route, fan_in),
        Workers("PLQ", plq, farm.n * pattern.plq),
    ]


def _formed(
    at: Setting, pattern: PaneFarm, farm: Farm, panes: FarmPanes, fan_in: int
) -> list[Node]:
    """One windower per instance, which forms panes, and workers without state that compute them."""
    of_panes = Geometry.of_panes(panes, at.position)
    given = (at.query, of_panes, panes, farm.share, at.most(pattern.plq))
    windower = Workers("Windower", partial(workers.pane_windower, *given), farm.n, prepares=True)
    plq = partial(workers.pane_executor, at.query)
    return [
        Emitter(ByKey(at.query.keys, 1), fan_in),
        windower,
        Emitter(InTurn(pattern.plq, "panes")),
        Workers("PLQ", plq, farm.n * pattern.plq, holds_state=False),
    ]
