"""A stage list over a stream: which stages hold state, and where their packed rows go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from windrow.engine.stages.nodes import Collector, Emitter, Node, Stages, Workers
from windrow.engine.window_query import WindowQuery
from windrow.spark.bounded import width_behind
from windrow.spark.idleness import Idleness
from windrow.spark.stateful import StatefulStage
from windrow.spark.streamed import STREAMED, Hop, StatelessStage

CACHE_SETTING = "spark.windrow.keepWorkers"
"""Whether Python processes keep workers in memory between batches."""


@dataclass(frozen=True)
class StreamPlan:
    """The stages of a query over a stream."""

    stages: Stages
    identity: dict[str, Any]
    """What is computed, as data: the state of another query is refused."""
    is_timed: bool
    query: WindowQuery | None = None
    """What says in which order collectors put results; none where there is no collector."""
    idleness: Idleness | None = None

    @property
    def groups(self) -> list[tuple[Node, ...]]:
        """The emitters that take rows in, which may be none, and the groups behind them."""
        groups = list(self.stages.groups)
        while isinstance(groups[-1][0], Collector):
            groups.pop()
        if not isinstance(groups[0][0], Emitter):
            groups.insert(0, ())
        return groups

    @property
    def hops(self) -> list[Hop]:
        """Where rows go behind each group."""
        hops, width = [], 1
        for group, following in zip(self.groups, [*self.groups[1:], ()], strict=True):
            width = width_behind(group, width)
            first = following[0] if following else None
            fan_in = first.fan_in if isinstance(first, Collector) else 1
            wide = width // fan_in
            partitions = self.partitions if _holds_state(following) else wide
            hops.append(Hop(self.query, wide, partitions, fan_in))
        return hops

    @property
    def partitions(self) -> int:
        """As many as the widest stage of stateful workers has."""
        return max(group[0].n for group in self.groups if _holds_state(group))  # type: ignore[union-attr]

    def run(self, packed: DataFrame, at_start: DataFrame | None = None) -> DataFrame:
        """What the stages make of packed rows; ``at_start`` are bounded ones, to begin with."""
        groups, hops, number = self.groups, self.hops, 0
        for i, group in enumerate(groups[1:]):
            here, following = hops[i], hops[i + 1]
            if _holds_state(group):
                packed = self._stateful(packed, number, group, here, following, at_start)
                number += 1
            else:
                arrived = packed.repartition(here.width, "slot")
                packed = arrived.mapInArrow(StatelessStage(group, here, following), STREAMED)
            at_start = None
        return packed

    def _stateful(
        self,
        packed: DataFrame,
        number: int,
        group: tuple[Node, ...],
        here: Hop,
        following: Hop,
        at_start: DataFrame | None,
    ) -> DataFrame:
        keeps_workers = packed.sparkSession.conf.get(CACHE_SETTING, "true") == "true"
        stage = StatefulStage(
            self.identity,
            number,
            group,
            here,
            following,
            self.is_timed,
            self.idleness,
            keeps_workers,
        )
        return packed.groupBy("slot").transformWithStateInPandas(
            stage,
            STREAMED,
            "Append",
            "EventTime" if self.is_timed else "None",
            None if at_start is None else at_start.groupBy("slot"),
        )


def _holds_state(group: tuple[Node, ...]) -> bool:
    return bool(group) and isinstance(group[0], Workers) and group[0].make(0).holds_state
