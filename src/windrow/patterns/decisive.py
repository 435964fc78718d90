"""Nodes whose first emitter leaves out tuples of windows in time that decide no result."""

from __future__ import annotations

from dataclasses import replace

from windrow.engine.evaluate.decisive import DecisiveTuples
from windrow.engine.stages.decisive import OnlyDecisive
from windrow.engine.stages.nodes import Emitter, Node
from windrow.engine.stages.routes import ByKey
from windrow.engine.window_query import WindowQuery
from windrow.patterns import workers


def with_decisive_tuples(query: WindowQuery, nodes: list[Node]) -> list[Node]:
    """The nodes of a bounded query, whose first emitter sends the tuples that matter if few do.

    Streams count late tuples, so their emitters send all. Rankers and the workers of windows choose
    themselves, where ranks are known.
    """
    if not workers.is_told_by_time(query.model) or DecisiveTuples.of(query) is None:
        return nodes
    first = nodes[0]
    if isinstance(first, Emitter):
        return [replace(first, route=OnlyDecisive(query, first.route)), *nodes[1:]]
    return [Emitter(OnlyDecisive(query, ByKey(query.keys, 1))), *nodes]
