"""Lowering a join to stages."""

from __future__ import annotations

from functools import partial
from typing import Literal

from windrow.engine.joins.cell import Cell
from windrow.engine.joins.centralised import Matcher, Owner, Scatter
from windrow.engine.joins.grid import Grid, ToCells
from windrow.engine.joins.handshake import Handshake
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.joins.matches import ByTuple, Ledger, Matches
from windrow.engine.joins.sequencer import Sequencer
from windrow.engine.stages.nodes import Emitter, Node, Stages, Workers
from windrow.engine.workers.worker import Worker
from windrow.patterns.workers import Alike

Strategy = Literal["grid", "centralised", "handshake"]


def join_stages(query: JoinQuery, grid: Grid, strategy: Strategy = "grid") -> Stages:
    """The stages of a join.

    Joins by count start with a sequencer. If several cells have copies of a tuple and it matters
    whether the tuple has matched, a last stage collects what the cells know. The baselines have as
    many matchers, or segments, as the grid has cells.
    """
    n = grid.n
    first: list[Node] = (
        [Workers("Sequencer", Alike(Sequencer, (query,)), 1)] if query.by_count else []
    )
    keeps = [query.keeps(side) for side in (0, 1)]
    if strategy == "handshake":
        work = Workers(f"Handshake of {n}", Alike(Handshake, (query, n)), 1)
        return _grouped([*first, work])
    if strategy == "centralised":
        nodes = [
            *first,
            Workers("Owner", Alike(Owner, (query,)), 1),
            Emitter(Scatter(n)),
            Workers("Matcher", Alike(Matcher, (query,)), n, holds_state=False),
        ]
        if any(keeps):
            nodes += [Emitter(ByTuple(n), fan_in=n), Workers("Ledger", Alike(Ledger, (query,)), n)]
        return _grouped(nodes)
    nodes = [*first, Emitter(ToCells(query, grid)), Workers("Cell", partial(_cell, query, grid), n)]
    is_shared = grid.seat(0).is_shared
    if any(k and s for k, s in zip(keeps, is_shared, strict=True)):
        matches = Workers("Matches", Alike(Matches, (query,)), n, holds_state=False)
        nodes += [Emitter(ByTuple(n), fan_in=n), matches]
    return _grouped(nodes)


def _grouped(nodes: list[Node]) -> Stages:
    """The nodes as stages: an emitter joins the stage of the workers before it."""
    groups: list[tuple[Node, ...]] = []
    for node in nodes:
        if isinstance(node, Emitter) and groups:
            groups[-1] = (*groups[-1], node)
        else:
            groups.append((node,))
    return Stages(tuple(groups))


def _cell(query: JoinQuery, grid: Grid, index: int) -> Worker:
    return Cell(query, grid.seat(index))
