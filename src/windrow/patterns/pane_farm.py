"""Nodes of Pane_Farm: workers of panes (PLQ), then workers of windows over them (WLQ)."""

from __future__ import annotations

from functools import partial

from windrow.core.models import mapped
from windrow.engine.columns.control import PIECE
from windrow.engine.stages.nodes import Collector, Emitter, Node, Workers
from windrow.engine.stages.routes import ByPane, ByWindow
from windrow.engine.windows.farm_panes import FarmPanes
from windrow.engine.workers.geometry import Geometry
from windrow.patterns import workers
from windrow.patterns.farm import Farm
from windrow.patterns.setting import Setting
from windrow.patterns.tree import PaneFarm
from windrow.patterns.whole_windows import windows_of_rows


def pane_farm(at: Setting, pattern: PaneFarm, farm: Farm, fan_in: int = 1) -> list[Node]:
    """The nodes of pane farms in all instances of a farm."""
    if at.skips_panes:
        return windows_of_rows(at, pattern.wlq, farm, "WLQ", fan_in)
    query, model, keys = at.query, mapped(at.model), at.query.keys
    panes = FarmPanes.of(model, farm.outer, farm.batch)
    emit_panes = ByPane(panes, at.position, keys, pattern.plq)
    emit_windows = ByWindow(model.in_panes(), PIECE, keys, pattern.wlq, farm.batch, farm.outer)
    of_panes = Geometry.of_panes(panes, at.position)
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
