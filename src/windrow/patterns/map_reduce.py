"""Nodes of Win_MapReduce: workers of parts of windows (MAP), then workers that combine these."""

from __future__ import annotations

from functools import partial

from windrow.engine.columns.control import TIME
from windrow.engine.stages.nodes import Collector, Emitter, Node, Workers
from windrow.engine.stages.routes import ByKey, ByPart, ByPiece, Dealt, InTurn
from windrow.engine.workers.agnostic import Packing
from windrow.engine.workers.geometry import Geometry
from windrow.engine.workers.reducer import Reducer
from windrow.engine.workers.rounds import RoundMapper, RoundReducer
from windrow.patterns import workers
from windrow.patterns.agnostic import deciding, executor
from windrow.patterns.farm import Farm
from windrow.patterns.setting import BATCHES_EACH, Setting
from windrow.patterns.tree import WinMapReduce
from windrow.patterns.whole_windows import windows_of_rows
from windrow.patterns.workers import Alike


def map_reduce(at: Setting, pattern: WinMapReduce, farm: Farm, axis: str | None) -> list[Node]:
    """The nodes of map and reduce in all instances of a farm."""
    if at.sends_rows:
        return _reduce_rows(at, pattern, farm, axis)
    if not at.can_be_dealt:
        first, fan_in = deciding(at, pattern.map, farm, axis, Packing(1, 1, pattern.map))
        return [*first, *reduce_parts(at, pattern, farm, fan_in)]
    geometry = Geometry.of(at.model, TIME)
    mapper = partial(workers.mapper, at.query, geometry, farm.share, pattern.map)
    return [
        Emitter(Dealt(pattern.map)),
        Workers("MAP", mapper, farm.n * pattern.map),
        *_reduce(at, pattern, farm),
    ]


def map_reduce_over_partials(at: Setting, pattern: WinMapReduce, farm: Farm) -> list[Node]:
    """The same, of tuples that an emitter or a ranker has reduced to partials of panes."""
    if at.is_early:
        return [*at.partials.mappers(pattern.map, farm), *_reduce(at, pattern, farm)]
    windower = at.partials.windower(farm, Packing(1, 1, pattern.map))
    return [Emitter(ByKey(at.query.keys, 1)), windower, *reduce_parts(at, pattern, farm)]


def reduce_parts(at: Setting, pattern: WinMapReduce, farm: Farm, fan_in: int = 1) -> list[Node]:
    """MAP over parts of windows that windowers have decided, then REDUCE; once per round."""
    query, n_map, n_reduce = at.query, farm.n * pattern.map, farm.n * pattern.reduce
    if at.sends_rows:
        make = partial(workers.executor, query, False)
        reduce = Workers("REDUCE", make, n_reduce, holds_state=False)
        return [Emitter(InTurn(pattern.reduce), fan_in), reduce, Collector(pattern.reduce)]
    by_part = ByPart(pattern.map, query.computation.is_order_sensitive)
    if at.n_rounds == 1:
        execute = Workers("MAP", executor(at, are_parts=True), n_map, holds_state=False)
        return [Emitter(by_part, fan_in), execute, *_reduce(at, pattern, farm)]
    nodes: list[Node] = []
    for number in range(at.n_rounds):
        is_last = number == at.n_rounds - 1
        mapper = Alike(RoundMapper, (query, number, is_last))
        map_node = Workers(f"MAP {number}", mapper, n_map, holds_state=False)
        nodes += [Emitter(by_part, 1 if number else fan_in), map_node]
        if is_last:
            break
        emit = Emitter(ByPiece(query.keys, pattern.reduce, farm.outer))
        reducer = Alike(RoundReducer, (query, number))
        reduce = Workers(f"REDUCE {number}", reducer, n_reduce, holds_state=False)
        nodes += [Collector(pattern.map), emit, reduce, Collector(pattern.reduce)]
    return [*nodes, *_reduce(at, pattern, farm)]


def _reduce(at: Setting, pattern: WinMapReduce, farm: Farm) -> list[Node]:
    route = ByPiece(at.query.keys, pattern.reduce, farm.outer)
    reducer = Alike(Reducer, (at.query,))
    return [
        Collector(pattern.map),
        Emitter(route),
        Workers("REDUCE", reducer, farm.n * pattern.reduce, holds_state=False),
        Collector(pattern.reduce),
    ]


def _reduce_rows(at: Setting, pattern: WinMapReduce, farm: Farm, axis: str | None) -> list[Node]:
    """REDUCE alone: MAP would send the same tuples again, once per window."""
    if workers.is_told_by_time(at.model):
        return windows_of_rows(at, pattern.reduce, farm, "REDUCE")
    packing = Packing(1, BATCHES_EACH * pattern.reduce)
    first, fan_in = deciding(at, pattern.reduce, farm, axis, packing)
    return [*first, *reduce_parts(at, pattern, farm, fan_in)]
