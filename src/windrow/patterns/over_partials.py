"""Nodes of patterns whose tuples are reduced to partials of panes before they are routed.

Emitters reduce the tuples of time windows, and rankers those of count windows, as they rank them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from windrow.core.models import mapped
from windrow.engine.columns.control import PIECE, TIME
from windrow.engine.evaluate.pane_reduction import ReducedToPanes
from windrow.engine.stages.nodes import Collector, Emitter, Node, Workers
from windrow.engine.stages.routes import ByKey, ByPiece, ByWindow, Route
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.farm_panes import FarmPanes
from windrow.engine.windows.windower import Share
from windrow.engine.workers.agnostic import Packing
from windrow.engine.workers.chain import Chained
from windrow.engine.workers.geometry import Geometry
from windrow.engine.workers.worker import Worker
from windrow.patterns import workers
from windrow.patterns.farm import Farm
from windrow.patterns.tree import PaneFarm


class OverPartials:
    """Makes the nodes of a query of counts, sums and extremes whose windows have panes."""

    def __init__(self, query: WindowQuery, are_tasks: bool) -> None:
        self.query, self.are_tasks = query, are_tasks

    @property
    def geometry(self) -> Geometry:
        return Geometry.over_panes(self.query.model)

    def emitter(self, route: Route) -> Emitter:
        """An emitter that reduces tuples to partials of panes and sends these."""
        geometry = self.geometry
        return Emitter(ReducedToPanes(self.query, geometry.pane, geometry.origin, TIME, route))

    def send(self, route: Route, n: int) -> list[Node]:
        """Nodes that reduce tuples to partials of panes and send these.

        If tuples must be ranked, n tasks rank the tuples of some keys each. In one process there is
        one ranker, because to route a tuple costs as much as to reduce it.
        """
        if workers.is_told_by_time(self.query.model):
            return [self.emitter(route)]
        n = n if self.query.keys and self.are_tasks else 1
        first = [Emitter(ByKey(self.query.keys, n))] if n > 1 else []
        return [*first, self.rankers(n), Emitter(route, n)]

    def rankers(self, n: int) -> Workers:
        """Rankers that send a pane on once its last tuple has come."""
        geometry = Geometry.over_panes(mapped(self.query.model).panes())
        make = partial(workers.pane_ranker, self.query, geometry)
        return Workers("Ranker", make, n, prepares=True)

    def win_seq(self, share_of: Callable[[int], Share]) -> Callable[[int], Worker]:
        """A factory of workers that compute windows."""
        return partial(workers.reduced_win_seq, self.query, self.geometry, share_of)

    def windower(self, farm: Farm, packing: Packing) -> Workers:
        """One windower per instance, which sends the partials of windows on."""
        given = (self.query, self.geometry, farm.share, packing)
        return Workers("Windower", partial(workers.windower, *given), farm.n, prepares=True)

    def windowers(self, n: int, packing: Packing) -> list[Node]:
        """N windowers, each for some of the keys, and what sends them partials."""
        windower, by_key = self.windower(Farm(n), packing), ByKey(self.query.keys, n)
        if workers.is_told_by_time(self.query.model):
            return [self.emitter(by_key), windower]
        first: list[Node] = [Emitter(by_key)] if n > 1 else []
        to_own = Emitter(ByKey(self.query.keys, 1))
        return [*first, Chained((self.rankers(n), windower), (to_own,)).node()]

    def mappers(self, n: int, farm: Farm) -> list[Node]:
        """The panes are dealt to n mappers per instance, each of which computes parts of windows.

        Only for windows in time: a mapper of count windows could not tell when one is complete.
        """
        of_tuples = Geometry.of(self.query.model, TIME)
        given = (self.query, self.geometry, of_tuples, farm.share, n)
        mapper = partial(workers.pane_mapper, *given)
        emit = Emitter(ByPiece(self.query.keys, n, what="pane"))
        return [emit, Workers("MAP", mapper, farm.n * n)]

    def pane_farm(self, pattern: PaneFarm, farm: Farm) -> list[Node]:
        query, n_plq, n_wlq = self.query, pattern.plq, pattern.wlq
        windows = mapped(query.model).in_panes()
        given = (query, self.geometry, farm.outer, farm.batch, n_wlq)
        wlq = partial(workers.reduced_window_level, *given)
        panes = FarmPanes.of(mapped(query.model), farm.outer, farm.batch)
        of_tuples = Geometry.of_panes(panes, TIME)
        plq = partial(
            workers.pane_merger, query, self.geometry, of_tuples, panes, farm.share, n_plq
        )
        return [
            Emitter(ByPiece(query.keys, n_plq, what="pane")),
            Workers("PLQ", plq, farm.n * n_plq),
            Collector(n_plq),
            Emitter(ByWindow(windows, PIECE, query.keys, n_wlq, farm.batch, farm.outer)),
            Workers("WLQ", wlq, farm.n * n_wlq),
            Collector(n_wlq),
        ]
