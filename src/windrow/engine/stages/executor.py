"""Runs nodes: the only place that knows what each kind of node does with messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from windrow.engine.stages.nodes import Collector, Emitter, Node
from windrow.engine.stages.traffic import Traffic, collect_traffic, emit_traffic
from windrow.engine.window_query import WindowQuery

Work: TypeAlias = Callable[[int, Traffic], Traffic]
"""Runs the workers of a node, given the node's number and their messages.

The caller decides where workers and their state live.
"""


def run_nodes(
    nodes: Iterable[Node],
    traffic: Traffic,
    order: WindowQuery | None = None,
    work: Work | None = None,
    first: int = 0,
) -> Traffic:
    """Pass messages through nodes, one after the other, and return the output of the last.

    ``order`` is the query whose results collectors sort. ``work`` runs workers. The nodes are
    numbered from ``first`` on.
    """
    for i, node in enumerate(nodes, first):
        if isinstance(node, Emitter):
            traffic = emit_traffic(node, traffic)
        elif isinstance(node, Collector):
            assert order is not None, "only window queries have collectors"
            traffic = collect_traffic(order, node, traffic)
        else:
            assert work is not None, "workers stand at the start of a stage"
            traffic = work(i, traffic)
    return traffic
